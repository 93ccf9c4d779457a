import "@xterm/xterm/css/xterm.css";
import type { App, ExecSession } from "@binnacle/client";
import { Alert, Button, Group, Select, Stack, Text, TextInput } from "@mantine/core";
import { FitAddon } from "@xterm/addon-fit";
import { Terminal } from "@xterm/xterm";
import { useEffect, useRef, useState } from "react";
import { failureView } from "../api/failure.ts";
import { client } from "../api/session.adapter.ts";
import { useMay } from "../frame/org.tsx";
import { EmptyState } from "../parts/page.tsx";
import { usePageSearch } from "../parts/use-search.tsx";

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
          <Button variant="default" onClick={() => setTarget(null)}>
            Disconnect
          </Button>
        )}
      </Group>
      <Text size="xs" c="dimmed">
        Who opened a terminal, where and when is in the audit log. What is typed is not recorded.
      </Text>
      {target ? <Shell app={app} target={target} /> : null}
    </Stack>
  );
}

function Shell({ app, target }: { readonly app: App; readonly target: Target }) {
  const place = useRef<HTMLDivElement>(null);
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
  }, [namespace, name, project_id, target]);

  return (
    <>
      {ending ? <Alert role="status">{ending}</Alert> : null}
      <div
        ref={place}
        style={{ height: "max(320px, calc(100dvh - 380px))", background: "#000", padding: 8, borderRadius: 8 }}
      />
    </>
  );
}
