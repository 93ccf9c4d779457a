import { commandLine } from "@binnacle/cli/command-line";
import type { ProvisioningJob } from "@binnacle/client";
import { Button, Code, Group, Progress, ScrollArea, Stack, Text, ThemeIcon, VisuallyHidden } from "@mantine/core";
import { IconCheck, IconPlayerPlay, IconX } from "@tabler/icons-react";
import { useParams } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { useRead } from "../api/queries.runner.ts";
import { ActionDialog } from "../components/action-dialog.tsx";
import { clusterAddress } from "../components/addresses.ts";
import { ButtonLink, TextLink } from "../components/links.tsx";
import { FailurePanel, Loaded } from "../components/loaded.tsx";
import { Moment, useNow } from "../components/moment.tsx";
import { Facts, Page, Section } from "../components/page.tsx";
import { useMay, useOrg } from "../frame/org.tsx";
import { TONE_COLOR } from "../status/status.ts";
import { StatusBadge } from "../status/status-badge.tsx";
import { JOB_STATUS, jobAdvice, jobText, jobTitle, type PhaseView, phasesOf } from "./cluster-labels.ts";
import { useJobLog } from "./job-log.runner.ts";
import { PlanView } from "./plan-view.tsx";

const isUnderWay = (job: Pick<ProvisioningJob, "status"> | undefined): boolean =>
  job === undefined || job.status === "pending" || job.status === "running";

/** A provisioning job: its phases, how far it is, and what it prints. */
export function JobPage() {
  const org = useOrg();
  const { id: clusterId = "", jobId = "" } = useParams({ strict: false });
  const cluster = useRead("getCluster", { id: clusterId });
  const [isOver, setOver] = useState(false);
  const job = useRead("getProvisioningJob", { id: jobId }, { refetchMs: isOver ? undefined : 3_000 });
  const hasEnded = !isUnderWay(job.data);
  useEffect(() => setOver(hasEnded), [hasEnded]);
  const name = cluster.data?.name ?? "the cluster";
  const now = useNow();
  return (
    <Loaded of={job}>
      {(read) => (
        <Page
          title={`${jobTitle(read)} of ${name}`}
          status={<StatusBadge status={JOB_STATUS[read.status]} />}
          detail={
            <>
              On the cluster{" "}
              <TextLink to={clusterAddress(org.slug, read.cluster_id)} isInText>
                {name}
              </TextLink>
              , {read.started_at ? "begun" : "asked for"} <Moment at={read.started_at ?? read.created_at} />.
              {isUnderWay(read) ? " You may leave this page; the job goes on." : ""}
            </>
          }
          actions={
            <>
              <CancelButton job={read} />
              <RetryButton job={read} />
              <ButtonLink to={clusterAddress(org.slug, read.cluster_id)} variant="default">
                Open the cluster
              </ButtonLink>
            </>
          }
        >
          <Section title="Progress">
            <Stack gap="md">
              <Text size="sm" role="status" style={{ overflowWrap: "anywhere" }}>
                {jobText(read, (now - Date.parse(read.updated_at)) / 1_000)}
              </Text>
              {jobAdvice(read) ? <Text size="sm">{jobAdvice(read)}</Text> : null}
              <Progress
                value={read.progress_pct}
                color={TONE_COLOR[JOB_STATUS[read.status].tone]}
                animated={read.status === "running"}
                aria-label={`${read.progress_pct} % done`}
              />
              <Phases phases={phasesOf(read)} />
              <Facts
                of={[
                  ["Attempts", read.attempts],
                  ...(read.desired_node_count === null ? [] : ([["Nodes wanted", read.desired_node_count]] as const)),
                  ["Finished", read.finished_at ? <Moment key="finished" at={read.finished_at} /> : "not yet"],
                ]}
              />
            </Stack>
          </Section>
          {hasPlan(read) ? <JobPlan jobId={read.id} /> : null}
          <Section title="Output">
            <Output jobId={jobId} attempts={read.attempts} isLive={!hasEnded} />
          </Section>
        </Page>
      )}
    </Loaded>
  );
}

const PHASE_STYLE = {
  done: { color: "green", icon: <IconCheck size={12} aria-hidden />, word: "done" },
  current: { color: "blue", icon: <IconPlayerPlay size={12} aria-hidden />, word: "under way" },
  failed: { color: "red", icon: <IconX size={12} aria-hidden />, word: "failed" },
  to_come: { color: "gray", icon: null, word: "to come" },
} as const;

