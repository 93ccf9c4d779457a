import { Group, Text, Tooltip } from "@mantine/core";
import { useSyncExternalStore } from "react";
import { type Connection, liveConnection } from "../api/live.runner.ts";
import type { Tone } from "../status/status.ts";
import { ToneIcon } from "../status/status-badge.tsx";

const LABELS: Readonly<Record<Connection, readonly [Tone, string, string]>> = {
  connecting: ["progress", "Connecting", "Changes are shown once the connection is there."],
  live: ["good", "Live", "Changes are shown as they happen."],
  reconnecting: ["warning", "Reconnecting", "The server cannot be reached. You see what was read last."],
  offline: ["bad", "Offline", "This device has no network. You see what was read last."],
};

export function ConnectionIndicator() {
  const state = useSyncExternalStore(liveConnection.subscribe, () => liveConnection.state);
  const [tone, word, detail] = LABELS[state];
  return (
    <Tooltip label={detail}>
      <Group gap={4} wrap="nowrap" role="status" aria-label={`Connection: ${word}`} data-connection={state}>
        <ToneIcon tone={tone} />
        <Text size="xs" c="dimmed" visibleFrom="sm">
          {word}
        </Text>
      </Group>
    </Tooltip>
  );
}
