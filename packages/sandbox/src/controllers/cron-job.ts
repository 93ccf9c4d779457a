import type { Labels } from "@binnacle/contract";
import type { KubeObject } from "../store/kube-object.ts";
import { type Controller, NOTHING, type Outcome, placeOf, type Write } from "./control.ts";
import { lastRunMs, nextRunMs, type Schedule, scheduleOf } from "./cron-schedule.ts";
import { isDone, JOBS, type Job } from "./job.ts";
import { controlled, controllersConcerned, ownedBy } from "./owners.ts";
import { isDeleting, isTrue } from "./pod.ts";
import { deletion, msOf, normal, present, stampOf, statusWrites, warning } from "./writes.ts";

export interface CronJob extends KubeObject {
  readonly spec: {
    readonly schedule: string;
    readonly suspend?: boolean;
    readonly startingDeadlineSeconds?: number;
    readonly concurrencyPolicy?: "Allow" | "Forbid" | "Replace";
    readonly successfulJobsHistoryLimit?: number;
    readonly failedJobsHistoryLimit?: number;
    readonly jobTemplate: {
      readonly metadata?: { readonly labels?: Labels; readonly annotations?: Labels };
      readonly spec: Job["spec"];
    };
  };
  readonly status?: {
    readonly lastScheduleTime?: string;
    readonly lastSuccessfulTime?: string;
    readonly active?: readonly Readonly<Record<string, unknown>>[];
  };
}

const CRON_JOBS = "cronjobs.batch";
const SOURCE = "cronjob-controller";
const MINUTE_MS = 60_000;

export const cronJobs: Controller = {
  name: "cronjob",
  concerns(change) {
    if (change.resource === CRON_JOBS) return change.type === "DELETED" ? [] : [placeOf(CRON_JOBS, change.object)];
    return change.resource === JOBS ? controllersConcerned(change, "CronJob", CRON_JOBS) : [];
  },
  step({ name, namespace }, view, nowMs) {
    const cron = view.get(CRON_JOBS, name, namespace) as CronJob | null;
    return cron ? stepCronJob(cron, controlled(view, cron, JOBS) as readonly Job[], nowMs) : NOTHING;
  },
};

export function stepCronJob(cron: CronJob, jobs: readonly Job[], nowMs: number): Outcome {
  if (isDeleting(cron)) return NOTHING;
  const schedule = scheduleOf(cron.spec.schedule);
  if (!schedule) {
    const message = `unparseable schedule: ${cron.spec.schedule}`;
    return { writes: [warning(SOURCE, cron, "UnparseableSchedule", message)], wakeAtMs: null };
  }
  const active = jobs.filter((job) => !isDone(job) && !isDeleting(job));
  const dueMs = cron.spec.suspend ? null : dueRunMs(cron, schedule, nowMs);
  const { writes, startedMs, stopped } = dueMs === null ? NO_RUN : run(cron, active, dueMs, nowMs);
  const status = statusOf(
    cron,
    jobs,
    active.filter((job) => !stopped.includes(job)),
    startedMs,
  );
  return {
    writes: [...writes, ...statusWrites(CRON_JOBS, cron, status), ...forgotten(cron, jobs)],
    wakeAtMs: cron.spec.suspend ? null : nextRunMs(schedule, nowMs),
  };
}

interface Run {
  readonly writes: readonly Write[];
  /** The time that counts as done; null while it still may be done. */
  readonly startedMs: number | null;
  readonly stopped: readonly Job[];
}

const NO_RUN: Run = { writes: [], startedMs: null, stopped: [] };

/** The newest time that has come since the last run; earlier ones that were missed are not made up for. */
function dueRunMs(cron: CronJob, schedule: Schedule, nowMs: number): number | null {
  const { lastScheduleTime } = cron.status ?? {};
  const sinceMs = msOf(lastScheduleTime) ?? msOf(cron.metadata.creationTimestamp) ?? nowMs;
  const deadlineMs = cron.spec.startingDeadlineSeconds;
  const earliestMs = deadlineMs === undefined ? sinceMs : Math.max(sinceMs, nowMs - deadlineMs * 1_000 - 1);
  return lastRunMs(schedule, nowMs, earliestMs);
}

function run(cron: CronJob, active: readonly Job[], dueMs: number, nowMs: number): Run {
  const { concurrencyPolicy = "Allow" } = cron.spec;
  if (concurrencyPolicy === "Forbid" && active.length > 0) {
    const message = "Not starting job because prior execution is running and concurrency policy is Forbid";
    return { ...NO_RUN, writes: [normal(SOURCE, cron, "JobAlreadyActive", message)] };
  }
  const stopped = concurrencyPolicy === "Replace" ? active : [];
  const name = `${cron.metadata.name}-${Math.floor(dueMs / MINUTE_MS)}`;
  return {
    writes: [
      ...stopped.map((job) => deletion(JOBS, job, "Background")),
      { verb: "create", resource: JOBS, object: newJob(cron, name, dueMs) },
      normal(SOURCE, cron, "SuccessfulCreate", `Created job ${name}`),
    ],
    startedMs: Math.min(dueMs, nowMs),
    stopped,
  };
}

function newJob(cron: CronJob, name: string, dueMs: number) {
  const { metadata = {}, spec } = cron.spec.jobTemplate;
  const scheduled = { "batch.kubernetes.io/cronjob-scheduled-timestamp": stampOf(dueMs) };
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: present({
      name,
      namespace: cron.metadata.namespace,
      labels: metadata.labels,
      annotations: { ...metadata.annotations, ...scheduled },
      ownerReferences: [ownedBy(cron)],
    }),
    spec,
  };
}

function statusOf(cron: CronJob, jobs: readonly Job[], active: readonly Job[], startedMs: number | null) {
  const ends = jobs.filter((job) => isTrue(job, "Complete")).map(({ status }) => status?.completionTime ?? "");
  const lastSuccess = [cron.status?.lastSuccessfulTime ?? "", ...ends].sort().at(-1);
  const references = active.map(({ apiVersion, kind, metadata }) =>
    present({
      apiVersion,
      kind,
      name: metadata.name,
      namespace: metadata.namespace,
      uid: metadata.uid,
      resourceVersion: undefined,
    }),
  );
  return present({
    active: references.length > 0 ? references : undefined,
    lastScheduleTime: startedMs === null ? cron.status?.lastScheduleTime : stampOf(startedMs),
    lastSuccessfulTime: lastSuccess || undefined,
  });
}

/** Of runs that have ended the newest are kept. */
function forgotten({ spec }: CronJob, jobs: readonly Job[]): Write[] {
  const beyond = (ended: string, most: number) =>
    jobs
      .filter((job) => isTrue(job, ended) && !isDeleting(job))
      .sort((a, b) => (a.metadata.creationTimestamp ?? "").localeCompare(b.metadata.creationTimestamp ?? ""))
      .slice(0, -most || undefined);
  return [
    ...beyond("Complete", spec.successfulJobsHistoryLimit ?? 3),
    ...beyond("Failed", spec.failedJobsHistoryLimit ?? 1),
  ].map((job) => deletion(JOBS, job, "Background"));
}
