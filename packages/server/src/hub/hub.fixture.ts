import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { DesiredKind, OperatorFrames } from "@binnacle/contract";
import { TestClock } from "@binnacle/world/clock";
import { type FreshDatabase, freshDatabase } from "@binnacle/world/database";
import pg from "pg";
import { insertCluster } from "../access/bindings.fixture.ts";
import { createMemoryBus } from "../bus/bus.adapter.ts";
import type { Bus } from "../bus/bus.ts";
import { repositoryCredentials } from "../chart-repositories/chart-repository.store.ts";
import { type AgentTokens, createAgentTokens } from "../clusters/agent-token.adapter.ts";
import { hubClusters } from "../clusters/hub-clusters.runner.ts";
import type { Queries } from "../database/transaction.ts";
import { dispatchResources } from "../dispatch/dispatch.store.ts";
import { DISPATCH_TOPIC } from "../dispatch/dispatch.ts";
import type { PendingRow } from "../dispatch/kind.ts";
import { dispatchedKinds } from "../dispatched-kinds.ts";
import { newId } from "../id.adapter.ts";
import { listeningLog } from "../jobs/jobs.fixture.ts";
import { createVault, type Vault } from "../vault/vault.ts";
import { type Hub, type HubOptions, startHub } from "./hub.adapter.ts";
import { TestOperator } from "./operator.fixture.ts";
import type { BodySource, ReportSink } from "./ports.ts";

type Body = Awaited<ReturnType<BodySource["bodiesOf"]>> extends ReadonlyMap<PendingRow, infer B> ? B : never;

/** Hubs on a database and a bus of their own, with bodies and reports that the test decides on. */
export interface HubWorld {
  readonly db: Queries;
  readonly bus: Bus;
  readonly clock: TestClock;
  readonly tokens: AgentTokens;
  readonly log: ReturnType<typeof listeningLog>;
  readonly orgId: string;
  readonly vault: Vault;
  /** The reports that were passed on, in the order of their arrival. */
  readonly taken: OperatorFrames["status"][];
  /** Made of a row; changed by tests. */
  bodyOf: (row: PendingRow) => unknown;
  /** Runs before reports are taken. */
  beforeTake: (reports: readonly OperatorFrames["status"][]) => Promise<void>;
  start(options?: Partial<HubOptions>): Promise<RunningHub>;
  cluster(): Promise<{ readonly id: string; readonly token: string }>;
  /** Puts a resource on record for the cluster, and says so on the bus unless told otherwise. */
  raise(clusterId: string, key: string, options?: { resourceId?: string; isSilent?: boolean }): Promise<string>;
  /** Nobody gets to the database, and whoever was there is thrown out; until it is given back. */
  takeDatabaseAway(): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

export interface RunningHub {
  readonly hub: Hub;
  readonly url: string;
  connect(token: string): TestOperator;
  stop(drainTimeoutMs?: number): Promise<void>;
}

export async function hubWorld(): Promise<HubWorld> {
  const fresh: FreshDatabase = await freshDatabase();
  const db = fresh.database.kysely;
  const clock = new TestClock();
  const log = listeningLog();
  const bus = createMemoryBus(log);
  const tokens = await createAgentTokens(randomBytes(32).toString("base64url"), clock.now);
  const vault = createVault([{ id: "test", key: randomBytes(32) }]);
  const repositories = repositoryCredentials(db, vault, log);
  const times = { created_at: clock.now(), updated_at: clock.now() };
  const orgId = newId();
  await db
    .insertInto("orgs")
    .values({ id: orgId, name: orgId, slug: orgId, description: null, settings: "{}", ...times })
    .execute();
  const kinds = dispatchedKinds(createVault([{ id: "k", key: new Uint8Array(32) }]), { addons: [] });
  const running: RunningHub[] = [];
  const bodies: BodySource = {
    bodiesOf: async (rows) =>
      new Map(rows.map((row) => [row, world.bodyOf(row) as Body] as const).filter(([, body]) => body !== undefined)),
  };
  const reports: ReportSink = {
    async storeStatuses(_, given) {
      await world.beforeTake(given);
      world.taken.push(...given);
    },
    announceBuild: async () => undefined,
    storeSamples: async () => undefined,
  };

  const world: HubWorld = {
    db,
    bus,
    clock,
    tokens,
    log,
    orgId,
    vault,
    taken: [],
    bodyOf: ({ key, generation }) => ({ spec: { key, generation }, secret: {} }),
    beforeTake: async () => undefined,
    async start(options = {}) {
      const server: Server = createServer();
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const hub = startHub({
        server,
        url,
        db,
        connections: 8,
        bus,
        clock: clock.now,
        log,
        clusters: hubClusters(db, tokens, clock.now),
        kinds,
        bodies,
        reports,
        repositories,
        ...options,
      });
      let stopped: Promise<void> | null = null;
      const one: RunningHub = {
        hub,
        url,
        connect: (token) => new TestOperator(url, token),
        async stop(drainTimeoutMs = 0) {
          stopped ??= hub.stop(drainTimeoutMs).then(() => void server.close());
          await stopped;
        },
      };
      running.push(one);
      return one;
    },
    async cluster() {
      const id = await insertCluster(db, orgId);
      await db.updateTable("clusters").set({ token_version: 1 }).where("id", "=", id).execute();
      const { token } = await tokens.mint(id, 1);
      return { id, token };
    },
    async raise(clusterId, key, { resourceId = newId(), isSilent = false } = {}) {
      const kind = key.split("/")[0] as DesiredKind;
      await db
        .transaction()
        .execute((tx) => dispatchResources(tx, clusterId, [{ kind, resourceId, key }], clock.now()));
      if (!isSilent) bus.publish(DISPATCH_TOPIC, { cluster_id: clusterId });
      return resourceId;
    },
    async takeDatabaseAway() {
      const name = new URL(fresh.url).pathname.slice(1);
      const address = new URL(fresh.url);
      address.pathname = "/postgres";
      const administrator = new pg.Client({ connectionString: address.href });
      await administrator.connect();
      await administrator.query(`alter database ${name} allow_connections false`);
      await administrator.query(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);
      return async () => {
        await administrator.query(`alter database ${name} allow_connections true`);
        await administrator.end();
      };
    },
    async close() {
      for (const one of running) await one.stop();
      await bus.close();
      await fresh.drop();
    },
  };
  return world;
}
