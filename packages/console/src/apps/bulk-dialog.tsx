import type { AppSummary } from "@binnacle/client";
import { Button, Code, Group, List, Progress, ScrollArea, Stack, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { client } from "../api/session.adapter.ts";
import { useMay } from "../frame/org.tsx";
import { Dialog } from "../parts/dialog.tsx";
import type { StatusView } from "../status/status.ts";
import { StatusBadge } from "../status/status-badge.tsx";
import { addressOf, cliName } from "./app-address.ts";
import { BULK_OPERATION, type BulkAction, bulkSteps, type Outcome, outcomeWords, runEach } from "./bulk.ts";

const AT_MOST = 4;

const WORDS: Readonly<Record<BulkAction, { readonly title: string; readonly effect: string }>> = {
  redeploy: { title: "Redeploy", effect: "What is recorded is applied again, as a new revision of each." },
  pause: { title: "Pause", effect: "All workloads of these apps are scaled to 0 and answer no more." },
  resume: { title: "Resume", effect: "The workloads of these apps get the replicas back that they had." },
};

const OUTCOMES: Readonly<Record<Outcome["state"], StatusView>> = {
  waiting: { tone: "unknown", word: "Waiting" },
  sending: { tone: "progress", word: "Sending" },
  done: { tone: "good", word: "Accepted" },
  failed: { tone: "bad", word: "Failed" },
  stopped: { tone: "unknown", word: "Not begun" },
};

/** Sends an action for many apps and shows what becomes of each. It goes on when the dialog is closed. */
export function BulkDialog(props: {
  readonly action: BulkAction;
  readonly rows: readonly AppSummary[];
  readonly onClose: () => void;
  readonly onStarted: () => void;
}) {
  const { action, onClose } = props;
  const may = useMay();
  const cache = useQueryClient();
  const operation = BULK_OPERATION[action];
  const { title, effect } = WORDS[action];
  // What is sent is decided when the dialog opens; rows that change meanwhile do not change it.
  const [steps] = useState(() =>
    bulkSteps(action, props.rows, (row) => may(operation, { clusterId: row.cluster_id, projectId: row.project_id })),
  );
  const chosen = steps.filter(({ why }) => why === null).map(({ row }) => row);
  const leftOut = steps.filter(({ why }) => why !== null);
  const [outcomes, setOutcomes] = useState<readonly Outcome[] | null>(null);
  const stop = useRef(new AbortController());
  const isClosed = useRef(false);
  const ended = outcomes?.filter(({ state }) => state !== "waiting" && state !== "sending").length ?? 0;
  const isRunning = outcomes !== null && ended < chosen.length;

  async function start(): Promise<void> {
    let current: readonly Outcome[] = chosen.map(() => ({ state: "waiting" }));
    setOutcomes(current);
    props.onStarted();
    await runEach(
      chosen,
      (row) => client.call(operation, addressOf(row)),
      (index, outcome) => {
        current = current.with(index, outcome);
        setOutcomes(current);
      },
      { atMost: AT_MOST, signal: stop.current.signal },
    );
    void cache.invalidateQueries();
    if (isClosed.current) notifications.show({ message: `${title}: ${outcomeWords(current)}.` });
  }

  function close(): void {
    isClosed.current = true;
    onClose();
  }

  return (
    <Dialog
      opened
      onClose={close}
      title={`${title} ${chosen.length} ${chosen.length === 1 ? "app" : "apps"}`}
      size="lg"
    >
      <Stack gap="md">
        <Text size="sm">{effect}</Text>
        {outcomes ? (
          <>
            <Progress
              value={chosen.length === 0 ? 100 : (ended / chosen.length) * 100}
              aria-label="Progress"
              animated={isRunning}
            />
            <Text size="sm" role="status">
              {isRunning ? `${ended} of ${chosen.length}` : outcomeWords(outcomes)}
            </Text>
          </>
        ) : null}
        <ScrollArea.Autosize mah={320} type="auto">
          <Stack gap={6} component="ul" m={0} p={0} style={{ listStyle: "none" }}>
            {chosen.map((row, index) => (
              <Line key={row.id} row={row} outcome={outcomes?.[index]} />
            ))}
          </Stack>
        </ScrollArea.Autosize>
        {leftOut.length > 0 ? (
          <div>
            <Text size="sm" fw={600}>
              Left out
            </Text>
            <List size="sm">
              {leftOut.map(({ row, why }) => (
                <List.Item key={row.id}>
                  {cliName(row)}: {why}
                </List.Item>
              ))}
            </List>
          </div>
        ) : null}
        {outcomes ? null : (
          <Text size="xs" c="dimmed">
            The same for one app:{" "}
            <Code>
              binnacle apps {action} {chosen[0] ? cliName(chosen[0]) : "<app>"}
            </Code>
          </Text>
        )}
        <Group justify="flex-end">
          {isRunning ? (
            <Button variant="default" onClick={() => stop.current.abort()}>
              Stop
            </Button>
          ) : null}
          <Button variant="default" onClick={close}>
            {outcomes === null ? "Cancel" : isRunning ? "Leave it running" : "Close"}
          </Button>
          {outcomes === null ? (
            <Button onClick={() => void start()} disabled={chosen.length === 0} data-autofocus>
              {title}
            </Button>
          ) : null}
        </Group>
      </Stack>
    </Dialog>
  );
}

function Line({ row, outcome }: { readonly row: AppSummary; readonly outcome: Outcome | undefined }) {
  return (
    <li>
      <Group gap="xs" justify="space-between" wrap="nowrap">
        <Text size="sm" truncate>
          {cliName(row)}
        </Text>
        {outcome ? <StatusBadge status={OUTCOMES[outcome.state]} size="sm" /> : null}
      </Group>
      {outcome?.state === "failed" ? (
        <Text size="xs" c="var(--tone-bad)" style={{ overflowWrap: "anywhere" }}>
          {outcome.message}
        </Text>
      ) : null}
    </li>
  );
}
