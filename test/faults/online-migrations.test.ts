import { readFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { connect, type Database, SERVER_LIMITS } from "../../packages/server/src/database/connection.adapter.ts";
import { MIGRATIONS, migrate } from "../../packages/server/src/database/migrate.ts";
import { isDeclared } from "../../packages/server/src/database/migration.ts";
import { keepPartitions } from "../../packages/server/src/database/partitions.store.ts";
import { AUDIT_LOG, METRIC_SAMPLES, type PartitionedTable } from "../../packages/server/src/database/partitions.ts";
import { restoredDatabase } from "../world/database.ts";

/** The schema of the last release. What came after it is migrated by the first server of the next one. */
const RELEASE = new URL("../../packages/server/src/database/migrations/releases/0.1.0.sql", import.meta.url);
const ROWS = Number(process.env["MIGRATED_ROWS"] ?? 1_000_000);
const CLIENTS = 6;
/** Whoever waits for a lock for longer gets an error. A machine that is only busy fails nothing. */
const LONGEST_WAIT_MS = 1_000;
const PATIENCE_MS = 20 * 60_000;

/** The id of the row with a number. */
const ID = "('00000000-0000-4000-8000-' || lpad(to_hex(n), 12, '0'))::uuid";
const id = (n: number) => `00000000-0000-4000-8000-${n.toString(16).padStart(12, "0")}`;

/** As many rows in each table that a migration after the release changes or indexes. Nothing in them belongs to anything. */
const FILLED: Readonly<Record<string, string>> = {
  orgs: `(id, name, slug, created_at, updated_at) select ${ID}, 'org-' || n, 'org-' || n, now(), now()`,
  projects: `(id, org_id, cluster_id, name, namespace, created_at, updated_at) select ${ID}, ${ID}, ${ID}, 'shop', 'shop', now(), now()`,
  clusters: `(id, org_id, name, created_at, updated_at) select ${ID}, ${ID}, 'cluster-' || n, now(), now()`,
  apps: `(id, org_id, cluster_id, project_id, namespace, name, components, generation, revision, phase, created_at, updated_at)
    select ${ID}, ${ID}, ${ID}, ${ID}, 'shop', 'web', '[]', 1, 1, 'running', now(), now()`,
  audit_log: `(id, at, org_id, via, action, resource_type, changes) select ${ID}, now(), ${ID}, 'user', 'app.update', 'app', '{}'`,
  jobs: `(id, kind, payload, status, run_at, created_at, updated_at, finished_at)
    select ${ID}, 'ping', '{}', 'succeeded', now(), now(), now(), now()`,
  provisioning_jobs: `(id, cluster_id, org_id, action, status, phase, created_at, updated_at)
    select ${ID}, ${ID}, ${ID}, 'create', 'succeeded', 'done', now(), now()`,
  provisioning_log_lines: `(job_id, at, line) select ${ID}, now(), 'planned'`,
  metric_samples: `(cluster_id, at, sample) select ${ID}, now() - (n % 1000) * interval '1 minute', '{}'`,
};

/** An id as servers make them, of now. */
const NEW_ID = `(lpad(to_hex((extract(epoch from clock_timestamp()) * 1000)::bigint), 12, '0') || '7' || left(md5(random()::text), 3)
  || '8' || left(md5(random()::text), 15))::uuid`;

/** What servers of the release do with one row of each of those tables. */
const WORK = [
  "update orgs set updated_at = now() where id = $1",
  "select lifecycle from projects where id = $1",
  "update projects set updated_at = now() where id = $1",
  "select name from clusters where id = $1",
  "update clusters set updated_at = now() where id = $1",
  "select phase from apps where id = $1",
  "update apps set updated_at = now() where id = $1",
  `insert into audit_log (id, at, org_id, via, action, resource_type, changes) select ${NEW_ID}, now(), $1::uuid, 'user', 'app.update', 'app', '{}'`,
  "insert into metric_samples (cluster_id, at, sample) values ($1, now(), '{}') on conflict (cluster_id, at) do update set sample = excluded.sample",
  "select sample from metric_samples where cluster_id = $1 and at >= now() - interval '1 hour' order by at",
  "select action from audit_log where id = $1",
  "update jobs set updated_at = now() where id = $1",
  "insert into jobs (id, kind, payload, status, run_at, created_at, updated_at) select gen_random_uuid(), 'ping' || left($1::text, 0), '{}', 'pending', now(), now(), now()",
  "select status from provisioning_jobs where id = $1",
  "update provisioning_jobs set updated_at = now() where id = $1",
  "insert into provisioning_log_lines (job_id, at, line) values ($1, now(), 'applied')",
];

/** A worker tries every ten seconds, and the table may be in use each time. */
async function partitioned({ kysely, pool }: Database, table: PartitionedTable): Promise<void> {
  const count = `select count(*)::int as count from pg_inherits where inhparent = '${table.name}'::regclass`;
  const isDone = async () => (await pool.query<{ count: number }>(count)).rows[0]?.count !== 1;
  while (!(await isDone())) await keepPartitions(kysely, table, null);
}

test(
  `[UG600] the migrations since the last release run on ${ROWS.toLocaleString("en")} rows of each of their tables, and no client waits longer than a second`,
  async () => {
    const old = await restoredDatabase(readFileSync(RELEASE, "utf8"));
    onTestFinished(() => old.drop());
    const filler = await old.database.pool.connect();
    // Neither triggers nor foreign keys: what these rows belong to does not matter here.
    await filler.query("set session_replication_role = replica");
    for (const [table, rows] of Object.entries(FILLED)) {
      await filler.query(`insert into ${table} ${rows} from generate_series(1, ${ROWS}) n`);
    }
    await filler.query("vacuum analyze");
    filler.release(true);

    const limits = { ...SERVER_LIMITS, lockMs: LONGEST_WAIT_MS };
    const clients = connect({ url: old.url }, { poolSize: CLIENTS, limits, onError: () => undefined });
    onTestFinished(() => clients.close());
    const failures = new Set<string>();
    let [answered, isMigrating] = [0, true];
    const work = async (client: number) => {
      for (let turn = client; isMigrating; turn += CLIENTS) {
        const statement = WORK[turn % WORK.length] ?? "";
        await clients.pool.query(statement, [id(1 + ((turn * 7_919) % ROWS))]).then(
          () => (answered += 1),
          (error: Error) => failures.add(`${statement}: ${error.message}`),
        );
      }
    };
    const working = Array.from({ length: CLIENTS }, (_, client) => work(client));
    const applied = await migrate(old.database.kysely)
      .then(async (names) => {
        // What the first worker of the next release does to them.
        for (const table of [AUDIT_LOG, METRIC_SAMPLES]) await partitioned(old.database, table);
        return names;
      })
      .finally(() => {
        isMigrating = false;
      });
    await Promise.all(working);
    expect([...failures]).toEqual([]);
    expect(applied.length).toBeGreaterThan(0);
    expect(answered).toBeGreaterThan(CLIENTS * WORK.length);
    const declared = applied.map((name) => MIGRATIONS[name]).filter((migration) => isDeclared(migration));
    const tables = declared.flatMap(({ locks }) => Object.keys(locks));
    expect(tables.filter((table) => !(table in FILLED))).toEqual([]);
    const wanted = declared.flatMap(({ indexes = [] }) => indexes.map(({ name }) => name));
    const { rows } = await old.database.pool.query<{ name: string }>(
      "select relname as name from pg_index join pg_class on pg_class.oid = indexrelid where indisvalid and relname = any($1)",
      [wanted],
    );
    expect(rows.map(({ name }) => name).sort()).toEqual(wanted.sort());
  },
  PATIENCE_MS,
);
