import { commandLine } from "@binnacle/cli/command-line";
import type { AppSummary } from "@binnacle/client";
import { Button, Code, Group, List, Progress, ScrollArea, Stack, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { client } from "../api/session.adapter.ts";
import { Dialog } from "../components/dialog.tsx";
import { useMay } from "../frame/org.tsx";
import type { StatusView } from "../status/status.ts";
import { StatusBadge } from "../status/status-badge.tsx";
import { addressOf, cliName } from "./app-address.ts";
import {
  BULK_OPERATION,
  type BulkAction,
  type BulkStep,
  bulkSteps,
  type Outcome,
  outcomeText,
  runEach,
} from "./bulk.ts";

const AT_MOST = 4;

const TEXTS: Readonly<Record<BulkAction, { readonly title: string; readonly effect: string }>> = {
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

interface Props {
  readonly action: BulkAction;
  readonly rows: readonly AppSummary[];
  readonly onClose: () => void;
  readonly onStarted: () => void;
}

/** The calls and what has become of each; `outcomes` is null before they begin. They go on when the dialog is closed. */
function useBulk({ action, onClose, onStarted }: Props, chosen: readonly AppSummary[]) {
  const cache = useQueryClient();
  const [outcomes, setOutcomes] = useState<readonly Outcome[] | null>(null);
  const stop = useRef(new AbortController());
  const isClosed = useRef(false);
  const ended = outcomes?.filter(({ state }) => state !== "waiting" && state !== "sending").length ?? 0;

  async function start(): Promise<void> {
    let current: readonly Outcome[] = chosen.map(() => ({ state: "waiting" }));
    setOutcomes(current);
    onStarted();
    await runEach(
      chosen,
      (row) => client.call(BULK_OPERATION[action], addressOf(row)),
      (index, outcome) => {
        current = current.with(index, outcome);
        setOutcomes(current);
      },
      { atMost: AT_MOST, signal: stop.current.signal },
    );
    void cache.invalidateQueries();
    if (isClosed.current) notifications.show({ message: `${TEXTS[action].title}: ${outcomeText(current)}.` });
  }

  function close(): void {
    isClosed.current = true;
    onClose();
  }
  const isRunning = outcomes !== null && ended < chosen.length;
  return { outcomes, ended, isRunning, start, close, stop: () => stop.current.abort() };
}

/** Sends an action for many apps and shows what becomes of each. */
export function BulkDialog(props: Props) {
  const { action } = props;
  const may = useMay();
  const operation = BULK_OPERATION[action];
  const { title, effect } = TEXTS[action];
  // What is sent is decided when the dialog opens; rows that change meanwhile do not change it.
  const [steps] = useState(() =>
    bulkSteps(action, props.rows, (row) => may(operation, { clusterId: row.cluster_id, projectId: row.project_id })),
  );
  const chosen = steps.filter(({ why }) => why === null).map(({ row }) => row);
  const { outcomes, ended, isRunning, start, close, stop } = useBulk(props, chosen);
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
              {isRunning ? `${ended} of ${chosen.length}` : outcomeText(outcomes)}
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
        <LeftOut steps={steps.filter(({ why }) => why !== null)} />
        {outcomes || !chosen[0] ? null : (
          <Text size="xs" c="dimmed">
            The same for one app: <Code>{commandLine(operation, addressOf(chosen[0]))}</Code>
          </Text>
        )}
        <Group justify="flex-end">
          {isRunning ? (
            <Button variant="default" onClick={stop}>
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

function LeftOut({ steps }: { readonly steps: readonly BulkStep<AppSummary>[] }) {
  if (steps.length === 0) return null;
  return (
    <div>
      <Text size="sm" fw={600}>
        Left out
      </Text>
      <List size="sm">
        {steps.map(({ row, why }) => (
          <List.Item key={row.id}>
            {cliName(row)}: {why}
          </List.Item>
        ))}
      </List>
    </div>
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
