import type { KubeObject } from "../store/kube-object.ts";
import type { Job } from "./job.ts";
import {
  type Condition,
  conditionOf,
  isActive,
  isDeleting,
  isFinished,
  isReady,
  type Pod,
  withCondition,
} from "./pod.ts";
import { counted, present, secondsAfter, stampOf } from "./writes.ts";

export function jobStatus(job: Job, pods: readonly Pod[], verdict: Verdict | null, nowMs: number) {
  const isSuspended = job.spec.suspend === true;
  // Pods that the verdict ends count as gone.
  const active = verdict || isSuspended ? [] : pods.filter(isActive);
  const deleting = pods.filter(
    (pod) => !isFinished(pod) && (isDeleting(pod) || verdict !== null || isSuspended),
  ).length;
  const conditions = conditionsOf(job, verdict).reduce<readonly Condition[]>(
    (all, one) => withCondition(all, { ...one, lastProbeTime: stampOf(nowMs) }, nowMs),
    job.status?.conditions ?? [],
  );
  const isIndexed = job.spec.completionMode === "Indexed";
  return present({
    startTime: isSuspended ? undefined : (job.status?.startTime ?? stampOf(nowMs)),
    completionTime: verdict?.type === "Complete" ? stampOf(nowMs) : undefined,
    conditions: conditions.length > 0 ? conditions : undefined,
    ...counted({ active: active.length, succeeded: succeededOf(job, pods), failed: failedOf(job, pods) }),
    ready: active.filter(isReady).length,
    terminating: deleting,
    completedIndexes: isIndexed ? completedIndexes(pods) : undefined,
    uncountedTerminatedPods: {},
  });
}

function conditionsOf(job: Job, verdict: Verdict | null): readonly Condition[] {
  if (verdict) {
    const { reason, message, type } = verdict;
    const first = type === "Complete" ? "SuccessCriteriaMet" : "FailureTarget";
    return [first, type].map((one) => ({ type: one, status: "True", reason, message }));
  }
  const before = conditionOf(job, "Suspended");
  if (job.spec.suspend) {
    return before?.status === "True"
      ? []
      : [{ type: "Suspended", status: "True", reason: "JobSuspended", message: "Job suspended" }];
  }
  return before?.status === "True"
    ? [{ type: "Suspended", status: "False", reason: "JobResumed", message: "Job resumed" }]
    : [];
}

/** `0,2-4`, as Kubernetes writes it. */
function completedIndexes(pods: readonly Pod[]): string {
  const done = new Set(pods.filter(({ status }) => status?.phase === "Succeeded").map(indexOf));
  const sorted = [...done].sort((a, b) => a - b);
  const starts = sorted.filter((index) => !done.has(index - 1));
  return starts
    .map((start) => {
      let end = start;
      while (done.has(end + 1)) end++;
      return end === start ? `${start}` : end === start + 1 ? `${start},${end}` : `${start}-${end}`;
    })
    .join(",");
}

export const INDEX = "batch.kubernetes.io/job-completion-index";

/** -1 for a pod without one. */
export const indexOf = ({ metadata }: KubeObject): number => Number(metadata.annotations?.[INDEX] ?? -1);

const BACKOFF_LIMIT = 6;

export interface Verdict {
  readonly type: "Complete" | "Failed";
  readonly reason: string;
  readonly message: string;
}

/** Undefined where workers decide among themselves when all is done. */
export const completionsOf = ({ spec }: Job): number | undefined =>
  spec.completions ?? (spec.parallelism === undefined ? 1 : undefined);

/** Pods that are deleted do not take what they have done with them. */
export const succeededOf = (job: Job, pods: readonly Pod[]): number =>
  Math.max(pods.filter(({ status }) => status?.phase === "Succeeded").length, job.status?.succeeded ?? 0);

export const failedOf = (job: Job, pods: readonly Pod[]): number =>
  Math.max(pods.filter(({ status }) => status?.phase === "Failed").length, job.status?.failed ?? 0);

/** How a Job has ended; null while it goes on. */
export function verdictOf(job: Job, pods: readonly Pod[], nowMs: number): Verdict | null {
  const { backoffLimit = BACKOFF_LIMIT, activeDeadlineSeconds, suspend } = job.spec;
  const completions = completionsOf(job);
  const succeeded = succeededOf(job, pods);
  const running = pods.filter(({ status }) => status?.phase !== "Succeeded" && status?.phase !== "Failed");
  // Without a number of completions the first that succeeds is a sign to the others to come to an end.
  const isComplete = completions === undefined ? succeeded > 0 && running.length === 0 : succeeded >= completions;
  if (isComplete) {
    return { type: "Complete", reason: "CompletionsReached", message: "Reached expected number of succeeded pods" };
  }
  if (failedOf(job, pods) + restartsOf(job, running) > backoffLimit) {
    return failed("BackoffLimitExceeded", "Job has reached the specified backoff limit");
  }
  const deadlineMs = activeDeadlineSeconds && secondsAfter(job.status?.startTime, activeDeadlineSeconds);
  return deadlineMs && deadlineMs <= nowMs && !suspend
    ? failed("DeadlineExceeded", "Job was active longer than specified deadline")
    : null;
}

const failed = (reason: string, message: string): Verdict => ({ type: "Failed", reason, message });

/** Where containers are started again within their pod, each start counts as a try. */
function restartsOf({ spec }: Job, running: readonly Pod[]): number {
  if (spec.template.spec.restartPolicy !== "OnFailure") return 0;
  const restarts = running
    .filter((pod) => !isDeleting(pod))
    .flatMap(({ status }) => status?.containerStatuses ?? [])
    .map(({ restartCount }) => restartCount);
  return restarts.reduce((sum, count) => sum + count, 0);
}
