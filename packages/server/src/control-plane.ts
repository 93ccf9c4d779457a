import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { openTracer } from "@binnacle/tracing";
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import { refuseDefaultPasswords } from "./accounts/default-password.store.ts";
import { createPasswords, type Passwords } from "./accounts/password.adapter.ts";
import { connectRedisBus, createMemoryBus } from "./bus/bus.adapter.ts";
import type { Bus } from "./bus/bus.ts";
import { connectPostgresBus } from "./bus/postgres-bus.adapter.ts";
import { connectRedisCache, NO_SHARED_CACHE } from "./bus/shared-cache.adapter.ts";
import { type Catalog, loadCatalog } from "./catalog/catalog.adapter.ts";
import type { PeerTrust } from "./certificate-trust.adapter.ts";
import type { Clock } from "./clock.ts";
import { CLOUDS } from "./cloud/clouds.adapter.ts";
import type { CloudProviders } from "./cloud/provider.ts";
import { createAgentTokens } from "./clusters/agent-token.adapter.ts";
import { type Config, hasSandbox, listeningPort, metricsAddress, originOf, schemeOf } from "./config.ts";
import {
  type Address,
  clientConfig,
  connect,
  type Database,
  type Limits,
  ownAddress,
  QUEUE_LIMITS,
  SERVER_LIMITS,
  serverName,
} from "./database/connection.adapter.ts";
import { createDatabaseClock } from "./database/database-clock.store.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "./database/embedded/embedded.adapter.ts";
import { migrate } from "./database/migrate.ts";
import { refuseUnfitPooler } from "./database/pooler.adapter.ts";
import { isUnreachable } from "./database/transaction.ts";
import { openGitAccess } from "./gitops/git-access.adapter.ts";
import type { GitAccess } from "./gitops/git-access.ts";
import { acceptedHosts } from "./http/addressed-host.ts";
import { type Phase, registerHealth, registerMetrics } from "./http/health.routes.ts";
import { createMetrics, type Metrics } from "./http/request-metrics.adapter.ts";
import { createHttpServer } from "./http/server.adapter.ts";
import { openCertificate, type ServedCertificate } from "./http/tls.adapter.ts";
import { operatorRequests } from "./hub/operator-requests.runner.ts";
import { createPeerKey } from "./hub/peer.adapter.ts";
import type { LiveSessions } from "./hub/ports.ts";
import { startRequestRouter } from "./hub/request-router.runner.ts";
import { resolveKeys } from "./local-secrets.adapter.ts";
import { addProcessGauges } from "./metrics/metrics.adapter.ts";
import { pauseMsAfter, watchOutage } from "./outage.ts";
import { productVersion } from "./product-version.adapter.ts";
import { startApiRole } from "./roles/api.ts";
import { type ConnectionShares, connectionShares } from "./roles/connections.ts";
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
  /** Hosts and repositories of Git; those of the network, unless given. */
  readonly git?: GitAccess;
  /** The shipped catalog, unless the caller has read one already. */
  readonly catalog?: Catalog;
  /** Hashes at the recommended cost, unless the caller brings its own. */
  readonly passwords?: Passwords;
  /** False leaves provisioning jobs to other workers. */
  readonly provisions?: boolean;
  /** Called when the embedded database is lost for good and the process has nothing left to do. */
  readonly onLost?: (error: Error) => void;
}

/**
 * Connections that the kernel holds until they are accepted; it may allow fewer. With the default of 511, thousands of
 * operators that come back at once were dropped, and repeated their first packet after seconds.
 */
const BACKLOG = 4_096;

const CONNECTION_LOST = "a database connection was lost";

/** A bus that is away costs time and nothing else, so the start does not wait for longer. */
const BUS_WITHIN_MS = 5_000;

