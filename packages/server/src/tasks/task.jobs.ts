import { TASK_KINDS, type TaskKind } from "@binnacle/contract";
import type { JobHandler } from "../jobs/running-job.ts";
import { jobKindOf } from "./task.ts";

const HANDLERS: Record<TaskKind, JobHandler> = {
  /** Proves that the queue is served. */
  ping: { run: async () => ({ pong: true }) },
};

export function taskHandlers(): Record<string, JobHandler> {
  return Object.fromEntries(TASK_KINDS.map((kind) => [jobKindOf(kind), HANDLERS[kind]]));
}
