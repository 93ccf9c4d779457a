import { expect, vi } from "vitest";
import type { Client as BinnacleClient } from "../../packages/client/src/index.ts";
import { Client } from "../world/client.ts";
import { dataFolder, type Loading, type ServerProcess, startServer } from "../world/server-process.ts";
import { type SimulatedOperator, type SimulationOptions, simulateOperator } from "../world/simulated-operator.ts";
import { openGate } from "./gate.ts";
import { type Postgres, promote, startPostgres, startRedis, startReplica } from "./services.ts";

export const BACK_WITHIN_MS = 30_000;
const OPERATORS = 20;
const SOON = { timeout: 60_000, interval: 50 };

/** An operator, with how often it was connected. */
interface ConnectedOperator extends SimulatedOperator {
  readonly sessions: () => number;
}

export type Installation = Awaited<ReturnType<typeof install>>;

/** Two processes of all roles behind a load balancer, a database with a replica, and operators that are connected. */
export async function install({ withRedis = false, loading }: { withRedis?: boolean; loading?: Loading } = {}) {
  const data = await dataFolder();
  const primary = await startPostgres();
  const toDatabase = await openGate([primary.port]);
  const redis = withRedis ? await startRedis() : null;
  const toRedis = redis ? await openGate([Number(new URL(redis.url).port)]) : null;
  const toServers = await openGate([]);
  const url = `http://127.0.0.1:${toServers.port}`;
  const env = {
    BINNACLE_DATA_DIR: data.path,
    DATABASE_URL: `postgres://binnacle@127.0.0.1:${toDatabase.port}/postgres`,
    BINNACLE_DATABASE_POOL_SIZE: "12",
    BINNACLE_PUBLIC_URL: url,
    ...(toRedis ? { REDIS_URL: `redis://127.0.0.1:${toRedis.port}` } : {}),
  };
  const servers: (ServerProcess | null)[] = [];
  let database: Postgres = primary;
  const postgres = [primary];

  async function start(index: number, special?: Loading): Promise<void> {
    servers[index] = await startServer(env, special);
    balance();
  }
  function balance(): void {
    toServers.targets = servers.flatMap((server) => (server ? [Number(new URL(server.url).port)] : []));
  }

  await start(0);
  await start(1, loading);
  const api = await administrator(url);
  const { clusters, operators } = await connectOperators(api, url);

  return {
    url,
    api,
    clusters,
    env,
    operators,
    servers,
    toServers,
    toDatabase,
    toRedis,
    redis,
    /** The faults that the processes which run now have logged, for the message of a test. */
    logged: () => servers.flatMap((server) => server?.printed().match(/^.*"level":"error".*$/gm) ?? []).join("\n"),
    /** Ends a process and starts another in its place once the operators are back. */
    async replace(index: number, signal: NodeJS.Signals): Promise<number> {
      const server = servers[index];
      servers[index] = null;
      const since = performance.now();
      const lost = sessionsOf(operators);
      // A load balancer knows of a stop, and not of a death.
      if (signal === "SIGTERM") balance();
      server?.signal(signal);
      await server?.exited;
      balance();
      await vi.waitFor(() => expect(sessionsOf(operators)).toBeGreaterThan(lost), SOON);
      await operatorsBack(operators);
      const backMs = performance.now() - since;
      await start(index);
      return backMs;
    },
    /** The primary dies, and its replica takes its place. */
    async failOver(): Promise<number> {
      const replica = await startReplica(database);
      postgres.push(replica);
      const since = performance.now();
      await database.kill("SIGKILL");
      await promote(replica);
      database = replica;
      toDatabase.targets = [replica.port];
      toDatabase.cut();
      await operatorsBack(operators);
      return performance.now() - since;
    },
    async stop(): Promise<void> {
      await Promise.all(operators.map((operator) => operator.stop()));
      for (const server of servers) server?.signal("SIGTERM");
      for (const server of servers) await server?.exited;
      await Promise.all([toServers.close(), toDatabase.close(), toRedis?.close()]);
      for (const each of postgres) await each.kill("SIGINT");
      await redis?.stop();
      await data.remove();
    },
  };
}

async function administrator(url: string): Promise<Client> {
  const anyone = new Client(`${url}/api/v1`);
  const { body } = await anyone.send("POST", "/login", { form: { username: "admin", password: "binnacle" } });
  return anyone.with({ authorization: `Bearer ${body.access_token}` });
}

async function connectOperators(api: Client, url: string) {
  const { body: orgs } = await api.get("/orgs");
  const operators: ConnectedOperator[] = [];
  const clusters: string[] = [];
  for (let number = 1; number <= OPERATORS; number++) {
    const { body } = await api.post(`/orgs/${orgs.data[0].id}/clusters`, { name: `cluster ${number}` });
    clusters.push(body.id);
    operators.push(connected({ url, token: body.connection_token }));
  }
  await operatorsBack(operators);
  return { clusters, operators };
}

function connected(options: SimulationOptions): ConnectedOperator {
  let sessions = 0;
  const info = (_: object, message: string) => void (message === "connected to the hub" && sessions++);
  const silent = () => undefined;
  const log = { debug: silent, info, warn: silent, error: silent };
  return { ...simulateOperator({ ...options, ports: { log } }), sessions: () => sessions };
}

const sessionsOf = (operators: readonly ConnectedOperator[]) =>
  operators.reduce((sum, { sessions }) => sum + sessions(), 0);

/** Resolves when every operator has a session. */
export async function operatorsBack(operators: readonly SimulatedOperator[]): Promise<void> {
  await vi.waitFor(() => expect(operators.filter(({ link }) => !link.isLive)).toEqual([]), SOON);
}

let projects = 0;

/** Makes a project on each of the clusters, and resolves when they have confirmed it, with the time that it took. */
export async function changesArrive(clusters: readonly string[], client: BinnacleClient): Promise<number> {
  const since = performance.now();
  const name = `proof-${++projects}`;
  const made = await Promise.all(
    clusters.map((cluster_id) => client.call("createProject", { body: { name, cluster_id } })),
  );
  const lifecycles = () => Promise.all(made.map(async ({ id }) => (await client.call("getProject", { id })).lifecycle));
  const isReady = async () => expect(new Set(await lifecycles())).toEqual(new Set(["ready"]));
  await vi.waitFor(isReady, { ...SOON, interval: 250 });
  return performance.now() - since;
}
