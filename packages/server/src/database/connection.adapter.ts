import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import { NamingClient } from "./prepared.adapter.ts";
import type { Tables } from "./tables.ts";

/** The address of the database: a URL, or the socket of the embedded one. */
export type Address =
  | { readonly url: string }
  | { readonly host: string; readonly port: number; readonly user: string; readonly database: string };

/** One pool with two interfaces: Kysely for most queries, prepared SQL for the most frequent ones. */
export interface Database {
  readonly kysely: Kysely<Tables>;
  readonly pool: pg.Pool;
  close(): Promise<void>;
}

const BIGINT = 20;

export function connect(address: Address, options: { poolSize: number; onError: (error: Error) => void }): Database {
  const pool = new pg.Pool({
    Client: NamingClient,
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
  // Both the pool and the clients in use report a broken connection. An error event without a listener would end the
  // process.
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
