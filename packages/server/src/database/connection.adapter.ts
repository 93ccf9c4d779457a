import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import type { Tables } from "./tables.ts";

/** Where the database is: a URL, or the embedded one's socket. */
export type Address =
  | { readonly url: string }
  | { readonly host: string; readonly port: number; readonly user: string; readonly database: string };

/** One pool, two ways to speak to it: Kysely for most queries, prepared SQL for the hottest. */
export interface Database {
  readonly kysely: Kysely<Tables>;
  readonly pool: pg.Pool;
  close(): Promise<void>;
}

const BIGINT = 20;

export function connect(address: Address, options: { poolSize: number; onError: (error: Error) => void }): Database {
  const pool = new pg.Pool({
    ...("url" in address ? { connectionString: address.url } : address),
    max: options.poolSize,
    application_name: "binnacle",
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    types: {
      getTypeParser: (oid: number, format?: "text" | "binary") =>
        (oid === BIGINT ? Number : pg.types.getTypeParser(oid, format ?? "text")) as never,
    },
  });
  // A connection that breaks says so twice over: the pool tells of idle ones, each client of itself while it is in use.
  // An error event that nobody listens to ends the process.
  let isClosing = false;
  const onError = (error: Error) => isClosing || options.onError(error);
  pool.on("error", onError);
  pool.on("connect", (client) => client.on("error", onError));
  const kysely = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  return {
    kysely,
    pool,
    close() {
      isClosing = true;
      return kysely.destroy();
    },
  };
}
