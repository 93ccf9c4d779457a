import type { Logger } from "pino";
import { announceExpiringTokens } from "../accounts/token-expiry.store.ts";
import { failOverdueDeployments } from "../apps/deployment.store.ts";
import { keepAuditLog } from "../audit/audit.store.ts";
import type { Bus } from "../bus/bus.ts";
import type { Catalog } from "../catalog/catalog.adapter.ts";
import type { Clock } from "../clock.ts";
import type { CloudProviders } from "../cloud/provider.ts";
import { endAbandoned, startDetaching } from "../clusters/abandonment.runner.ts";
import type { AgentTokens } from "../clusters/agent-token.adapter.ts";
import { hubClusters } from "../clusters/hub-clusters.runner.ts";
import { type Config, originOf, schemeOf } from "../config.ts";
import type { Queries } from "../database/transaction.ts";
import { dispatchedKinds } from "../dispatched-kinds.ts";
import { pruneEventLog } from "../events/event-log.store.ts";
import type { GitAccess } from "../gitops/git-access.ts";
import { SYNC_KIND } from "../gitops/outbox.ts";
import { gitopsHandler, wakeGitops } from "../gitops/sync.runner.ts";
import type { Metrics } from "../http/request-metrics.adapter.ts";
import { announceLapsed } from "../hub/connection-status.runner.ts";
import type { OperatorRequests } from "../hub/operator-requests.ts";
import { type Chore, startUpkeep } from "../jobs/upkeep.store.ts";
import { startWorker } from "../jobs/worker.runner.ts";
import { addBacklogGauges } from "../metrics/metrics.adapter.ts";
import { operatorUpgradeHandler } from "../operator-upgrades/operator-upgrade.runner.ts";
import { OPERATOR_UPGRADE_KIND } from "../operator-upgrades/operator-upgrade.ts";
import { markUnconfirmed } from "../projects/confirmation.store.ts";
import { settleWaiting } from "../provisioning/bootstrap-wait.runner.ts";
import { failAbandoned, type ProvisionerSettings, provisioningHandler } from "../provisioning/provisioning.runner.ts";
import { PROVISIONING_KINDS } from "../provisioning/provisioning.ts";
import { taskHandlers } from "../tasks/task.ts";
import { createStateBackend } from "../tofu/state-backend.adapter.ts";
import type { Vault } from "../vault/vault.ts";

interface Ports {
  readonly db: Queries;
  /** Of the job queue alone. */
  readonly queueDb: Queries;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly log: Logger;
  readonly agentTokens: AgentTokens;
  readonly operators: OperatorRequests;
  readonly vault: Vault;
  readonly catalog: Catalog;
  readonly git: GitAccess;
  readonly metrics: Metrics;
  /** The clouds in which clusters can be made; null leaves provisioning jobs to other workers. */
  readonly clouds: CloudProviders | null;
}

/** Starts the worker, which runs jobs and periodic chores; returns a function that stops it. */
export function startWorkerRole(ports: Ports, config: Config): () => Promise<void> {
  const { db, queueDb, bus, clock, log, agentTokens, operators, clouds } = ports;
  addBacklogGauges(ports.metrics, db);
  const workers = [
    startWorker({
      db,
      queueDb,
      bus,
      log,
      handlers: { ...taskHandlers(operators), [OPERATOR_UPGRADE_KIND]: operatorUpgradeHandler(ports) },
    }),
  ];
  const gitopsPorts = { ...ports, kindsWith: (vault: Vault) => dispatchedKinds(vault, ports.catalog) };
  // A worker of its own as well: a host that hangs takes a minute.
  workers.push(startWorker({ db, queueDb, bus, log, handlers: { [SYNC_KIND]: gitopsHandler(gitopsPorts) } }));
  if (clouds) {
    const provisioner = { ...ports, clouds, backend: createStateBackend(), random: Math.random };
    const handler = provisioningHandler(provisioner, provisionerSettings(config));
    const handlers = Object.fromEntries(PROVISIONING_KINDS.map((kind) => [kind, handler]));
    // A worker of its own: jobs of minutes must not hold up those of seconds.
    workers.push(startWorker({ db, queueDb, bus, log, handlers, concurrency: config.tofuParallel }));
  }
  const confirmation = { db, bus, clock, withinSeconds: config.projectConfirmSeconds };
  const clusters = hubClusters(db, agentTokens, clock);
  const chores: Chore[] = [
    { name: "unconfirmed projects", run: () => markUnconfirmed(confirmation) },
    { name: "expiring CLI tokens", run: () => announceExpiringTokens({ db, bus, clock, log }) },
    { name: "deployments", run: () => failOverdueDeployments({ db, bus, clock, log }) },
    { name: "sessions of operators", run: () => announceLapsed({ db, bus, clock, clusters }) },
    { name: "abandoned clusters", run: () => endAbandoned({ db, bus, clock }) },
    { name: "the audit log", isLong: true, run: (stop) => keepAuditLog(db, config.auditRetentionDays, stop) },
    { name: "the event log", run: () => pruneEventLog(db) },
    { name: "provisioning jobs", run: () => failAbandoned({ db, bus, clock }) },
    { name: "Git repositories", run: () => wakeGitops({ db, bus, clock }) },
    { name: "booting machines", run: () => settleWaiting({ db, bus, clock }, config.bootstrapTimeoutMinutes) },
  ];
  const upkeep = startUpkeep({ db, log, chores });
  const detaching = startDetaching({ db, bus, clock, operators, log });
  return async () => {
    await Promise.all([upkeep.stop(), detaching.stop()]);
    const [tasks, gitops, provisioning] = workers;
    // OpenTofu is asked at once to save its state, because it takes longer than a drain.
    await Promise.all([...[tasks, gitops].map((worker) => worker?.stop(config.drainTimeoutMs)), provisioning?.stop(0)]);
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
    publicUrl: config.publicUrl ?? originOf({ address: config.host, port: config.port }, schemeOf(config)),
    adminRanges: config.clusterAdminRanges,
  };
}
