import type { App } from "@binnacle/client";
import { Text } from "@mantine/core";
import { useLayoutEffect, useState } from "react";
import { client } from "../api/session.adapter.ts";
import { FailurePanel } from "../components/loaded.tsx";
import { useFollowed } from "./follow.runner.ts";
import { emptyText, isGap, LogBuffer } from "./log-lines.ts";
import { LogLines } from "./log-view.tsx";

const TAIL_LINES = 200;

/** The last lines of some pods of a component, as they come. The tab Logs has the filters. */
export function ObjectLogs(props: { readonly app: App; readonly component: string; readonly pods: readonly string[] }) {
  const { app, component, pods } = props;
  const [buffer] = useState(() => new LogBuffer());
  const [isFollowing, setFollowing] = useState(true);
  const { namespace, name, project_id } = app;
  const input = { namespace, name, component, project_id, tail_lines: TAIL_LINES, follow: true };
  const { state, error, reopen } = useFollowed<"streamComponentLogs">(
    JSON.stringify(input),
    (options) => client.stream("streamComponentLogs", input, options),
    buffer,
  );
  const wanted = pods.join(" ");
  // Before anything is painted, so that no line of another pod is seen.
  useLayoutEffect(() => {
    const names = new Set(wanted.split(" "));
    buffer.filter((entry) => isGap(entry) || names.has(entry.pod));
  }, [buffer, wanted]);
  return (
    <>
      {error ? <FailurePanel error={error} onRetry={reopen} /> : null}
      <LogLines
        buffer={buffer}
        label={`Log of ${pods.length === 1 ? pods[0] : component}`}
        empty={({ received }) =>
          received > 0 ? "None of its last lines are here." : emptyText({ state, kept: 0, received, isPrevious: false })
        }
        display={{ isWrapped: true, isUtc: false, showsPods: pods.length > 1 }}
        isFollowing={isFollowing}
        onFollowing={setFollowing}
        isShort
      />
      <Text size="xs" c="dimmed">
        The last {TAIL_LINES} lines of each container, and what comes.
      </Text>
    </>
  );
}
