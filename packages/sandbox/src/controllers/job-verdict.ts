import type { Job } from "./job.ts";
import { isLeaving, type Pod } from "./pod.ts";
import { secondsAfter } from "./stamp.ts";

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
    .filter((pod) => !isLeaving(pod))
    .flatMap(({ status }) => status?.containerStatuses ?? [])
    .map(({ restartCount }) => restartCount);
  return restarts.reduce((sum, count) => sum + count, 0);
}
