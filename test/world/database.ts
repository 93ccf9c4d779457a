import { randomBytes } from "node:crypto";
import { inject } from "vitest";
import { connect, type Database } from "../../packages/server/src/database/connection.adapter.ts";
import { addressOf, administer, TEMPLATE } from "./postgres.ts";

export interface FreshDatabase {
  readonly url: string;
  readonly database: Database;
  drop(): Promise<void>;
}

/** Of our own PostgreSQL, which need not write what it copies to its log. Versions before 15 do not know the word. */
const COPIED = process.env["DATABASE_URL"] ? "" : "strategy file_copy";

/** A migrated, empty database of its own. */
export const freshDatabase = (): Promise<FreshDatabase> => created(`template ${TEMPLATE} ${COPIED}`);

/** A database of its own that holds what the SQL makes, and no more. */
export async function restoredDatabase(dump: string): Promise<FreshDatabase> {
  const restored = await created("");
  await administer(restored.url, (admin) => admin.query(dump));
  return restored;
}

async function created(from: string): Promise<FreshDatabase> {
  const server = inject("postgresUrl");
  const name = `test_${randomBytes(6).toString("hex")}`;
  await administer(server, (admin) => admin.query(`create database ${name} ${from}`));
  const url = addressOf(server, name);
  const database = connect({ url }, { poolSize: 10, onError: () => undefined });
  return {
    url,
    database,
    async drop() {
      await database.close();
      await administer(server, (admin) => admin.query(`drop database if exists ${name} with (force)`));
    },
  };
}
