import { openTracer } from "@binnacle/tracing";
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import { refuseDefaultPasswords } from "./accounts/default-password.store.ts";
import { createPasswords, type Passwords } from "./accounts/password.adapter.ts";
import { connectRedisBus, createMemoryBus } from "./bus/bus.adapter.ts";
import type { Bus } from "./bus/bus.ts";
import { connectRedisCache, NO_SHARED_CACHE } from "./bus/shared-cache.adapter.ts";
import { type Catalog, loadCatalog } from "./catalog/catalog.adapter.ts";
import type { Clock } from "./clock.ts";
import { awsProvider } from "./cloud/aws.adapter.ts";
import type { CloudProviders } from "./cloud/provider.ts";
import { createAgentTokens } from "./clusters/agent-token.adapter.ts";
import { type Config, hasSandbox, listeningPort, metricsAddress } from "./config.ts";
import { type Address, connect, type Database } from "./database/connection.adapter.ts";
import { startEmbeddedPostgres } from "./database/embedded/embedded.adapter.ts";
import { migrate } from "./database/migrate.ts";
import { acceptedHosts } from "./http/addressed-host.ts";
import { registerHealth, registerMetrics } from "./http/health.routes.ts";
import { createMetrics, type Metrics } from "./http/request-metrics.adapter.ts";
import { createHttpServer } from "./http/server.adapter.ts";
import { operatorRequests } from "./hub/operator-requests.runner.ts";
import { hubConnections } from "./hub/pacing.ts";
import type { LiveSessions } from "./hub/ports.ts";
import { startRequestRouter } from "./hub/request-router.runner.ts";
import { resolveKeys } from "./local-secrets.adapter.ts";
import { startApiRole } from "./roles/api.ts";
import { startHubRole } from "./roles/hub.ts";
import { startWorkerRole } from "./roles/worker.ts";
import { startSandboxProcess } from "./sandbox/sandbox.adapter.ts";
import { seed } from "./seed.store.ts";
import { createVault } from "./vault/vault.ts";
import type { SandboxState } from "./welcome.ts";

export interface ControlPlane {
  /** The address that it listens on. */
  readonly url: string;
  /** The address of `/metrics` when that has a port of its own, else null. */
  readonly metricsUrl: string | null;
  /** Carries hints between this process and the other replicas. */
  readonly bus: Bus;
  /** Resolves when the sandbox is connected, at the latest after this time; null where the control plane stops meanwhile. */
  sandboxSettled(withinMs: number): Promise<SandboxState | null>;
  stop(): Promise<void>;
}

interface Surroundings {
  readonly log: Logger;
  readonly clock?: Clock;
  /** The clouds in which clusters are made and whose credentials are checked; those that Binnacle knows, unless given. */
  readonly clouds?: CloudProviders;
  /** The shipped catalog, unless the caller has read one already. */
  readonly catalog?: Catalog;
  /** Hashes at the recommended cost, unless the caller brings its own. */
  readonly passwords?: Passwords;
  /** False leaves provisioning jobs to other workers. */
  readonly provisions?: boolean;
  /** Called when the embedded database is lost for good and the process has nothing left to do. */
  readonly onLost?: (error: Error) => void;
}

const CLOUDS: CloudProviders = { aws: awsProvider() };

/**
 * Connections that the kernel holds until they are accepted; it may allow fewer. With the default of 511, thousands of
 * operators that come back at once were dropped, and repeated their first packet after seconds.
 */
const BACKLOG = 4_096;

