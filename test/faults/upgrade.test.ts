import { execFile, spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import type { AddressInfo, Server } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { createClient } from "../../packages/client/src/index.ts";
import { productVersion } from "../../packages/server/src/product-version.adapter.ts";
import { MIGRATIONS, requireSchema, schemaFile } from "../../scripts/release/schema.ts";
import { balance, portOf } from "../world/balancer.ts";
import { childEnvironment } from "../world/child-environment.ts";
import { type FreshDatabase, freshDatabase, restoredDatabase } from "../world/database.ts";
import { makeNextRelease, type NextRelease } from "../world/next-release.ts";
import { startLoad } from "../world/request-load.ts";
import { dataFolder, refusedServer, type ServerProcess, startServer } from "../world/server-process.ts";
import { type SimulatedOperator, simulateOperator } from "../world/simulated-operator.ts";

const SOON = { timeout: 100_000, interval: 100 };
const COMMAND = fileURLToPath(new URL("../../packages/server/src/binnacle-server.command.ts", import.meta.url));

let data: Awaited<ReturnType<typeof dataFolder>>;
let database: FreshDatabase;
let next: NextRelease;
let former: string;
let env: Record<string, string>;
beforeAll(async () => {
  [data, database, next, former] = await Promise.all([
    dataFolder(),
    freshDatabase(),
    makeNextRelease(),
    productVersion(),
  ]);
  env = { BINNACLE_DATA_DIR: data.path, DATABASE_URL: database.url, BINNACLE_DATABASE_POOL_SIZE: "8" };
});
afterAll(async () => {
  await database?.drop();
  await data?.remove();
  await next?.remove();
});

/** Runs `upgrade-check` of a release, and gives its exit code and what it prints. */
const checked = (command: string, more: Record<string, string> = {}) =>
  new Promise<{ exitCode: number; printed: string }>((resolve) => {
    const options = { env: { ...childEnvironment(), ...env, ...more } };
    execFile(process.execPath, [command, "upgrade-check"], options, (error, stdout, stderr) =>
      resolve({ exitCode: error ? Number(error.code) : 0, printed: stdout + stderr }),
    );
  });

const migrations = async () =>
  (await database.database.pool.query("select name, oldest_release, applied_by from kysely_migration order by name"))
    .rows;

/** Servers behind a balancer, of which one is replaced at a time. */
class Installation {
  readonly #servers: ServerProcess[] = [];
  readonly #ports: number[];
  readonly #balancer: Server;

  private constructor(balancer: Server, ports: number[]) {
    this.#balancer = balancer;
    this.#ports = ports;
  }

  static async create(): Promise<Installation> {
    const ports: number[] = [];
    return new Installation(await balance(ports), ports);
  }

  get url() {
    return `http://127.0.0.1:${(this.#balancer.address() as AddressInfo).port}`;
  }

  /** As `npm start` runs it, with the time that load balancers take to notice. */
  async add(main?: string): Promise<void> {
    const server = await startServer({ ...env, BINNACLE_DRAIN_DELAY_MS: "300" }, main ? { main } : {});
    this.#servers.push(server);
    this.#ports.push(portOf(server));
  }

  async removeOldest(): Promise<void> {
    this.#ports.shift();
    const server = this.#servers.shift();
    server?.signal("SIGTERM");
    expect(await server?.exited).toBe(0);
  }

  async stop(): Promise<void> {
    this.#balancer.close();
    for (const server of this.#servers) server.signal("SIGTERM");
    for (const server of this.#servers) await server.exited;
  }
}

test("[UG11] servers under load are replaced one at a time by those of the next minor release, and back, and nothing is lost", async () => {
  const installation = await Installation.create();
  const operators: SimulatedOperator[] = [];
  onTestFinished(async () => {
    for (const operator of operators) await operator.stop();
    await installation.stop();
  });
  for (let count = 0; count < 2; count++) await installation.add();
  const client = createClient({ url: installation.url });
  await client.login({ username: "admin", password: "binnacle" });
  const [org] = (await client.call("listOrgs")).data;
  const clusters: string[] = [];
  for (const name of ["one", "two", "three"]) {
    const cluster = await client.call("createCluster", { org_id: org?.id ?? "", body: { name } });
    const ports = { operatorVersion: former };
    operators.push(simulateOperator({ url: installation.url, token: cluster.connection_token ?? "", ports }));
    clusters.push(cluster.id);
  }
  const allLive = () => expect(operators.map(({ link }) => link.isLive)).toEqual([true, true, true]);
  await vi.waitFor(allLive, SOON);

  const before = await checked(next.command);
  expect(before.printed).toContain(`${next.migration}, after which release ${former} and later ones work`);
  expect(before.printed).toContain("orgs ACCESS EXCLUSIVE (holds up reads and writes)");
  expect(before.printed).toContain(`Servers: ${former} (supported)`);
  expect(before.printed).toContain(`Operators: ${former} in 3 clusters (supported)`);
  expect([before.exitCode, (await migrations()).at(-1)?.name]).toEqual([0, expect.not.stringContaining("9000")]);

  const load = startLoad(client, clusters);
  onTestFinished(() => load.stop());
  for (const main of [next.main, undefined]) {
    for (let count = 0; count < 2; count++) {
      await load.progress();
      await installation.add(main);
      await load.progress();
      await installation.removeOldest();
    }
    await vi.waitFor(allLive, SOON);
    expect((await migrations()).at(-1)).toEqual({
      name: next.migration,
      oldest_release: former,
      applied_by: next.version,
    });
  }
  await load.progress();
  await load.stop();
  expect(load.failures).toEqual([]);
  expect(await load.lost()).toEqual([]);

  const back = await checked(COMMAND);
  expect(back.printed).toContain(
    `${next.migration} was applied by release ${next.version} and works from release ${former} on.`,
  );
  // The connections of the test itself name no release.
  expect([0, 2]).toContain(back.exitCode);
}, 600_000);

test("[UG2] a server that the schema does not allow ends in one line, which says what to start", async () => {
  const other = await freshDatabase();
  onTestFinished(() => other.drop());
  await other.database.pool.query(
    "insert into kysely_migration values ('9000_contract', now()::text, '0.9.0', '0.10.0')",
  );
  const url = { DATABASE_URL: other.url };
  const refused = await refusedServer({ ...env, ...url });
  const line = `${refused.printed.trim().split("\n").at(-1)}\n`;
  expect(refused.exitCode).toBe(1);
  expect(line).toMatch(/migrated by release 0\.10\.0: its migration 9000_contract.*Start release 0\.9\.0 or/);
  expect(await checked(COMMAND, url)).toEqual({ exitCode: 3, printed: line });
});

test("[UG10] a check that does not reach the database ends with 1", async () => {
  const { exitCode, printed } = await checked(COMMAND, { DATABASE_URL: "postgres://binnacle@127.0.0.1:1/none" });
  expect([exitCode, printed]).toEqual([1, expect.stringContaining("ECONNREFUSED")]);
});

test("[UG602] npm run schema keeps the schema of a release with every migration, from an empty database alone", async ({
  skip,
}) => {
  const { rows } = await database.database.pool.query("show server_version_num");
  const [, installed = "0"] = /(\d+)/.exec(String(spawnSync("pg_dump", ["--version"]).stdout)) ?? [];
  const needed = Math.floor(Number(rows[0].server_version_num) / 10_000);
  if (Number(installed) < needed) skip(`It takes pg_dump of PostgreSQL ${needed} or newer.`);
  const empty = await restoredDatabase("select 1");
  onTestFinished(() => empty.drop());
  const keep = () =>
    new Promise<string>((resolve) => {
      const options = { cwd: next.root, env: { ...childEnvironment(), DATABASE_URL: empty.url } };
      const args = ["run", "--silent", "schema", "--", next.version];
      execFile("npm", args, options, (_, stdout, stderr) => resolve(stdout + stderr));
    });
  expect(await keep()).toMatch(new RegExp(`${schemaFile(next.version)} has \\d+ migrations\\.`));
  const kept = readFileSync(join(next.root, schemaFile(next.version)), "utf8");
  requireSchema(next.version, kept, readdirSync(join(next.root, MIGRATIONS)));
  const restored = await restoredDatabase(kept);
  onTestFinished(() => restored.drop());
  const migrated = async (one: FreshDatabase) =>
    (await one.database.pool.query("select name, oldest_release from public.kysely_migration order by name")).rows;
  expect(await migrated(restored)).toEqual(await migrated(empty));
  expect(await keep()).toContain("The database is not empty.");
});
