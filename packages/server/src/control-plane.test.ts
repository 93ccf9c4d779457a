import { Writable } from "node:stream";
import { Client } from "@binnacle/world";
import { type FreshDatabase, freshDatabase, restoredDatabase } from "@binnacle/world/database";
import { freePort } from "@binnacle/world/free-port";
import { Pipe } from "@binnacle/world/pipe";
import { dataFolder } from "@binnacle/world/server-process";
import { type Kysely, sql } from "kysely";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createPasswords } from "./accounts/password.adapter.ts";
import { loadCatalog } from "./catalog/catalog.adapter.ts";
import { parseConfig } from "./config.ts";
import { type ControlPlane, startControlPlane } from "./control-plane.ts";
import { MigrationFailed, migrate } from "./database/migrate.ts";
import { TestOperator } from "./hub/operator.fixture.ts";
import { createLog } from "./log.adapter.ts";

const SOON = { timeout: 30_000, interval: 20 };
const SECRET_KEY = "the-signing-key-of-all-replicas-of-this-test";
const VAULT_KEYS = `k1:${Buffer.alloc(32, 7).toString("base64")}`;

let data: Awaited<ReturnType<typeof dataFolder>>;
let database: FreshDatabase;
let logged: string[];
let planes: Promise<ControlPlane>[];

beforeEach(async () => {
  data = await dataFolder();
  logged = [];
  planes = [];
});
afterEach(async () => {
  for (const plane of await Promise.allSettled(planes)) if (plane.status === "fulfilled") await plane.value.stop();
  await database?.drop();
  await data.remove();
});

/** Begins to start a server, and returns its address before it serves. */
async function begin(env: Record<string, string>): Promise<string> {
  const port = String(await freePort());
  const config = parseConfig({
    BINNACLE_PORT: port,
    BINNACLE_HUB_PORT: port,
    BINNACLE_SANDBOX: "off",
    BINNACLE_DATA_DIR: data.path,
    BINNACLE_SECRET_KEY: SECRET_KEY,
    BINNACLE_VAULT_KEYS: VAULT_KEYS,
    ...env,
  });
  const sink = new Writable({
    write(chunk, _encoding, done) {
      logged.push(String(chunk));
      done();
    },
  });
  const passwords = await createPasswords({ memoryCost: 64, timeCost: 1, parallelism: 1 });
  const catalog = await loadCatalog();
  const log = createLog("info", sink);
  planes.push(startControlPlane(config, { log, catalog, passwords, clouds: {}, provisions: false }));
  return `http://127.0.0.1:${port}`;
}

async function probed(url: string): Promise<Record<string, unknown>> {
  const answers = ["livez", "startupz", "readyz"].map(async (path) => {
    const answer = await fetch(`${url}/${path}`);
    return [path, [answer.status, ((await answer.json()) as { status: string }).status]] as const;
  });
  return Object.fromEntries(await Promise.all(answers));
}

const MIGRATING = { livez: [200, "ok"], startupz: [503, "migrating"], readyz: [503, "migrating"] };
const READY = { livez: [200, "ok"], startupz: [200, "started"], readyz: [200, "ready"] };

test("[DB1549] servers of every role that start together on an empty database migrate it once, and are not ready before", async () => {
  database = await restoredDatabase("select 1");
  const MIGRATION_LOCK = "3853314791062309107";
  const holder = await database.database.pool.connect();
  await holder.query(`select pg_advisory_lock(${MIGRATION_LOCK})`);
  const urls: string[] = [];
  for (const roles of ["api", "hub", "worker"]) {
    urls.push(await begin({ DATABASE_URL: database.url, BINNACLE_ROLES: roles }));
  }
  for (const url of urls) await vi.waitFor(async () => expect(await probed(url)).toEqual(MIGRATING), SOON);
  expect((await fetch(`${urls[0]}/api/v1/version`)).status).toBe(503);

  await holder.query(`select pg_advisory_unlock(${MIGRATION_LOCK})`);
  holder.release();
  await Promise.all(planes);
  for (const url of urls) expect(await probed(url)).toEqual(READY);
  expect(logged.filter((line) => line.includes("database migrated"))).toHaveLength(1);
  const users = await sql`select id from users`.execute(database.database.kysely);
  expect(users.rows).toHaveLength(1);
});