function Phases({ phases }: { readonly phases: readonly PhaseView[] }) {
  return (
    <Group component="ol" gap="8px 24px" m={0} p={0} style={{ listStyle: "none" }} aria-label="Phases">
      {phases.map(({ key, label, state }) => {
        const style = PHASE_STYLE[state];
        return (
          <Group key={key} component="li" gap={6} wrap="nowrap">
            <ThemeIcon size={20} radius="xl" color={style.color} variant={state === "to_come" ? "light" : "filled"}>
              {style.icon}
            </ThemeIcon>
            <Text size="sm" c={state === "to_come" ? "dimmed" : "inherit"} fw={state === "current" ? 600 : 400}>
              {label}
              {state === "failed" || state === "current" ? (
                <Text span inherit c="dimmed" fw={400}>
                  {" "}
                  {style.word}
                </Text>
              ) : (
                <VisuallyHidden> {style.word}</VisuallyHidden>
              )}
            </Text>
          </Group>
        );
      })}
    </Group>
  );
}

function RetryButton({ job }: { readonly job: ProvisioningJob }) {
  const may = useMay();
  const [isOpen, setOpen] = useState(false);
  if (job.status !== "failed" || !may("retryProvisioningJob", { clusterId: job.cluster_id })) return null;
  return (
    <>
      <Button onClick={() => setOpen(true)}>Try again</Button>
      <ActionDialog
        opened={isOpen}
        onClose={() => setOpen(false)}
        title="Run the job again?"
        operation="retryProvisioningJob"
        input={{ id: job.id }}
        action="Try again"
        done="The job is queued again."
        consequences={["It goes on from the infrastructure that is there; nothing that exists is created anew."]}
      />
    </>
  );
}

function CancelButton({ job }: { readonly job: ProvisioningJob }) {
  const may = useMay();
  const [isOpen, setOpen] = useState(false);
  const isOffered = isUnderWay(job) && job.cancel_requested_at === null;
  if (!isOffered || !may("cancelProvisioningJob", { clusterId: job.cluster_id })) return null;
  return (
    <>
      <Button variant="default" onClick={() => setOpen(true)}>
        Cancel the job
      </Button>
      <ActionDialog
        opened={isOpen}
        onClose={() => setOpen(false)}
        title="Cancel the job?"
        operation="cancelProvisioningJob"
        input={{ id: job.id }}
        action="Cancel the job"
        done={job.status === "pending" ? "The job is cancelled." : "The job is asked to stop."}
        consequences={[
          "A running job stops after the resource that it is working on, and saves its state.",
          "What it has made so far stays; another try continues from there.",
        ]}
      />
    </>
  );
}

/** A plan is there once the job is past its phase. */
const hasPlan = ({ phase, status, dry_run }: ProvisioningJob): boolean =>
  dry_run ? status === "succeeded" : phase !== "init" && phase !== "plan";

function JobPlan({ jobId }: { readonly jobId: string }) {
  const plan = useRead("getProvisioningPlan", { id: jobId });
  if (!plan.data) return null;
  return (
    <Section title="Plan">
      <PlanView plan={plan.data} />
    </Section>
  );
}

/** What the job prints, as plain text and as it comes. It follows the end unless somebody has scrolled up. */
function Output(props: { readonly jobId: string; readonly attempts: number; readonly isLive: boolean }) {
  const { text, cut, state, error, reopen } = useJobLog(props.jobId, props.attempts);
  const view = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: new output moves the view.
  useEffect(() => {
    if (isAtEnd.current) view.current?.scrollTo({ top: view.current.scrollHeight });
  }, [text]);
  return (
    <Stack gap="xs">
      {state === "failed" ? <FailurePanel error={error} onRetry={reopen} /> : null}
      {state === "reconnecting" ? (
        <Text size="sm" c="dimmed" role="status">
          The connection was lost; the output continues when it is back.
        </Text>
      ) : null}
      {cut > 0 ? (
        <Text size="sm" c="dimmed">
          {cut} earlier lines are left out here. <Code>{commandLine("getProvisioningLogs", { id: props.jobId })}</Code>{" "}
          prints all of them.
        </Text>
      ) : null}
      {text === "" ? (
        <Text size="sm" c="dimmed">
          {props.isLive || state === "opening" ? "Nothing has been printed yet." : "The job has printed nothing."}
        </Text>
      ) : (
        <ScrollArea.Autosize
          mah={480}
          viewportRef={view}
          viewportProps={{ tabIndex: 0, role: "log", "aria-label": "Output of the job" }}
          onScrollPositionChange={({ y }) => {
            const box = view.current;
            if (box) isAtEnd.current = y + box.clientHeight >= box.scrollHeight - 24;
          }}
        >
          <Code block style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>
            {text}
          </Code>
        </ScrollArea.Autosize>
      )}
    </Stack>
  );
}
