import { type JobStatus, TASK_KINDS, type Task, type TaskKind } from "@binnacle/contract";
import type { Caller } from "../access/caller.ts";
import { isWithin } from "../access/role.ts";
import type { OperatorRequests } from "../hub/operator-requests.ts";
import type { JobHandler } from "../jobs/running-job.runner.ts";

/** The prefix of the kinds of jobs that are tasks. Other jobs are not visible as tasks. */
const PREFIX = "task.";

export const jobKindOf = (kind: TaskKind) => `${PREFIX}${kind}`;

/** The fields of a job that its creator sees. */
export interface TaskJob {
  readonly id: string;
  readonly kind: string;
  readonly status: JobStatus;
  readonly attempts: number;
  readonly result: Record<string, unknown> | null;
  readonly error_message: string | null;
  readonly created_by: string | null;
  /** The organization of the cluster that the task is about; null for a task about nothing in particular. */
  readonly org_id: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly started_at: Date | null;
  readonly finished_at: Date | null;
}

/** A task is visible to its creator and to superusers, and to a bound CLI token if it is about a cluster of its organization. */
export function maySee(job: TaskJob, { id, isSuperuser, boundary }: Viewer): boolean {
  const isTheirs = isSuperuser || job.created_by === id;
  return job.kind.startsWith(PREFIX) && isTheirs && isWithin(boundary, { org_id: job.org_id });
}

type Viewer = Pick<Caller, "id" | "isSuperuser" | "boundary">;

export function wireTask(job: TaskJob): Task {
  return {
    id: job.id,
    kind: job.kind.slice(PREFIX.length) as TaskKind,
    status: job.status,
    attempts: job.attempts,
    result: job.result,
    error_message: job.error_message,
    created_at: job.created_at.toISOString(),
    updated_at: job.updated_at.toISOString(),
    started_at: job.started_at?.toISOString() ?? null,
    finished_at: job.finished_at?.toISOString() ?? null,
  };
}

type Handlers = Record<TaskKind, JobHandler>;

export function taskHandlers(operators: Pick<OperatorRequests, "resync">): Record<string, JobHandler> {
  const handlers: Handlers = {
    /** Shows that a worker serves the queue. */
    ping: { run: async () => ({ pong: true }) },
    /** The task is done once the operator has accepted it; the results arrive as reports. */
    resync_cluster: {
      async run({ payload }) {
        const { cluster_id } = payload as { cluster_id: string };
        await operators.resync(cluster_id);
        return { cluster_id };
      },
    },
  };
  return Object.fromEntries(TASK_KINDS.map((kind) => [jobKindOf(kind), handlers[kind]]));
}
