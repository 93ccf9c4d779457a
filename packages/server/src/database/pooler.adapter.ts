import type { Database } from "./connection.adapter.ts";

/** Between the server and PostgreSQL is a pooler with which the server cannot work. The message says what to set there. */
export class PoolerRefused extends Error {
  override readonly name = "PoolerRefused";
}

const FORGETS = `The pooler that DATABASE_URL leads to gives its connections to others between transactions and does not keep prepared statements.
Set its pool_mode to session, or max_prepared_statements in PgBouncer 1.21 and later, or let DATABASE_URL lead to PostgreSQL itself.`;

const LIMITS = `The pooler that DATABASE_URL leads to does not take the limits of a connection.
Set ignore_startup_parameters = statement_timeout,lock_timeout,idle_in_transaction_session_timeout in PgBouncer.`;

/** Two connections that a pooler maps to one of PostgreSQL find each other's prepared statement. */
const PREPARED = { name: "binnacle pooler check", text: "select 1" };
const DUPLICATE_OR_UNKNOWN = ["42P05", "26000"];

/** Finds out before the first request whether the way to PostgreSQL is one that works. */
export async function refuseUnfitPooler({ pool }: Pick<Database, "pool">): Promise<void> {
  const clients = [];
  try {
    for (let count = 0; count < 2; count++) {
      const client = await pool.connect();
      clients.push(client);
      await client.query(PREPARED);
    }
  } catch (error) {
    const { code = "", message } = error as Error & { readonly code?: string };
    if (DUPLICATE_OR_UNKNOWN.includes(code)) throw new PoolerRefused(FORGETS);
    if (message.includes("unsupported startup parameter")) throw new PoolerRefused(LIMITS);
    throw error;
  } finally {
    for (const client of clients) client.release();
  }
}
