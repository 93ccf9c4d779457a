import { TASK_KINDS, type TaskKind } from "@binnacle/contract";
import type { OperatorRequests } from "../hub/operator-requests.ts";
import type { JobHandler } from "../jobs/running-job.runner.ts";
import { jobKindOf } from "./task.ts";

type Handlers = Record<TaskKind, JobHandler>;

export function taskHandlers(operators: Pick<OperatorRequests, "resync">): Record<string, JobHandler> {
  const handlers: Handlers = {
    /** Proves that the queue is served. */
    ping: { run: async () => ({ pong: true }) },
    /** Done once the operator has taken it on; what it finds comes as reports. */
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
