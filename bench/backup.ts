import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs, promisify } from "node:util";
import { withClient } from "../packages/server/src/database/command.adapter.ts";
import type { Database } from "../packages/server/src/database/connection.adapter.ts";
import { newId } from "../packages/server/src/id.adapter.ts";
import { createVault, parseVaultKeys } from "../packages/server/src/vault/vault.ts";
import { COMPONENTS, fillApps } from "./filled-apps.ts";
import { withStage } from "./stage.ts";
import { printFigures } from "./table.ts";

/** A backup of many apps with their history by the command, and its restore into an empty database. Ends with 1 where a limit is missed. */
const { values: given } = parseArgs({ options: { apps: { type: "string", default: "100000" } } });
const APPS = Number(given.apps);
const BACKUP_WITHIN_SECONDS = 120;
const RESTORE_WITHIN_SECONDS = 300;
const PER_APP = { deployments: 3, audit_log: 3 };

const KEYS = {
  BINNACLE_VAULT_KEYS: `k1:${randomBytes(32).toString("base64")}`,
  BINNACLE_SECRET_KEY: randomBytes(36).toString("base64"),
};
const COMMAND = new URL("../packages/server/src/binnacle-server.command.ts", import.meta.url).pathname;

const folder = await mkdtemp(join(tmpdir(), "binnacle-backup-"));
try {
  await withStage(
    async ({ database, databaseUrl, orgId, send, settle }) => {
      const cluster = await send("POST", `/orgs/${orgId}/clusters`, { name: "bench" });
      const project = await send("POST", "/projects", { name: "bench", cluster_id: cluster["id"] });
      await fillApps(database, project, APPS);
      await fillHistory(database);
      await settle();
      const file = join(folder, "backup.gz");
      const backup = await seconds("backup", file, databaseUrl);
      await database.pool.query("create database restored");
      const target = databaseUrl.replace(/^postgres:\/\/\/[^?]+/, "postgres:///restored");
      const restore = await seconds("restore", file, target);
      await requireSame(databaseUrl, target);
      const { size } = await stat(file);
      printFigures([
        {
          name: `backup of ${APPS.toLocaleString("en")} apps`,
          value: backup,
          atMost: BACKUP_WITHIN_SECONDS,
          unit: "s",
        },
        { name: "restore of it", value: restore, atMost: RESTORE_WITHIN_SECONDS, unit: "s" },
        { name: "the file", value: size / 1e6, unit: "MB" },
      ]);
    },
    "api",
    KEYS,
  );
} finally {
  await rm(folder, { recursive: true });
}

/** Each app has its deployments, a sealed secret, audit entries and what its cluster is to run. */
async function fillHistory({ pool }: Database): Promise<void> {
  const vault = createVault(parseVaultKeys(KEYS.BINNACLE_VAULT_KEYS));
  const spec = JSON.stringify({ components: COMPONENTS, paused: false });
  await pool.query(
    `insert into app_deployments (id, app_id, revision, generation, operation, status, spec, created_at, updated_at)
     select gen_random_uuid(), id, at, at, 'update', 'succeeded', $1, now(), now() from apps, generate_series(1, $2::int) at`,
    [spec, PER_APP.deployments],
  );
  await pool.query(
    `insert into audit_log (id, at, org_id, via, action, resource_type, resource_id, resource_name, changes)
     select gen_random_uuid(), now(), org_id, 'user', 'app.update', 'app', id, name, $1 from apps, generate_series(1, $2::int)`,
    [spec, PER_APP.audit_log],
  );
  await pool.query(
    `insert into desired_resources (cluster_id, kind, resource_id, key, generation, revision, acked_generation, updated_at)
     select cluster_id, 'app', id, 'app/' || namespace || '/' || name, 1, row_number() over (), 1, now() from apps`,
  );
  const { rows: apps } = await pool.query<{ id: string }>("select id from apps");
  for (let at = 0; at < apps.length; at += 10_000) {
    const part = apps.slice(at, at + 10_000).map(({ id: app }) => ({ app, id: newId() }));
    const sealed = part.map(({ id }) =>
      vault.seal("a secret", { table: "app_secrets", row: id, column: "sealed_value" }),
    );
    await pool.query(
      `insert into app_secrets (id, app_id, component, key, sealed_value, updated_at)
       select id, app, 'web', 'TOKEN', sealed, now() from unnest($1::uuid[], $2::uuid[], $3::text[]) as made (id, app, sealed)`,
      [part.map(({ id }) => id), part.map(({ app }) => app), sealed],
    );
  }
}

/** As a person runs it, the start of the program included. */
async function seconds(command: "backup" | "restore", file: string, databaseUrl: string): Promise<number> {
  const startMs = performance.now();
  await promisify(execFile)(process.execPath, [COMMAND, command, file], {
    env: { PATH: process.env["PATH"], ...KEYS, DATABASE_URL: databaseUrl },
  });
  return (performance.now() - startMs) / 1_000;
}

async function requireSame(one: string, other: string): Promise<void> {
  const counts = (url: string) =>
    withClient({ url }, async (client) => {
      const tables = ["apps", "app_deployments", "app_secrets", "audit_log", "desired_resources"];
      const counted = tables.map((table) => `(select count(*) from ${table}) as ${table}`);
      return JSON.stringify((await client.query(`select ${counted.join(", ")}`)).rows);
    });
  const [before, after] = [await counts(one), await counts(other)];
  if (before !== after) throw new Error(`The restored database has ${after} and not ${before}.`);
}
