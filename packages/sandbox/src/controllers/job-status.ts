import { type Condition, conditionOf, withCondition } from "./conditions.ts";
import type { Job } from "./job.ts";
import { indexOf } from "./job-pods.ts";
import { failedOf, succeededOf, type Verdict } from "./job-verdict.ts";
import { isActive, isFinished, isLeaving, isReady, type Pod } from "./pod.ts";
import { stampOf } from "./stamp.ts";
import { counted, present } from "./writes.ts";

export function jobStatus(job: Job, pods: readonly Pod[], verdict: Verdict | null, nowMs: number) {
  const isSuspended = job.spec.suspend === true;
  // What the verdict ends is as good as gone.
  const active = verdict || isSuspended ? [] : pods.filter(isActive);
  const leaving = pods.filter((pod) => !isFinished(pod) && (isLeaving(pod) || verdict !== null || isSuspended)).length;
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
    terminating: leaving,
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