/** Configuration in, a running control plane out. What was started is stopped again, last first, also when a step fails. */
export async function startControlPlane(
  config: Config,
  { log, clock = () => new Date(), onLost, clouds = CLOUDS, provisions = true, ...given }: Surroundings,
): Promise<ControlPlane> {
  const started: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const stopOne of started.splice(0).reverse()) await stopOne();
  };
  try {
    const { tracesEndpoint: endpoint, build: version } = config;
    const tracer = await openTracer({ endpoint, service: "binnacle", version, log });
    // It is stopped last, so that it sends the spans of everything else.
    if (tracer) started.push(() => tracer.stop());
    const keys = await resolveKeys(config.secrets, config.dataDir);
    const catalog = given.catalog ?? (await loadCatalog());
    const open = await reachDatabase(config, log, onLost, started);
    const forHub = hubConnections(config.databasePoolSize, config.roles);
    // The API reads places over a connection beside its pool.
    const forPlaces = config.roles.includes("api") ? 1 : 0;
    const poolSize = config.databasePoolSize - forHub - forPlaces;
    const database = open(poolSize);
    const { kysely: db } = database;
    const passwords = given.passwords ?? (await createPasswords());
    const applied = await migrate(db);
    if (applied.length > 0) log.info({ applied }, "database migrated");
    await seed(db, passwords, config, clock);
    if (config.environment !== "local") await refuseDefaultPasswords(db, passwords);

    const bus: Bus = config.secrets.redisUrl ? connectRedisBus(config.secrets.redisUrl, log) : createMemoryBus(log);
    started.push(() => bus.close());
    const vault = createVault(keys.vaultKeys);
    const agentTokens = await createAgentTokens(keys.signingKey, clock);

    const hubHere: { sessions: LiveSessions | null } = { sessions: null };
    const router = startRequestRouter({ db, bus, clock, local: { find: (id) => hubHere.sessions?.find(id) ?? null } });
    started.push(async () => router.stop());
    const operators = operatorRequests(router);
    const ports = { db, bus, clock, log, catalog, vault, agentTokens, passwords, operators };

    const metrics = createMetrics();
    const app = await createHttpServer({ ...config, acceptsHost: acceptedHosts(config), log, metrics, tracer });
    registerHealth(app, database.pool);
    const apart = metricsAddress(config);
    const metricsUrl = apart ? await serveMetrics(apart, config, log, metrics, started) : null;
    if (!metricsUrl) registerMetrics(app, metrics);
    if (config.roles.includes("api")) {
      const { redisUrl } = config.secrets;
      const sharedCache = redisUrl ? connectRedisCache(redisUrl, log) : NO_SHARED_CACHE;
      started.push(() => sharedCache.close());
      const apiPorts = { ...ports, database, clouds, sharedCache, signingKey: keys.signingKey };
      started.push(await startApiRole(app, apiPorts, config));
    }
    const url = await app.listen({ host: config.host, port: listeningPort(config).port, backlog: BACKLOG });
    started.push(() => drain(app, config.drainTimeoutMs));
    if (config.roles.includes("hub")) {
      const hubDb = forHub > 0 ? open(forHub).kysely : db;
      const connections = forHub > 0 ? forHub : poolSize;
      const hub = startHubRole({ ...ports, server: app.server, db: hubDb, connections, tracer }, config);
      hubHere.sessions = hub.sessions;
      started.push(() => hub.stop());
    }
    // It is stopped before the hub: a job that waits for an operator is given back, and does not fail because the hub is gone.
    if (config.roles.includes("worker"))
      started.push(startWorkerRole({ ...ports, clouds: provisions ? clouds : null }, config));
    const sandbox = hasSandbox(config)
      ? await startSandboxProcess({ db, clock, log, tokens: agentTokens, url, ...config })
      : null;
    if (sandbox) started.push(() => sandbox.stop());
    const sandboxSettled = async (withinMs: number): Promise<SandboxState | null> => {
      if (!sandbox) return hasSandbox(config) ? "deleted" : "none";
      return sandbox.settled(() => hubHere.sessions?.find(sandbox.clusterId) != null, withinMs);
    };
    return { url, metricsUrl, bus, sandboxSettled, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function serveMetrics(
  address: { readonly host: string; readonly port: number },
  config: Config,
  log: Logger,
  metrics: Metrics,
  started: (() => Promise<void>)[],
): Promise<string> {
  const app = await createHttpServer({ ...config, corsOrigins: [], acceptsHost: () => true, log, metrics });
  registerMetrics(app, metrics);
  const url = await app.listen(address);
  started.push(() => drain(app, config.drainTimeoutMs));
  log.info({ url: `${url}/metrics` }, "metrics are served apart");
  return url;
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
