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
import { IconArrowDown, IconClock, IconDownload, IconSettings, IconTrash } from "@tabler/icons-react";
import { type ReactNode, useLayoutEffect, useRef, useState } from "react";
import { client } from "../api/session.adapter.ts";
import { download } from "../components/download.adapter.ts";
import { FailurePanel } from "../components/loaded.tsx";
import { usePageSearch } from "../components/use-search.tsx";
import { type StreamState, useFollowed } from "./follow.runner.ts";
import { FilterFields, useFilter } from "./log-filter.tsx";
import { downloadOf, emptyText, indexAt, LogBuffer } from "./log-lines.ts";
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
  const isPrevious = search["run"] === "previous";
  const hasRestarted = app.components_status.some(({ name, restarts }) => name === chosen && restarts > 0);
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
            { value: "previous", label: "Before the last restart", disabled: !hasRestarted && !isPrevious },
          ]}
          value={isPrevious ? "previous" : ""}
          onChange={(run) => choose({ run })}
        />
      </Group>
      <LogView key={chosen} app={app} component={chosen} previous={isPrevious} />
    </div>
  );
}

function LogView({ app, component, previous }: { app: App; component: string; previous: boolean }) {
  const [search] = usePageSearch();
  const [display, setDisplay] = useState<Display>({ isWrapped: false, isUtc: false, showsPods: true });
  const [text, setText] = useState(search["find"] ?? "");
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
  const { filter, matches } = useFilter(text);
  // Before anything is painted, so that no line of another filter is seen.
  useLayoutEffect(() => {
    if (!(matches instanceof Error)) buffer.filter(matches);
  }, [buffer, matches]);
  const lines = useRef<LinesHandle>(null);

  function goTo(time: Date): void {
    setFollowing(false);
    lines.current?.scrollTo(indexAt(buffer.shown, time.toISOString()));
  }

  return (
    <>
      <Group gap="xs" mb="xs">
        <FilterFields
          filter={filter}
          pods={app.components_status.find((each) => each.name === component)?.pods ?? []}
          text={text}
          onText={setText}
          error={matches instanceof Error ? matches.message : undefined}
        />
        <DisplayMenu display={display} onChange={setDisplay} tail={tail} />
        <TimePicker onPick={goTo} />
        <IconAction
          label="Download what is shown"
          onClick={() => download(`${name}-${component}.log`, downloadOf(buffer.shown))}
          icon={<IconDownload size={16} aria-hidden />}
        />
        <IconAction label="Clear" onClick={() => buffer.clear()} icon={<IconTrash size={16} aria-hidden />} />
      </Group>
      {error ? <FailurePanel error={error} onRetry={reopen} /> : null}
      <LogLines
        ref={lines}
        buffer={buffer}
        label={`Logs of ${component}`}
        empty={({ kept, received }) => emptyText({ state, kept, received, isPrevious: previous })}
        display={display}
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

const SWITCHES = { isWrapped: "Wrap long lines", isUtc: "Times in UTC", showsPods: "Names of pods" } as const;
type Display = Readonly<Record<keyof typeof SWITCHES, boolean>>;

function DisplayMenu(props: {
  readonly display: Display;
  readonly onChange: (display: Display) => void;
  readonly tail: number;
}) {
  const { display, onChange } = props;
  const [, choose] = usePageSearch();
  return (
    <Menu closeOnItemClick={false}>
      <Menu.Target>
        <ActionIcon variant="default" size="lg" aria-label="How lines are shown">
          <IconSettings size={16} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown p="sm">
        {(Object.keys(SWITCHES) as (keyof Display)[]).map((key) => (
          <Switch
            key={key}
            label={SWITCHES[key]}
            checked={display[key]}
            onChange={() => onChange({ ...display, [key]: !display[key] })}
            mb="xs"
          />
        ))}
        <Select
          label="Lines of each container at first"
          data={TAILS}
          value={String(props.tail)}
          allowDeselect={false}
          onChange={(value) => choose({ tail: value ?? undefined })}
          comboboxProps={{ withinPortal: false }}
        />
      </Menu.Dropdown>
    </Menu>
  );
}

function Counts({ buffer }: { readonly buffer: LogBuffer }) {
  useVersion(buffer);
  return `${buffer.shownLines.toLocaleString()} of ${buffer.received.toLocaleString()} lines`;
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
