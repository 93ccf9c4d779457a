import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import { openPipeline, type Pipeline, readsFrom } from "./pipeline.adapter.ts";
import { NamingClient } from "./prepared.adapter.ts";
import type { Tables } from "./tables.ts";

/** The address of the database: a URL, or the socket of the embedded one. */
export type Address =
  | { readonly url: string }
  | { readonly host: string; readonly port: number; readonly user: string; readonly database: string };

/** One pool with two interfaces, Kysely for most queries and SQL for lists, and a connection for the most frequent reads. */
export interface Database {
  readonly kysely: Kysely<Tables>;
  readonly pool: pg.Pool;
  /** Connects at its first use, beside the pool. */
  readonly pipeline: Pipeline;
  close(): Promise<void>;
}

const BIGINT = 20;

export function connect(address: Address, options: { poolSize: number; onError: (error: Error) => void }): Database {
  const config: pg.ClientConfig = {
    ...("url" in address ? { connectionString: address.url } : address),
    application_name: "binnacle",
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    // Firewalls forget a connection that is silent for some minutes.
    keepAliveInitialDelayMillis: 30_000,
    types: {
      getTypeParser: (oid: number, format?: "text" | "binary") =>
        (oid === BIGINT ? Number : pg.types.getTypeParser(oid, format ?? "text")) as never,
    },
  };
  const pool = new pg.Pool({ ...config, Client: NamingClient, max: options.poolSize, idleTimeoutMillis: 30_000 });
  // Both the pool and the clients in use report a broken connection. An error event without a listener would end the
  // process.
  let isClosing = false;
  const onError = (error: Error) => isClosing || options.onError(error);
  pool.on("error", onError);
  pool.on("connect", (client) => client.on("error", onError));
  const kysely = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  const pipeline = openPipeline(config, { onError, readSlow: readsFrom(pool) });
  return {
    kysely,
    pool,
    pipeline,
    async close() {
      isClosing = true;
      await Promise.all([pipeline.close(), kysely.destroy()]);
    },
  };
}
