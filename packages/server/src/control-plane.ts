import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import { sightStore } from "./access/sight.store.ts";
import { createPasswords } from "./accounts/password.adapter.ts";
import { createTokens } from "./accounts/tokens.ts";
import { failOverdueDeployments } from "./apps/overdue.store.ts";
import type { Bus } from "./bus/bus.ts";
import { createMemoryBus } from "./bus/memory.adapter.ts";
import { connectRedisBus } from "./bus/redis.adapter.ts";
import { loadCatalog } from "./catalog/catalog.adapter.ts";
import { loadOperatorChart } from "./charts/chart.adapter.ts";
import { registerCharts } from "./charts/chart.routes.ts";
import { type Clock, systemClock } from "./clock.ts";
import { createAgentTokens } from "./clusters/agent-token.ts";
import { type Config, listeningPort } from "./config.ts";
import { type Address, connect, type Database } from "./database/connection.adapter.ts";
import { startEmbeddedPostgres } from "./database/embedded/embedded.adapter.ts";
import { migrate } from "./database/migrate.ts";
import { accessOfSessions } from "./events/access.store.ts";
import { startBroadcast } from "./events/broadcast.ts";
import { registerDocumentation } from "./http/documentation.ts";
import { registerHealth } from "./http/health.ts";
import { createMetrics } from "./http/metrics.ts";
import { openApiDocument } from "./http/openapi.ts";
import { API_BASE, createHttpServer, registerApi } from "./http/server.ts";
import { startAsking } from "./hub/asking.store.ts";
import { createBodySource } from "./hub/bodies.store.ts";
import { announceLapsed } from "./hub/connection-status.store.ts";
import { startHub } from "./hub/hub.adapter.ts";
import type { LiveSessions } from "./hub/ports.ts";
import { createReportSink } from "./hub/reports.store.ts";
import { operatorRequests } from "./hub/requests.ts";
import { startSwitchboard } from "./hub/switchboard.ts";
import { startUpkeep } from "./jobs/upkeep.ts";
import { startWorker } from "./jobs/worker.ts";
import { resolveKeys } from "./local-secrets.adapter.ts";
import { markUnconfirmed } from "./projects/confirmation.store.ts";
import { apiRoutes } from "./routes.ts";
import { hasSandbox } from "./sandbox/has-sandbox.ts";
import { startSandboxProcess } from "./sandbox/sandbox.adapter.ts";
import { seed } from "./seed.ts";
import { taskHandlers } from "./tasks/task.jobs.ts";
import { createVault } from "./vault/vault.ts";

export interface ControlPlane {
  /** Where it listens. */
  readonly url: string;
  /** What it hears and says beside its answers. */
  readonly bus: Bus;
  stop(): Promise<void>;
}

interface Surroundings {
  readonly log: Logger;
  readonly clock?: Clock;
  /** Called when the embedded database is lost for good and the process has nothing left to do. */
  readonly onLost?: (error: Error) => void;
}

/** Of the connections to the database: in one line with requests, a busy API would hold up what clusters are told. */
const HUB_SHARE = 1 / 4;

