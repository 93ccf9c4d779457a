import type { KubeObject } from "../store/kube-object.ts";
import { type Controller, earliest, NOTHING, type Outcome, placeOf, type Write } from "./control.ts";
import { jobPods } from "./job-pods.ts";
import { jobStatus, verdictOf } from "./job-status.ts";
import { controlled, controllersConcerned, type LabelSelector } from "./owners.ts";
import { type Condition, isActive, isDeleting, isTrue, type Pod, type PodTemplate } from "./pod.ts";
import { deletion, normal, secondsAfter, statusWrites, warning } from "./writes.ts";

export interface Job extends KubeObject {
  readonly spec: {
    readonly parallelism?: number;
    readonly completions?: number;
    readonly completionMode?: "NonIndexed" | "Indexed";
    readonly backoffLimit?: number;
    readonly activeDeadlineSeconds?: number;
    readonly ttlSecondsAfterFinished?: number;
    readonly suspend?: boolean;
    readonly selector?: LabelSelector;
    readonly template: PodTemplate;
  };
  readonly status?: {
    readonly startTime?: string;
    readonly completionTime?: string;
    readonly succeeded?: number;
    readonly failed?: number;
    readonly conditions?: readonly Condition[];
    readonly [field: string]: unknown;
  };
}

export const JOBS = "jobs.batch";
const SOURCE = "job-controller";

export const isDone = (job: KubeObject): boolean => isTrue(job, "Complete") || isTrue(job, "Failed");

export const jobs: Controller = {
  name: "job",
  concerns(change) {
    if (change.resource === JOBS) return change.type === "DELETED" ? [] : [placeOf(JOBS, change.object)];
    return change.resource === "pods" ? controllersConcerned(change, "Job", JOBS) : [];
  },
  step({ name, namespace }, view, nowMs) {
    const job = view.get(JOBS, name, namespace) as Job | null;
    return job ? stepJob(job, controlled(view, job, "pods") as readonly Pod[], nowMs) : NOTHING;
  },
};

export function stepJob(job: Job, pods: readonly Pod[], nowMs: number): Outcome {
  if (isDeleting(job)) return NOTHING;
  if (isDone(job)) return stepDone(job, nowMs);
  const verdict = verdictOf(job, pods, nowMs);
  const isOver = verdict !== null || job.spec.suspend === true;
  const { writes, wakeAtMs } = isOver ? { writes: ended(job, pods), wakeAtMs: null } : jobPods(job, pods, nowMs);
  const { startTime } = job.status ?? {};
  const deadlineMs = job.spec.activeDeadlineSeconds && secondsAfter(startTime, job.spec.activeDeadlineSeconds);
  return {
    writes: [
      ...writes,
      ...statusWrites(JOBS, job, jobStatus(job, pods, verdict, nowMs)),
      ...(verdict ? [verdictEvent(job, verdict.type, verdict.reason, verdict.message)] : []),
    ],
    wakeAtMs: earliest(wakeAtMs, deadlineMs || null),
  };
}

/** A finished Job with a time to live deletes itself. */
function stepDone(job: Job, nowMs: number): Outcome {
  const { ttlSecondsAfterFinished } = job.spec;
  if (ttlSecondsAfterFinished === undefined) return NOTHING;
  const end = job.status?.conditions?.find(
    ({ type, status }) => status === "True" && ["Complete", "Failed"].includes(type),
  );
  const dueMs = secondsAfter(end?.lastTransitionTime, ttlSecondsAfterFinished) ?? nowMs;
  return nowMs < dueMs
    ? { writes: [], wakeAtMs: dueMs }
    : { writes: [deletion(JOBS, job, "Foreground")], wakeAtMs: null };
}

const ended = (job: Job, pods: readonly Pod[]): Write[] =>
  pods
    .filter(isActive)
    .flatMap((pod) => [
      deletion("pods", pod),
      normal(SOURCE, job, "SuccessfulDelete", `Deleted pod: ${pod.metadata.name}`),
    ]);

const verdictEvent = (job: Job, type: "Complete" | "Failed", reason: string, message: string): Write =>
  type === "Complete" ? normal(SOURCE, job, "Completed", "Job completed") : warning(SOURCE, job, reason, message);
