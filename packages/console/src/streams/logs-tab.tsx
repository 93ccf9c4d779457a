import type { App } from "@binnacle/client";
import {
  ActionIcon,
  Button,
  Group,
  Menu,
  Popover,
  SegmentedControl,
  Select,
  Switch,
  Text,
  TextInput,
  Tooltip,
} from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconArrowDown, IconClock, IconDownload, IconRegex, IconSettings, IconTrash } from "@tabler/icons-react";
import { type ReactNode, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { client } from "../api/session.adapter.ts";
import { FailurePanel } from "../parts/loaded.tsx";
import { usePageSearch } from "../parts/use-search.tsx";
import { type StreamState, useFollowed } from "./follow.runner.ts";
import {
  type CompilePattern,
  downloadOf,
  emptyWords,
  type Filter,
  indexAt,
  type Level,
  LogBuffer,
  matcherOf,
} from "./log-lines.ts";
import { type LinesHandle, LogLines, useVersion } from "./log-view.tsx";

const STATES: Readonly<Record<StreamState, string>> = {
  opening: "Opening",
  live: "Live",
  reconnecting: "Reconnecting",
  ended: "The output has ended",
  failed: "Not connected",
};
const TAILS = ["100", "1000", "10000"];

/** The logs of one component of an app. */
export function LogsTab({ app, component }: { readonly app: App; readonly component?: string | undefined }) {
  const [search, choose] = usePageSearch();
  const names = app.components.map(({ name }) => name);
  const chosen = component ?? search["component"] ?? names[0];
  if (chosen === undefined) return <Text c="dimmed">The app has no components.</Text>;
  return (
    <div>
      <Group gap="xs" mb="xs">
        <Select
          aria-label="Component"
          data={names}
          value={chosen}
          allowDeselect={false}
          onChange={(value) => choose({ component: value ?? undefined, pod: undefined })}
          w={180}
        />
        <SegmentedControl
          aria-label="Which run"
          data={[
            { value: "", label: "Now" },
            { value: "previous", label: "Before the last restart" },
          ]}
          value={search["run"] === "previous" ? "previous" : ""}
          onChange={(run) => choose({ run })}
        />
      </Group>
      <LogView key={chosen} app={app} component={chosen} previous={search["run"] === "previous"} />
    </div>
  );
}

function LogView({ app, component, previous }: { app: App; component: string; previous: boolean }) {
  const [search, choose] = usePageSearch();
  const [isWrapped, setWrapped] = useState(false);
  const [isUtc, setUtc] = useState(false);
  const [showsPods, setShowsPods] = useState(true);
  const [text, setText] = useState(search["find"] ?? "");
  const [find] = useDebouncedValue(text, 150);
  const [isFollowing, setFollowing] = useState(true);
  const tail = TAILS.includes(search["tail"] ?? "") ? Number(search["tail"]) : 1_000;
  // Made once: `useRef` would make another one at each render.
  const [buffer] = useState(() => new LogBuffer());
  const { namespace, name, project_id } = app;
  const input = { namespace, name, component, project_id, tail_lines: tail, follow: !previous, previous };
  const { state, error, reopen } = useFollowed<"streamComponentLogs">(
    JSON.stringify(input),
    (options) => client.stream("streamComponentLogs", input, options),
    buffer,
  );

  const filter: Filter = useMemo(
    () => ({
      text: find,
      isPattern: search["pattern"] === "yes",
      pod: search["pod"] ?? null,
      container: null,
      level: (search["level"] as Level | undefined) ?? null,
    }),
    [find, search["pattern"], search["pod"], search["level"]],
  );
  const compile = useCompile(filter.isPattern);
  const matches = useMemo(() => matcherOf(filter, compile), [filter, compile]);
  // Before anything is painted, so that no line of another filter is seen.
  useLayoutEffect(() => {
    if (!(matches instanceof Error)) buffer.filter(matches);
  }, [buffer, matches]);
  const lines = useRef<LinesHandle>(null);

  function download(): void {
    const url = URL.createObjectURL(new Blob([downloadOf(buffer.shown)], { type: "text/plain" }));
    const link = document.createElement("a");
    link.href = url;
    link.download = `${app.name}-${component}.log`;
    link.click();
    URL.revokeObjectURL(url);
  }

  function goTo(time: Date): void {
    setFollowing(false);
    lines.current?.scrollTo(indexAt(buffer.shown, time.toISOString()));
  }

  const pods = app.components_status.find(({ name }) => name === component)?.pods ?? [];
  return (
    <>
      <Group gap="xs" mb="xs">
        <TextInput
          data-filter
          aria-label="Find in the lines"
          placeholder="Find in the lines"
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          error={matches instanceof Error ? matches.message : undefined}
          rightSection={
            <Tooltip label="As a regular expression">
              <ActionIcon
                size="sm"
                variant={filter.isPattern ? "filled" : "subtle"}
                color={filter.isPattern ? "navy" : "gray"}
                aria-pressed={filter.isPattern}
                aria-label="As a regular expression"
                onClick={() => choose({ pattern: filter.isPattern ? undefined : "yes" })}
              >
                <IconRegex size={14} aria-hidden />
              </ActionIcon>
            </Tooltip>
          }
          w={{ base: "100%", xs: 260 }}
        />
        <Select
          aria-label="Pod"
          placeholder="Any pod"
          data={pods.map(({ name }) => name)}
          value={filter.pod}
          onChange={(pod) => choose({ pod: pod ?? undefined })}
          clearable
          w={200}
        />
        <Select
          aria-label="Level"
          placeholder="Any level"
          data={["error", "warning", "info", "debug"]}
          value={filter.level}
          onChange={(level) => choose({ level: level ?? undefined })}
          clearable
          w={130}
        />
        <Menu closeOnItemClick={false}>
          <Menu.Target>
            <ActionIcon variant="default" size="lg" aria-label="How lines are shown">
              <IconSettings size={16} aria-hidden />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown p="sm">
            <Switch label="Wrap long lines" checked={isWrapped} onChange={() => setWrapped(!isWrapped)} mb="xs" />
            <Switch label="Times in UTC" checked={isUtc} onChange={() => setUtc(!isUtc)} mb="xs" />
            <Switch label="Names of pods" checked={showsPods} onChange={() => setShowsPods(!showsPods)} mb="xs" />
            <Select
              label="Lines of each container at first"
              data={TAILS}
              value={String(tail)}
              allowDeselect={false}
              onChange={(value) => choose({ tail: value ?? undefined })}
              comboboxProps={{ withinPortal: false }}
            />
          </Menu.Dropdown>
        </Menu>
        <TimePicker onPick={goTo} />
        <IconAction label="Download what is shown" onClick={download} icon={<IconDownload size={16} aria-hidden />} />
        <IconAction label="Clear" onClick={() => buffer.clear()} icon={<IconTrash size={16} aria-hidden />} />
      </Group>
      {error ? <FailurePanel error={error} onRetry={reopen} /> : null}
      <LogLines
        ref={lines}
        buffer={buffer}
        label={`Logs of ${component}`}
        empty={({ kept, received }) => emptyWords({ state, kept, received, isPrevious: previous })}
        look={{ isWrapped, isUtc, showsPods }}
        isFollowing={isFollowing}
        onFollowing={setFollowing}
      />
      <Group justify="space-between" mt={6} mih={30}>
        <Text size="xs" c="dimmed" role="status">
          {STATES[state]} · <Counts buffer={buffer} />
        </Text>
        {isFollowing ? null : (
          <Button
            size="compact-sm"
            leftSection={<IconArrowDown size={14} aria-hidden />}
            onClick={() => setFollowing(true)}
          >
            Follow
          </Button>
        )}
      </Group>
    </>
  );
}

/** No line passes while the engine is on its way: lines that the pattern leaves out would be seen for a moment. */
const LOADING: CompilePattern = () => () => false;

/** The engine of patterns is fetched when a pattern is used for the first time. */
function useCompile(isUsed: boolean): CompilePattern {
  const [compile, setCompile] = useState<CompilePattern>(() => LOADING);
  useEffect(() => {
    if (!isUsed) return;
    import("./line-pattern.ts").then(
      ({ compileLinePattern }) => setCompile(() => compileLinePattern),
      () => setCompile(() => () => new Error("Regular expressions cannot be used: a part of the page was not loaded.")),
    );
  }, [isUsed]);
  return compile;
}

function Counts({ buffer }: { readonly buffer: LogBuffer }) {
  useVersion(buffer);
  return `${buffer.shown.length.toLocaleString()} of ${buffer.received.toLocaleString()} lines`;
}

/** A time of the viewer's own zone. */
function TimePicker({ onPick }: { readonly onPick: (time: Date) => void }) {
  const [isOpen, setOpen] = useState(false);
  const [value, setValue] = useState("");
  const time = new Date(value);
  return (
    <Popover opened={isOpen} onChange={setOpen} trapFocus>
      <Popover.Target>
        <ActionIcon
          variant="default"
          size="lg"
          aria-label="Go to a time"
          title="Go to a time"
          onClick={() => setOpen(!isOpen)}
        >
          <IconClock size={16} aria-hidden />
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (Number.isNaN(time.getTime())) return;
            onPick(time);
            setOpen(false);
          }}
        >
          <Group align="flex-end" gap="xs">
            <TextInput
              type="datetime-local"
              step={1}
              label="First line at or after"
              value={value}
              onChange={(event) => setValue(event.currentTarget.value)}
            />
            <Button type="submit" disabled={Number.isNaN(time.getTime())}>
              Go
            </Button>
          </Group>
        </form>
      </Popover.Dropdown>
    </Popover>
  );
}

function IconAction(props: { readonly label: string; readonly icon: ReactNode; readonly onClick: () => void }) {
  return (
    <Tooltip label={props.label}>
      <ActionIcon variant="default" size="lg" aria-label={props.label} onClick={props.onClick}>
        {props.icon}
      </ActionIcon>
    </Tooltip>
  );
}