/** Configuration in, a running control plane out. What was started is stopped again, last first, also when a step fails. */
export async function startControlPlane(
  config: Config,
  { log, clock = systemClock, onLost }: Surroundings,
): Promise<ControlPlane> {
  const started: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const stopOne of started.splice(0).reverse()) await stopOne();
  };
  try {
    const keys = await resolveKeys(config.secrets, config.dataDir);
    const catalog = await loadCatalog();
    const open = await reachDatabase(config, log, onLost, started);
    const forHub = config.roles.includes("hub") ? Math.floor(config.databasePoolSize * HUB_SHARE) : 0;
    const database = open(config.databasePoolSize - forHub);
    const db = database.kysely;
    const passwords = await createPasswords();
    const applied = await migrate(db);
    if (applied.length > 0) log.info({ applied }, "database migrated");
    await seed(db, passwords, config, clock);

    const bus: Bus = config.secrets.redisUrl ? connectRedisBus(config.secrets.redisUrl, log) : createMemoryBus(log);
    started.push(() => bus.close());

    const hubHere: { sessions: LiveSessions | null } = { sessions: null };
    const asking = startAsking({ db, bus, clock, local: { find: (id) => hubHere.sessions?.find(id) ?? null } });
    started.push(async () => asking.stop());
    const operators = operatorRequests(asking);

    if (config.roles.includes("worker")) {
      const worker = startWorker({ db, bus, log, handlers: taskHandlers(operators) });
      const confirmation = { db, bus, clock, withinSeconds: config.projectConfirmSeconds };
      const chores = [
        { name: "unconfirmed projects", run: () => markUnconfirmed(confirmation) },
        { name: "deployments", run: () => failOverdueDeployments({ db, bus, clock }) },
        { name: "sessions of operators", run: () => announceLapsed({ db, bus, clock }) },
      ];
      const upkeep = startUpkeep({ db, clock, log, chores });
      started.push(
        () => worker.stop(config.drainTimeoutMs),
        () => upkeep.stop(),
      );
    }

    const metrics = createMetrics();
    const app = await createHttpServer({ ...config, log, metrics });
    registerHealth(app, metrics, database.pool);
    const agentTokens = await createAgentTokens(keys.signingKey, clock);
    const vault = createVault(keys.vaultKeys);
    if (config.roles.includes("api")) {
      const tokens = await createTokens(keys.signingKey, clock);
      const operatorChart = await loadOperatorChart();
      const broadcast = startBroadcast({ bus, clock, log, accessOf: accessOfSessions(db) });
      started.push(async () => broadcast.stop());
      const ports = {
        db,
        bus,
        clock,
        tokens,
        passwords,
        catalog,
        vault,
        agentTokens,
        operatorChart,
        sights: sightStore(database.pool),
        broadcast,
        operators,
      };
      const routes = apiRoutes(ports, config);
      registerApi(app, routes, ports);
      registerCharts(app, operatorChart);
      const document = openApiDocument(routes, { serverUrl: API_BASE });
      await registerDocumentation(app, API_BASE, document, config.environment, ports);
    }
    const url = await app.listen({ host: config.host, port: listeningPort(config).port });
    started.push(() => drain(app, config.drainTimeoutMs));
    if (config.roles.includes("hub")) {
      const hubDb = forHub > 0 ? open(forHub).kysely : db;
      const hub = startHub({
        server: app.server,
        db: hubDb,
        bus,
        clock,
        log,
        tokens: agentTokens,
        bodies: createBodySource({ db: hubDb, vault, catalog, log }),
        reports: createReportSink({ db: hubDb, bus, clock, catalog }),
      });
      const switchboard = startSwitchboard(hub.id, hub.sessions, bus);
      hubHere.sessions = hub.sessions;
      started.push(
        () => hub.stop(config.drainTimeoutMs),
        async () => switchboard.stop(),
      );
    }
    if (hasSandbox(config)) {
      const sandbox = await startSandboxProcess({ db, clock, log, tokens: agentTokens, dataDir: config.dataDir, url });
      if (sandbox) started.push(() => sandbox.stop());
    }
    return { url, bus, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Gives as many pools of connections as are asked for. */
async function reachDatabase(
  config: Config,
  log: Logger,
  onLost: Surroundings["onLost"],
  started: (() => Promise<void>)[],
): Promise<(poolSize: number) => Database> {
  const address = config.secrets.databaseUrl
    ? { url: config.secrets.databaseUrl }
    : await startEmbedded(config, log, onLost, started);
  return (poolSize) => {
    const database = connect(address, {
      poolSize,
      onError: (error) => log.warn({ err: error }, "a database connection was lost"),
    });
    started.push(() => database.close());
    return database;
  };
}

async function startEmbedded(
  config: Config,
  log: Logger,
  onLost: Surroundings["onLost"],
  started: (() => Promise<void>)[],
): Promise<Address> {
  const embedded = await startEmbeddedPostgres({
    dataDir: config.dataDir,
    log: (message, fields) => log.info(fields ?? {}, message),
    ...(onLost ? { onLost } : {}),
  });
  started.push(() => embedded.stop());
  return embedded.connection;
}

/** Requests in flight may end; whoever is still connected after that is cut off. */
async function drain(app: FastifyInstance, timeoutMs: number): Promise<void> {
  const cutOff = setTimeout(() => app.server.closeAllConnections(), timeoutMs);
  await app.close();
  clearTimeout(cutOff);
}
