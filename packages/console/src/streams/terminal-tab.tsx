import "@xterm/xterm/css/xterm.css";
import type { App, ExecSession } from "@binnacle/client";
import { Alert, Button, Group, Select, Stack, Text, TextInput } from "@mantine/core";
import { FitAddon } from "@xterm/addon-fit";
import { Terminal } from "@xterm/xterm";
import { useEffect, useId, useRef, useState } from "react";
import { failureView } from "../api/failure.ts";
import { client } from "../api/session.adapter.ts";
import { EmptyState } from "../components/page.tsx";
import { usePageSearch } from "../components/use-search.tsx";
import { useMay } from "../frame/org.tsx";

interface Target {
  readonly component: string;
  readonly pod: string | null;
  readonly command: string;
}

/** A shell in a container of the app. It begins when somebody asks for it, because every session is on record. */
export function TerminalTab(props: {
  readonly app: App;
  readonly component?: string | undefined;
  readonly pod?: string | undefined;
}) {
  const { app, component } = props;
  const may = useMay();
  const [search, choose] = usePageSearch();
  const [target, setTarget] = useState<Target | null>(null);
  const [command, setCommand] = useState("/bin/sh");
  const disconnect = useRef<HTMLButtonElement>(null);
  const names = app.components.map(({ name }) => name);
  const chosen = component ?? search["component"] ?? names[0];
  const pod = props.pod ?? search["pod"] ?? null;
  const pods = app.components_status.find(({ name }) => name === chosen)?.pods ?? [];
  if (!may("execComponent", { clusterId: app.cluster_id, projectId: app.project_id })) {
    return <EmptyState title="Editors only">A terminal needs the role editor in the project.</EmptyState>;
  }
  if (chosen === undefined) return <Text c="dimmed">The app has no components.</Text>;
  return (
    <Stack>
      <Group align="flex-end" gap="xs">
        <Select
          label="Component"
          data={names}
          value={chosen}
          allowDeselect={false}
          disabled={target !== null}
          onChange={(value) => choose({ component: value ?? undefined, pod: undefined })}
        />
        <Select
          label="Pod"
          placeholder="Any running pod"
          data={pods.map(({ name }) => name)}
          value={pod}
          disabled={target !== null}
          clearable
          onChange={(value) => choose({ pod: value ?? undefined })}
        />
        <TextInput
          label="Command"
          value={command}
          disabled={target !== null}
          onChange={(event) => setCommand(event.currentTarget.value)}
          styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
        />
        {target === null ? (
          <Button disabled={command.trim() === ""} onClick={() => setTarget({ component: chosen, pod, command })}>
            Connect
          </Button>
        ) : (
          <Button ref={disconnect} variant="default" onClick={() => setTarget(null)}>
            Disconnect
          </Button>
        )}
      </Group>
      <Text size="xs" c="dimmed">
        Who opened a terminal, where and when is in the audit log. What is typed is not recorded.
      </Text>
      {target ? <Shell app={app} target={target} onLeave={() => disconnect.current?.focus()} /> : null}
    </Stack>
  );
}

/** The shell needs Tab and Escape itself, so another key leaves it; without one it would trap people who use no mouse. */
const isLeaveKey = ({ key, shiftKey }: KeyboardEvent): boolean => key === "F6" && shiftKey;

function Shell(props: { readonly app: App; readonly target: Target; readonly onLeave: () => void }) {
  const { app, target } = props;
  const place = useRef<HTMLDivElement>(null);
  const hint = useId();
  const onLeave = useRef(props.onLeave);
  onLeave.current = props.onLeave;
  const [ending, setEnding] = useState<string | null>(null);
  const { namespace, name, project_id } = app;

  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const leaving = new AbortController();
    const terminal = new Terminal({ fontSize: 13, cursorBlink: true, scrollback: 5_000, allowProposedApi: false });
    const fit = new FitAddon();
    terminal.loadAddon(fit);
    terminal.open(element);
    terminal.textarea?.setAttribute("aria-describedby", hint);
    terminal.attachCustomKeyEventHandler((event) => {
      if (!isLeaveKey(event)) return true;
      event.preventDefault();
      if (event.type === "keydown") onLeave.current();
      return false;
    });
    fit.fit();
    terminal.focus();
    let session: ExecSession | null = null;
    const resized = new ResizeObserver(() => fit.fit());
    resized.observe(element);
    terminal.onData((data) => void session?.write(data));
    terminal.onResize((size) => session?.resize(size));

    async function run(): Promise<void> {
      const { cols, rows } = terminal;
      const input = {
        namespace,
        name,
        project_id,
        component: target.component,
        ...(target.pod ? { pod: target.pod } : {}),
        command: target.command.trim().split(/\s+/),
        tty: true,
        cols,
        rows,
      };
      session = await client.exec(input, { signal: leaving.signal, onOutput: (_, data) => terminal.write(data) });
      const code = await session.exited;
      setEnding(`The command has ended with code ${code}.`);
    }
    run().catch((error: unknown) => {
      if (!leaving.signal.aborted) setEnding(failureView(error).detail);
    });
    return () => {
      leaving.abort();
      resized.disconnect();
      terminal.dispose();
    };
  }, [namespace, name, project_id, target, hint]);

  return (
    <>
      {ending ? <Alert role="status">{ending}</Alert> : null}
      <Text id={hint} size="xs" c="dimmed">
        Keys go to the shell, Tab and Escape too. Shift+F6 leaves it for Disconnect.
      </Text>
      {/* The terminal takes the whole height of its place, so the space around it is another element's. */}
      <div style={{ height: "max(320px, calc(100dvh - 400px))", background: "#000", padding: 8, borderRadius: 8 }}>
        <div ref={place} style={{ height: "100%" }} />
      </div>
    </>
  );
}
