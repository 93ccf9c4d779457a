import type { Logger } from "pino";
import { announceExpiringTokens } from "../accounts/token-expiry.store.ts";
import { failOverdueDeployments } from "../apps/deployment.store.ts";
import type { Bus } from "../bus/bus.ts";
import type { Clock } from "../clock.ts";
import type { CloudProviders } from "../cloud/provider.ts";
import { endAbandoned } from "../clusters/abandonment.runner.ts";
import type { AgentTokens } from "../clusters/agent-token.adapter.ts";
import { hubClusters } from "../clusters/hub-clusters.runner.ts";
import { type Config, originOf } from "../config.ts";
import type { Queries } from "../database/transaction.ts";
import { announceLapsed } from "../hub/connection-status.runner.ts";
import type { OperatorRequests } from "../hub/operator-requests.ts";
import { startUpkeep } from "../jobs/upkeep.store.ts";
import { startWorker } from "../jobs/worker.runner.ts";
import { markUnconfirmed } from "../projects/confirmation.store.ts";
import { settleWaiting } from "../provisioning/bootstrap-wait.runner.ts";
import { failAbandoned, type ProvisionerSettings, provisioningHandler } from "../provisioning/provisioning.runner.ts";
import { PROVISIONING_KIND } from "../provisioning/provisioning.ts";
import { taskHandlers } from "../tasks/task.ts";
import { createStateBackend } from "../tofu/state-backend.adapter.ts";
import type { Vault } from "../vault/vault.ts";

interface Ports {
  readonly db: Queries;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly log: Logger;
  readonly agentTokens: AgentTokens;
  readonly operators: OperatorRequests;
  readonly vault: Vault;
  /** The clouds in which clusters can be made; null leaves provisioning jobs to other workers. */
  readonly clouds: CloudProviders | null;
}

/** Starts the worker, which runs jobs and periodic chores; returns a function that stops it. */
export function startWorkerRole(ports: Ports, config: Config): () => Promise<void> {
  const { db, bus, clock, log, agentTokens, operators, clouds } = ports;
  const workers = [startWorker({ db, bus, log, handlers: taskHandlers(operators) })];
  if (clouds) {
    const provisioner = { ...ports, clouds, backend: createStateBackend() };
    const handlers = { [PROVISIONING_KIND]: provisioningHandler(provisioner, provisionerSettings(config)) };
    // A worker of its own: jobs of minutes must not hold up those of seconds.
    workers.push(startWorker({ db, bus, log, handlers, concurrency: config.tofuParallel }));
  }
  const confirmation = { db, bus, clock, withinSeconds: config.projectConfirmSeconds };
  const clusters = hubClusters(db, agentTokens, clock);
  const chores = [
    { name: "unconfirmed projects", run: () => markUnconfirmed(confirmation) },
    { name: "expiring CLI tokens", run: () => announceExpiringTokens({ db, bus, clock, log }) },
    { name: "deployments", run: () => failOverdueDeployments({ db, bus, clock, log }) },
    { name: "sessions of operators", run: () => announceLapsed({ db, bus, clock, clusters }) },
    { name: "abandoned clusters", run: () => endAbandoned({ db, bus, clock }) },
    { name: "provisioning jobs", run: () => failAbandoned({ db, bus, clock }) },
    { name: "booting machines", run: () => settleWaiting({ db, bus, clock }, config.bootstrapTimeoutMinutes) },
  ];
  const upkeep = startUpkeep({ db, clock, log, chores });
  return async () => {
    await upkeep.stop();
    const [tasks, provisioning] = workers;
    // OpenTofu is asked at once to save its state, because it takes longer than a drain.
    await Promise.all([tasks?.stop(config.drainTimeoutMs), provisioning?.stop(0)]);
  };
}

/** The variables with which a program reaches the network from where the worker runs. */
const NETWORK_VARIABLES = ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"];

function provisionerSettings(config: Config): ProvisionerSettings {
  const network = NETWORK_VARIABLES.flatMap((name) => {
    const value = process.env[name] ?? process.env[name.toLowerCase()];
    return value ? [[name, value] as const] : [];
  });
  return {
    program: config.tofu,
    searchPath: process.env["PATH"] ?? "",
    network: Object.fromEntries(network),
    cliConfigFile: config.tofuConfigFile,
    pluginCacheFolder: config.tofuPluginCache,
    timeoutMinutes: config.provisioningTimeoutMinutes,
    bootstrapMinutes: config.bootstrapTimeoutMinutes,
    graceMs: config.tofuGraceMs,
    publicUrl: config.publicUrl ?? originOf({ address: config.host, port: config.port }),
    adminRanges: config.clusterAdminRanges,
  };
}
