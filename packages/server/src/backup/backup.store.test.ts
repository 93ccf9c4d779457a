import { createHash, randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { buffer } from "node:stream/consumers";
import { type Answer, type Person, startWorld, type World } from "@binnacle/world";
import { type FreshDatabase, freshDatabase, restoredDatabase } from "@binnacle/world/database";
import type { QueryResultRow } from "pg";
import { to as copyTo } from "pg-copy-streams";
import { v7 } from "uuid";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { openShop, type Shop } from "../apps/app.fixture.ts";
import { withClient } from "../database/command.adapter.ts";
import { keepPartitions } from "../database/partitions.store.ts";
import { AUDIT_LOG, METRIC_SAMPLES } from "../database/partitions.ts";
import { turnedClock } from "../database/turned-clock.fixture.ts";
import { createVault } from "../vault/vault.ts";
import { backUp } from "./backup.store.ts";
import { BackupReader, END_OF_ROWS, type TableSection } from "./backup-file.ts";
import { RestoreRefused, restore } from "./restore.store.ts";

let world: World;
let admin: Person;
let original: Buffer;
beforeAll(async () => {
  world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
  const org = await world.org();
  admin = await world.person({ org, role: "admin" });
  const keys = { region: "eu-west-1", access_key_id: "AKIAEXAMPLE", secret_access_key: "the-secret-of-the-key" };
  const stored = await admin.api.post(`/orgs/${org}/credentials`, {
    name: "It's a \\ tab\there",
    provider: "aws",
    ...keys,
  });
  expect(stored.status).toBe(422);
  expect((await admin.api.post(`/orgs/${org}/credentials`, { name: "aws", provider: "aws", ...keys })).status).toBe(
    201,
  );
  expect((await admin.api.post(`/orgs/${org}/clusters`, { name: "edge" })).status).toBe(201);
  original = await backupOf(world.databaseUrl);
});
afterAll(() => world?.stop());

const WRITERS = 4;
const SOON = { timeout: 50_000 };
const ABOUT = { now: new Date("2026-01-02T03:04:05Z"), version: "0.1.0" };

const backupOf = (url: string): Promise<Buffer> => withClient({ url }, (client) => buffer(backUp(client, ABOUT)));

/** Parts of any size, as a network would give them. */
async function* inParts(bytes: Buffer, size = 1_000): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** The address of a database without a single table. */
async function emptyDatabase(): Promise<string> {
  const { url, database, drop } = await restoredDatabase("select 1");
  await database.close();
  onTestFinished(drop);
  return url;
}

const restored = (url: string, bytes: Buffer, vault = world.vault, size?: number) =>
  restore({ url }, new BackupReader(inParts(bytes, size)), vault);

const rowsIn = async <R extends QueryResultRow>(url: string, query: string): Promise<R[]> =>
  withClient({ url }, async (client) => (await client.query<R>(query)).rows);

async function countOf(url: string, table: string): Promise<number> {
  const [row] = await rowsIn<{ count: number }>(url, `select count(*)::int as count from ${table}`);
  return row?.count ?? 0;
}

test.each([1_000_000, 1_009, 7])(
  "[BK1] a backup that is read in parts of %i bytes restores the same database",
  async (size) => {
    const target = await emptyDatabase();
    const { rows } = await restored(target, original, world.vault, size);
    expect(rows).toMatchObject({ cloud_credentials: 1, clusters: 1 });
    expect((await backupOf(target)).equals(original)).toBe(true);
  },
);

test("[BK2] secrets stay sealed in a backup, and it has no keys", () => {
  expect(original.toString("latin1")).not.toContain("the-secret-of-the-key");
  expect(original.toString("latin1")).toMatch(/\tv1\.test\./);
});

/** Rows of one change, which stand in many tables. A change of which some are missing was read while it was committed. */
const HALVES: Readonly<Record<string, string>> = {
  "an organization without a member":
    "select id from orgs where not exists (select from memberships where org_id = orgs.id)",
  "a project without an audit entry": `select id from projects where name ~ '^w\\d' and not exists
    (select from audit_log where action = 'project.create' and resource_id = projects.id::text)`,
  "a project that is not dispatched": `select id from projects where name ~ '^w\\d' and not exists
    (select from desired_resources where kind = 'project' and resource_id = projects.id)`,
  "an app whose deployments are not those of its revisions": `select id from apps
    where revision <> (select count(*) from app_deployments where app_id = apps.id)`,
  "an app without an audit entry for each change": `select id from apps
    where generation <> (select count(*) from audit_log where resource_id = apps.id::text)`,
  "an app of which another generation is dispatched": `select id from apps where not exists (select from desired_resources
    where kind = 'app' and resource_id = apps.id and desired_resources.generation = apps.generation)`,
  "an app without its secret": "select id from apps where not exists (select from app_secrets where app_id = apps.id)",
  "an app without its host": "select id from apps where not exists (select from ingress_hosts where app_id = apps.id)",
  "an app that is deleted and not removed": `select id from apps where (phase = 'deleting') is distinct from
    (select removed_at is not null from desired_resources where kind = 'app' and resource_id = apps.id)`,
  "an audit entry of an app that is not there": `select id from audit_log where action like 'app.%'
    and not exists (select from apps where id::text = resource_id)`,
  "a dispatched app that is not there": `select resource_id from desired_resources
    where kind = 'app' and not exists (select from apps where id = resource_id)`,
  "a cluster whose revision is not that of its last change": `select id from clusters
    where revision <> (select coalesce(max(revision), 0) from desired_resources where cluster_id = clusters.id)`,
};

/** Makes projects with an app that is changed and sometimes deleted, until it is told to stop. */
async function writeUntil(isOver: () => boolean, shop: Shop, writer: number, noteApp: () => void): Promise<void> {
  const { api } = shop.admin;
  const done = async (answer: Promise<Answer>, status: number) => {
    const { status: given, body } = await answer;
    if (given !== status) throw new Error(`answered with ${given}: ${JSON.stringify(body)}`);
    return body as { readonly id: string };
  };
  for (let count = 0; !isOver(); count++) {
    const name = `w${writer}-${count}`;
    const { id } = await done(api.post("/projects", { name, cluster_id: shop.cluster }), 201);
    const ingress = { host: `${name}.example.com` };
    const workload_spec = { image: "nginx:1.29", ports: [{ name: "http", port: 80 }], ingress };
    const components = [{ name: "web", workload_spec, secrets: { PASSWORD: "hush" } }];
    await done(api.post("/apps", { name: "web", project_id: id, components }), 201);
    noteApp();
    const path = `/apps/${name}/web?project_id=${id}`;
    const patch = { op: "patch", name: "web", workload_spec: { replicas: 2 } };
    await done(api.patch(path, { components: [patch] }), 200);
    if (count % 2 === 1) await done(api.delete(path), 204);
  }
}

test("[BK3] a backup that is taken beside many writers has each of their changes wholly or not at all", async () => {
  const shop = await openShop(world);
  let isOver = false;
  let made = 0;
  const isStopped = () => isOver;
  const writers = Array.from({ length: WRITERS }, (_, writer) => writeUntil(isStopped, shop, writer, () => made++));
  const progress = async () => {
    const goal = made + WRITERS;
    await Promise.race([expect.poll(() => made, SOON).toBeGreaterThan(goal), Promise.all(writers)]);
  };
  const backups: Buffer[] = [];
  for (let count = 0; count < 3; count++) {
    await progress();
    backups.push(await backupOf(world.databaseUrl));
  }
  await progress();
  isOver = true;
  await Promise.all(writers);
  for (const backup of backups) {
    const target = await emptyDatabase();
    await restored(target, backup);
    for (const [half, query] of Object.entries(HALVES)) expect([half, await rowsIn(target, query)]).toEqual([half, []]);
    for (const table of ["orgs", "apps", "audit_log"])
      expect([table, await countOf(target, table)]).toEqual([table, await countedBy(target, table)]);
    const apps = await countOf(target, "apps");
    expect([apps > WRITERS, apps < made]).toEqual([true, true]);
  }
});

/** What the database itself has counted, which is kept by triggers. */
async function countedBy(url: string, table: string): Promise<number> {
  const [row] = await rowsIn<{ count: number }>(
    url,
    `select sum(delta)::int as count from row_counts where relation = '${table}'`,
  );
  return row?.count ?? 0;
}

test("[BK4] a backup that is cut off or damaged restores nothing", async () => {
  const target = await emptyDatabase();
  const lines = original.indexOf("AKIAEXAMPLE");
  const damaged = Buffer.from(original);
  damaged[lines] = "B".charCodeAt(0);
  await expect(restored(target, damaged)).rejects.toThrow("its checksum is wrong");
  for (const length of [10, lines, original.length - 100])
    await expect(restored(target, original.subarray(0, length))).rejects.toThrow(/cut off|damaged/);
  await expect(restored(target, randomBytes(5_000))).rejects.toThrow("not a backup");
  expect(await countOf(target, "clusters")).toBe(0);
  await restored(target, original);
  expect(await countOf(target, "clusters")).toBe(1);
});

test("[BK5] an installation with organizations, or that servers use, takes no backup", async () => {
  const target = await emptyDatabase();
  await restored(target, original);
  await expect(restored(target, original)).rejects.toThrow("has organizations already");
  await expect(restored(world.databaseUrl, original)).rejects.toThrow("Stop all of them");
});

test("[BK6] a backup is refused without the keys that seal its secrets", async () => {
  const target = await emptyDatabase();
  const stranger = createVault([{ id: "test", key: randomBytes(32) }]);
  await expect(restored(target, original, stranger)).rejects.toThrow("BINNACLE_VAULT_KEYS does not have the key");
  expect(await countOf(target, "clusters")).toBe(0);
});

test("[BK8] a backup that cannot be written any further ends with that error, and lets go of the database", async () => {
  const { url, database, drop } = await freshDatabase();
  onTestFinished(drop);
  await database.pool.query(
    `insert into audit_log (id, at, via, action, resource_type, changes)
     select gen_random_uuid(), now(), 'system', 'org.update', 'org', to_jsonb(repeat(md5(n::text), 20)) from generate_series(1, 20000) n`,
  );
  const written = withClient({ url }, async (client) => {
    let bytes = 0;
    for await (const part of backUp(client, ABOUT)) {
      bytes += part.length;
      if (bytes > 2_000_000) throw new Error("no space left on device");
    }
  });
  await expect(written).rejects.toThrow("no space left on device");
  const others =
    "select from pg_stat_activity where datname = current_database() and application_name = 'binnacle command'";
  await expect.poll(async () => (await database.pool.query(others)).rows, SOON).toEqual([]);
});

const RELEASES = new URL("../database/migrations/releases/", import.meta.url);

test.each(readdirSync(RELEASES))("[BK7] a backup of %s is restored by this version", async (release) => {
  const old = await restoredDatabase(readFileSync(new URL(release, RELEASES), "utf8"));
  onTestFinished(() => old.drop());
  const backup = await backupOf(old.url);
  const target = await emptyDatabase();
  await restored(target, backup);
  expect(await countOf(target, "kysely_migration")).toBe(await countOf(world.databaseUrl, "kysely_migration"));
});

const DAY_MS = 86_400_000;
const ENTRIES = "select id, at from audit_log order by id";
const SAMPLES = "select cluster_id, at from metric_samples order by at";
const TOTALS =
  "select relation, scope, sum(delta)::int as total from row_counts group by 1, 2 having sum(delta) <> 0 order by 1, 2";

/** A database whose partitions are those of so many days after. */
async function partitioned(days: number): Promise<FreshDatabase> {
  const fresh = await freshDatabase();
  onTestFinished(fresh.drop);
  await turnedClock(fresh.url, new Date(ABOUT.now.getTime() + days * DAY_MS));
  for (const table of [AUDIT_LOG, METRIC_SAMPLES]) await keepPartitions(fresh.database.kysely, table, null);
  return fresh;
}

/** The same with an entry and a sample in each kind of partition. */
async function filledPartitions(): Promise<FreshDatabase> {
  const fresh = await partitioned(0);
  for (const day of [0, 80, 110, 2_000]) {
    const at = new Date(ABOUT.now.getTime() + day * DAY_MS);
    await fresh.database.pool.query(
      `with entry as (insert into audit_log (id, at, org_id, via, action, resource_type, changes) values ($1, $2, $1, 'user', 'a.b', 'a', '{}'))
       insert into metric_samples (cluster_id, at, sample) values ($1, $2, '{}')`,
      [v7({ msecs: at.getTime() }), at],
    );
  }
  return fresh;
}

test("[BK5401] a backup of tables with partitions is restored where there are partitions of other times", async () => {
  const [source, target] = [await filledPartitions(), await partitioned(400)];
  await target.database.close();
  await restored(target.url, await backupOf(source.url));
  for (const query of [ENTRIES, SAMPLES])
    expect(await rowsIn(target.url, query)).toEqual(await rowsIn(source.url, query));
  expect(await rowsIn(target.url, ENTRIES)).toHaveLength(4);
});

/** As release 0.1.0 reads them, which knows of none that have partitions. */
const TABLES_OF_0_1_0 = `
  select c.relname as table, json_agg(a.attname order by a.attnum) as columns
  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
  where c.relkind = 'r' and c.relpersistence = 'p' and c.relnamespace = 'public'::regnamespace
    and c.relname not in ('kysely_migration', 'kysely_migration_lock') and c.relname not like 'event\\_log%'
  group by c.relname order by c.relname`;

/** The same rows as release 0.1.0 writes them: those of a partition under its own name. */
async function backupOf010(url: string): Promise<Buffer> {
  const [header = ""] = (await backupOf(url)).toString("latin1").split("\n", 1);
  return withClient({ url }, async (client) => {
    const parts = [Buffer.from(`${header}\n`, "latin1")];
    const rows: Record<string, number> = {};
    for (const section of (await client.query<TableSection>(TABLES_OF_0_1_0)).rows) {
      const columns = section.columns.map((column) => `"${column}"`).join(", ");
      const copied = client.query(copyTo(`copy "${section.table}" (${columns}) to stdout`));
      parts.push(Buffer.from(`${JSON.stringify(section)}\n`), await buffer(copied), END_OF_ROWS);
      rows[section.table] = copied.rowCount;
    }
    const sha256 = createHash("sha256").update(Buffer.concat(parts)).digest("hex");
    return Buffer.concat([...parts, Buffer.from(`${JSON.stringify({ rows, sha256 })}\n`)]);
  });
}

test("[BK5402] a backup that release 0.1.0 has written of a database with partitions has their rows restored as those of their table", async () => {
  const { url } = await filledPartitions();
  const written = await backupOf010(url);
  expect(written.toString("latin1")).toContain('{"table":"audit_log_before_');
  expect(written.toString("latin1")).not.toContain('{"table":"audit_log"');
  const target = await emptyDatabase();
  await restored(target, written, world.vault, 1_009);
  for (const query of [ENTRIES, SAMPLES, TOTALS]) expect(await rowsIn(target, query)).toEqual(await rowsIn(url, query));
  expect(await rowsIn(target, ENTRIES)).toHaveLength(4);
});

test("[BK5403] a backup with a table that is not Binnacle's is refused with what to do, and changes nothing", async () => {
  const [source, target] = [await freshDatabase(), await freshDatabase()];
  for (const { drop } of [source, target]) onTestFinished(drop);
  await rowsIn(source.url, "create table audit_log_2026 as select 1 as n");
  const backup = await backupOf(source.url);
  await rowsIn(target.url, "insert into tiers values ('of before', now(), now())");
  const refused = restored(target.url, backup);
  await expect(refused).rejects.toThrow(RestoreRefused);
  await expect(refused).rejects.toThrow(
    /has a table audit_log_2026, .* Nothing was restored\. Create the table in the empty database/,
  );
  expect(await rowsIn(target.url, "select name from tiers")).toEqual([{ name: "of before" }]);
  await rowsIn(target.url, "create table audit_log_2026 (n int)");
  await restored(target.url, backup);
  expect(await rowsIn(target.url, "select n from audit_log_2026")).toEqual([{ n: 1 }]);
});

test("[BK7] a backup of a later version is refused", async () => {
  const target = await emptyDatabase();
  const text = original.toString("latin1").replace('"migrations":["0001', '"migrations":["0000_later","0001');
  const refused = restored(target, Buffer.from(text, "latin1"));
  await expect(refused).rejects.toThrow(RestoreRefused);
  await expect(refused).rejects.toThrow(
    /later release has migrated: this version does not know 0000_later\. Restore it with the later release/,
  );
});