/** Configuration in, a running control plane out. What was started is stopped again, last first, also when a step fails. */
export async function startControlPlane(
  config: Config,
  { log, onLost, clouds = CLOUDS, git = openGitAccess(config), provisions = true, ...given }: Surroundings,
): Promise<ControlPlane> {
  const started: (() => Promise<void>)[] = [];
  let phase: Phase = "starting";
  const databaseClock = createDatabaseClock(log);
  const clock = given.clock ?? databaseClock.now;
  const stop = async () => {
    const delayMs = phase === "started" ? config.drainDelayMs : 0;
    phase = "stopping";
    // Nobody may be refused before the load balancers know that this process is not ready.
    if (delayMs > 0) await pause(delayMs);
    for (const stopOne of started.splice(0).reverse()) await stopOne();
  };
  try {
    const { tracesEndpoint: endpoint, build: version } = config;
    const tracer = await openTracer({ endpoint, service: "binnacle", version, log });
    // It is stopped last, so that it sends the spans of everything else.
    if (tracer) started.push(() => tracer.stop());
    const certificate = await certificateOf(config, log);
    const keys = await resolveKeys(config.secrets, config.dataDir);
    const catalog = given.catalog ?? (await loadCatalog());
    const open = await reachDatabase(config, log, onLost, started);
    const shares = connectionShares(config.databasePoolSize, config.roles);
    const database = open(shares.others);
    const { kysely: db } = database;
    const passwords = given.passwords ?? (await createPasswords());
    const bus = openBus(config, log);
    started.push(() => bus.close());
    const vault = createVault(keys.vaultKeys);
    const agentTokens = await createAgentTokens(keys.signingKey, clock);

    const hubHere: { sessions: LiveSessions | null } = { sessions: null };
    const peerKey = createPeerKey(keys.signingKey, clock);
    const local: LiveSessions = { find: (id) => hubHere.sessions?.find(id) ?? null };
    const router = startRequestRouter({ db, log, local, peerKey, trust: peerTrust(config, certificate) });
    started.push(async () => router.stop());
    const operators = operatorRequests(router);
    const ports = { db, bus, clock, log, catalog, vault, agentTokens, passwords, operators, git };

    const metrics = createMetrics();
    addProcessGauges(metrics, database.pool, await productVersion());
    const isStarted = () => phase !== "starting" && phase !== "migrating";
    const { isOutOfRoom } = open;
    const edge = { ...config, acceptsHost: acceptedHosts(config), log, metrics, tracer, isStarted, isOutOfRoom };
    const app = await createHttpServer({ ...edge, certificate, isStopping: () => phase === "stopping" });
    registerHealth(app, { phase: () => phase, pool: database.pool, bus, isOutOfRoom });
    const apart = metricsAddress(config);
    const metricsUrl = apart ? await serveMetrics(apart, config, log, metrics, started) : null;
    if (!metricsUrl) registerMetrics(app, metrics);
    if (config.roles.includes("api")) {
      const sharedCache = openSharedCache(config, log);
      started.push(() => sharedCache.close());
      const apiPorts = { ...ports, database, clouds, sharedCache, signingKey: keys.signingKey, metrics };
      started.push(await startApiRole(app, apiPorts, config));
    }
    const url = await app.listen({ host: config.host, port: listeningPort(config).port, backlog: BACKLOG });
    started.push(() => drain(app, config.drainTimeoutMs));
    // From here on probes are answered, so that a start that takes long is not taken for a process that hangs.
    phase = "migrating";
    await prepareDatabase(database, open.unbounded, config, { log, passwords, clock });
    await databaseClock.start(db);
    started.push(async () => databaseClock.stop());
    await Promise.race([bus.connected, pause(BUS_WITHIN_MS, undefined, { ref: false })]);
    if (config.roles.includes("hub")) {
      const [hubDb, connections] = shares.hub > 0 ? [open(shares.hub).kysely, shares.hub] : [db, shares.others];
      const { server } = app;
      const url = await peerUrlOf(config, server.address() as AddressInfo, database);
      const hub = startHubRole({ ...ports, metrics, server, url, peerKey, db: hubDb, connections, tracer }, config);
      hubHere.sessions = hub.sessions;
      started.push(() => hub.stop());
    }
    // It is stopped before the hub: a job that waits for an operator is given back, and does not fail because the hub is gone.
    if (config.roles.includes("worker")) {
      const workerPorts = { ...ports, ...workerDatabases(shares, open, db), metrics };
      started.push(startWorkerRole({ ...workerPorts, clouds: provisions ? clouds : null }, config));
    }
    phase = "started";
    const sandbox = hasSandbox(config)
      ? await startSandboxProcess({ db, clock, log, tokens: agentTokens, url, ...config })
      : null;
    if (sandbox) started.push(() => sandbox.stop());
    const sandboxSettled = async (withinMs: number) => settled(sandbox, config, local, withinMs);
    return { url, metricsUrl, bus, sandboxSettled, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The databases of the worker role: one for the work of the jobs, and one that renews their leases however busy that is. */
const workerDatabases = (shares: ConnectionShares, open: OpenDatabase, others: Database["kysely"]) => {
  const db = shares.worker > 0 ? open(shares.worker).kysely : others;
  return { db, queueDb: shares.queue > 0 ? open(shares.queue, QUEUE_LIMITS).kysely : db };
};

const certificateOf = async ({ tlsCertFile: certFile, tlsKeyFile: keyFile }: Config, log: Logger) =>
  certFile && keyFile ? openCertificate({ certFile, keyFile }, log) : null;

const peerTrust = ({ publicUrl }: Config, certificate: ServedCertificate | null): PeerTrust => ({
  publicHost: publicUrl && new URL(publicUrl).hostname,
  certificate: () => certificate?.current() ?? null,
});

const openSharedCache = ({ secrets: { redisUrl } }: Config, log: Logger) =>
  redisUrl ? connectRedisCache(redisUrl, log) : NO_SHARED_CACHE;

function settled(
  sandbox: Awaited<ReturnType<typeof startSandboxProcess>>,
  config: Config,
  sessions: LiveSessions,
  withinMs: number,
): Promise<SandboxState | null> | SandboxState {
  if (!sandbox) return hasSandbox(config) ? "deleted" : "none";
  return sandbox.settled(() => sessions.find(sandbox.clusterId) !== null, withinMs);
}

/**
 * A database that others can reach may have other processes at any time, so its hints are never kept in this one. The embedded
 * database has exactly one.
 */
function openBus({ secrets }: Config, log: Logger): Bus {
  const { redisUrl, databaseUrl, directDatabaseUrl } = secrets;
  if (redisUrl) return connectRedisBus(redisUrl, log);
  const url = directDatabaseUrl ?? databaseUrl;
  return url ? connectPostgresBus(clientConfig({ url }), log) : createMemoryBus(log);
}

interface Preparing {
  readonly log: Logger;
  readonly passwords: Passwords;
  readonly clock: Clock;
}

/** Waits for the database and for the migrations of a replica that has started before. */
async function prepareDatabase(
  database: Database,
  openUnbounded: OpenDatabase["unbounded"],
  config: Config,
  { log, passwords, clock }: Preparing,
): Promise<void> {
  const { kysely: db } = database;
  const outage = watchOutage(log, "the connection to the database");
  const blocked = watchOutage(log, "locking the tables of a migration");
  for (let failures = 1; ; failures += 1) {
    try {
      await refuseUnfitPooler(database);
      const applied = await migrateAlone(openUnbounded(), blocked.failed);
      outage.recovered();
      blocked.recovered();
      if (applied.length > 0) log.info({ applied }, "database migrated");
      await seed(db, passwords, config, clock);
      break;
    } catch (error) {
      if (!isUnreachable(error)) throw error;
      outage.failed(error);
      await pause(pauseMsAfter(failures));
    }
  }
  if (config.environment !== "local") await refuseDefaultPasswords(db, passwords);
}

async function migrateAlone(database: Database, onBlocked: (error: unknown) => void): Promise<string[]> {
  try {
    return await migrate(database.kysely, { onBlocked });
  } finally {
    await database.close();
  }
}

/** Where other processes reach a hub that listens there. */
async function peerUrlOf(config: Config, { address, port }: AddressInfo, database: Database): Promise<string> {
  if (config.peerUrl) return config.peerUrl;
  const isAnywhere = address === "0.0.0.0" || address === "::";
  const reachable = isAnywhere ? await ownAddress(database) : null;
  return originOf({ address: reachable ?? address, port }, schemeOf(config));
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
interface OpenDatabase {
  (poolSize: number, limits?: Limits): Database;
  /**
   * For migrations, whose statements may take long. Their lock is one of a session, which a transaction pooler would give to
   * somebody else.
   */
  unbounded(): Database;
  /** True while the built-in database does not run because its disk is full. */
  isOutOfRoom(): boolean;
}

async function reachDatabase(
  config: Config,
  log: Logger,
  onLost: Surroundings["onLost"],
  started: (() => Promise<void>)[],
): Promise<OpenDatabase> {
  const { databaseUrl, directDatabaseUrl } = config.secrets;
  const embedded = databaseUrl ? null : await startEmbedded(config, log, onLost, started);
  const address: Address = embedded?.connection ?? { url: databaseUrl ?? "" };
  const options = {
    name: serverName(await productVersion()),
    onError: (error: Error) => log.warn({ err: error }, CONNECTION_LOST),
  };
  const open = (poolSize: number, limits = SERVER_LIMITS) => {
    const database = connect(address, { ...options, poolSize, limits });
    started.push(() => database.close());
    return database;
  };
  const unbounded = () =>
    connect(directDatabaseUrl ? { url: directDatabaseUrl } : address, { ...options, poolSize: 2 });
  return Object.assign(open, { unbounded, isOutOfRoom: () => embedded?.isOutOfRoom() ?? false });
}

async function startEmbedded(
  config: Config,
  log: Logger,
  onLost: Surroundings["onLost"],
  started: (() => Promise<void>)[],
): Promise<EmbeddedPostgres> {
  const embedded = await startEmbeddedPostgres({
    dataDir: config.dataDir,
    log: (message, fields) => log.info(fields ?? {}, message),
    ...(onLost ? { onLost } : {}),
  });
  started.push(() => embedded.stop());
  return embedded;
}

/** Requests in flight may end; whoever is still connected after that is cut off. */
async function drain(app: FastifyInstance, timeoutMs: number): Promise<void> {
  const cutOff = setTimeout(() => app.server.closeAllConnections(), timeoutMs);
  await app.close();
  clearTimeout(cutOff);
}
