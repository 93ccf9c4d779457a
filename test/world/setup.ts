import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { connect } from "../../packages/server/src/database/connection.adapter.ts";
import { startEmbeddedPostgres } from "../../packages/server/src/database/embedded/embedded.adapter.ts";
import { migrate } from "../../packages/server/src/database/migrate.ts";
import { addressOf, administer, TEMPLATE } from "./postgres.ts";

declare module "vitest" {
  interface ProvidedContext {
    postgresUrl: string;
  }
}

/**
 * One PostgreSQL for the whole run: `DATABASE_URL`, or an embedded one of its own. Its template database is migrated once;
 * each test file works in a copy.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env["DATABASE_URL"];
  const own = given ? null : await startOwn();
  const url = given ?? own?.url ?? "";
  await administer(url, (admin) => admin.query(`drop database if exists ${TEMPLATE}`));
  await administer(url, (admin) => admin.query(`create database ${TEMPLATE}`));
  const template = connect({ url: addressOf(url, TEMPLATE) }, { poolSize: 2, onError: () => undefined });
  await migrate(template.kysely);
  await template.close();
  project.provide("postgresUrl", url);
  return async () => {
    await administer(url, (admin) => admin.query(`drop database if exists ${TEMPLATE}`));
    await own?.stop();
  };
}

async function startOwn() {
  const folder = await mkdtemp(join(tmpdir(), "binnacle-test-"));
  const embedded = await startEmbeddedPostgres({ dataDir: folder, log: () => undefined });
  const { host, port, user, database } = embedded.connection;
  const url = `postgres:///${database}?host=${encodeURIComponent(host)}&port=${port}&user=${user}`;
  // Nothing here has to outlive a power cut.
  await administer(url, async (admin) => {
    for (const setting of ["fsync", "full_page_writes", "synchronous_commit"]) {
      await admin.query(`alter system set ${setting} = off`);
    }
    await admin.query("select pg_reload_conf()");
  });
  return {
    url,
    async stop() {
      await embedded.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
