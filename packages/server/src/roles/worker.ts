import type { Logger } from "pino";
import { announceExpiringTokens } from "../accounts/token-expiry.store.ts";
import { failOverdueDeployments } from "../apps/deployment.store.ts";
import type { Bus } from "../bus/bus.ts";
import type { Clock } from "../clock.ts";
import type { AgentTokens } from "../clusters/agent-token.adapter.ts";
import { hubClusters } from "../clusters/hub-clusters.runner.ts";
import type { Config } from "../config.ts";
import type { Queries } from "../database/transaction.ts";
import { announceLapsed } from "../hub/connection-status.runner.ts";
import type { OperatorRequests } from "../hub/operator-requests.ts";
import { startUpkeep } from "../jobs/upkeep.store.ts";
import { startWorker } from "../jobs/worker.runner.ts";
import { markUnconfirmed } from "../projects/confirmation.store.ts";
import { taskHandlers } from "../tasks/task.ts";

interface Ports {
  readonly db: Queries;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly log: Logger;
  readonly agentTokens: AgentTokens;
  readonly operators: OperatorRequests;
}

/** Starts the worker, which runs jobs and periodic chores; returns a function that stops it. */
export function startWorkerRole(
  { db, bus, clock, log, agentTokens, operators }: Ports,
  config: Config,
): () => Promise<void> {
  const worker = startWorker({ db, bus, log, handlers: taskHandlers(operators) });
  const confirmation = { db, bus, clock, withinSeconds: config.projectConfirmSeconds };
  const clusters = hubClusters(db, agentTokens, clock);
  const chores = [
    { name: "unconfirmed projects", run: () => markUnconfirmed(confirmation) },
    { name: "expiring CLI tokens", run: () => announceExpiringTokens({ db, bus, clock, log }) },
    { name: "deployments", run: () => failOverdueDeployments({ db, bus, clock, log }) },
    { name: "sessions of operators", run: () => announceLapsed({ db, bus, clock, clusters }) },
  ];
  const upkeep = startUpkeep({ db, clock, log, chores });
  return async () => {
    await upkeep.stop();
    await worker.stop(config.drainTimeoutMs);
  };
}