test("[DB1550] a migration that fails is named, and leaves the database as it was", async () => {
  database = await restoredDatabase("select 1");
  const { kysely } = database.database;
  const run = (text: string) => ({ up: async (db: Kysely<unknown>) => void (await sql.raw(text).execute(db)) });
  const migrations = {
    "0001_kept": run("create table kept (id integer)"),
    "0002_broken": run("create table broken as select 1 / 0"),
  };
  const failure = await migrate(kysely, { migrations }).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(MigrationFailed);
  expect((failure as Error).message).toMatch(
    /^The migration 0002_broken of the database failed, and the database is as it/,
  );
  const { rows } = await sql`select to_regclass('kept') as kept, to_regclass('broken') as broken`.execute(kysely);
  expect(rows).toEqual([{ kept: null, broken: null }]);
});

test("[ST1506] a server waits for a database that cannot be reached yet, and says so", async () => {
  database = await freshDatabase();
  const { pipe, url: databaseUrl } = await Pipe.toServer(database.url, 5432);
  await pipe.close();
  const url = await begin({ DATABASE_URL: databaseUrl, BINNACLE_ROLES: "worker" });
  await vi.waitFor(() => expect(logged.join()).toContain("the connection to the database failed"), SOON);
  expect(await probed(url)).toEqual(MIGRATING);
  await pipe.open();
  const [plane] = await Promise.all(planes);
  expect(await probed(url)).toEqual(READY);
  await plane?.stop();
  await pipe.close();
});

test("[DB1551] migrations and hints take the direct address of the database, and everything else the one that may lead through a pooler", async () => {
  database = await freshDatabase();
  const [pooled, direct] = [await Pipe.toServer(database.url, 5432), await Pipe.toServer(database.url, 5432)];
  await direct.pipe.close();
  const urls = { DATABASE_URL: pooled.url, BINNACLE_DIRECT_DATABASE_URL: direct.url };
  const url = await begin({ ...urls, BINNACLE_ROLES: "api" });
  await vi.waitFor(() => expect(logged.join()).toContain("the connection to the database failed"), SOON);
  expect(await probed(url)).toEqual(MIGRATING);
  await direct.pipe.open();
  const [plane] = await Promise.all(planes);
  expect(await probed(url)).toEqual(READY);
  await direct.pipe.close();
  await vi.waitFor(() => expect(plane?.bus.isUp()).toBe(false), SOON);
  expect(await probed(url)).toEqual(READY);
  await plane?.stop();
  await pooled.pipe.close();
});

test.each([
  ["the address with which it reaches the database", {}, /^http:\/\/127\.0\.0\.1:\d+$/],
  ["the one that is configured", { BINNACLE_PEER_URL: "http://10.0.0.7:8081" }, /^http:\/\/10\.0\.0\.7:8081$/],
])("[RQ1547] a hub that listens on every address is reached by %s", async (_, env, expected) => {
  database = await freshDatabase();
  const { pipe, url: databaseUrl } = await Pipe.toServer(database.url, 5432);
  const everywhere = { BINNACLE_HOST: "0.0.0.0", BINNACLE_ALLOW_LOCAL_ON_NETWORK: "true", BINNACLE_ROLES: "api,hub" };
  const url = await begin({ DATABASE_URL: databaseUrl, ...everywhere, ...env });
  const [plane] = await Promise.all(planes);
  const anyone = new Client(`${url}/api/v1`);
  const { body } = await anyone.send("POST", "/login", { form: { username: "admin", password: "binnacle" } });
  const admin = anyone.with({ authorization: `Bearer ${body.access_token}` });
  const { body: orgs } = await admin.get("/orgs");
  const { body: cluster } = await admin.post(`/orgs/${orgs.data[0].id}/clusters`, { name: "edge" });
  const operator = new TestOperator(url, cluster.connection_token);
  await operator.greet();
  const sessions = database.database.kysely.selectFrom("cluster_sessions").select("hub_url");
  expect((await sessions.executeTakeFirstOrThrow()).hub_url).toMatch(expected);
  await operator.leave();
  await plane?.stop();
  await pipe.close();
});

test("[OP1569] [OP3472] a server that stops is not ready at once, asks clients to leave, and serves for the delay that load balancers need to notice", async () => {
  database = await freshDatabase();
  const env = { DATABASE_URL: database.url, BINNACLE_ROLES: "api,worker", BINNACLE_DRAIN_DELAY_MS: "1500" };
  const url = await begin(env);
  const [plane] = await Promise.all(planes);
  const stopped = plane?.stop();
  expect(await probed(url)).toEqual({ ...READY, readyz: [503, "stopping"] });
  const served = await fetch(`${url}/api/v1/version`);
  expect([served.status, served.headers.get("connection")]).toEqual([401, "close"]);
  await stopped;
  await expect(fetch(`${url}/livez`)).rejects.toThrow();
});
