import type { Socket } from "node:net";
import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import { openPipeline, type Pipeline, readsFrom } from "./pipeline.adapter.ts";
import { PipelinedClient } from "./prepared.adapter.ts";
import { watchSilence } from "./silence.adapter.ts";
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

const SERVER_NAME = "binnacle";

/** Connections of servers name their release, so that `upgrade-check` finds those that run. */
export const serverName = (release: string): string => `${SERVER_NAME} ${release}`;

/** As a regular expression of PostgreSQL: connections of servers and of their buses, but not those of commands. */
export const SERVER_NAMES = `^${SERVER_NAME}( [0-9].*| bus)?$`;

/** That of commands such as a backup. PostgreSQL may list a connection after it was closed, and none must be taken for a server's. */
export const COMMAND_NAME = `${SERVER_NAME} command`;

/** How every connection is opened. */
export const clientConfig = (address: Address, name = SERVER_NAME) => ({
  ...("url" in address ? { connectionString: address.url } : address),
  application_name: name,
  connectionTimeoutMillis: 5_000,
  keepAlive: true,
  // Firewalls forget a connection that is silent for some minutes.
  keepAliveInitialDelayMillis: 30_000,
});

/** After which time PostgreSQL ends a statement, a wait for a lock, and a transaction whose program does nothing. */
export interface Limits {
  readonly statementMs: number;
  readonly lockMs: number;
  readonly idleInTransactionMs: number;
}

/** Of servers. Without them one abandoned lock, or one statement that goes astray, could hold up everybody. */
export const SERVER_LIMITS: Limits = { statementMs: 30_000, lockMs: 5_000, idleInTransactionMs: 30_000 };

/** Of the job queue: a renewal comes again after a third of a lease, and one that waits for a lock holds up those of other jobs. */
export const QUEUE_LIMITS: Limits = { ...SERVER_LIMITS, statementMs: 5_000, lockMs: 1_000 };

const limitsOf = (limits: Limits | undefined) =>
  limits && {
    statement_timeout: limits.statementMs,
    lock_timeout: limits.lockMs,
    idle_in_transaction_session_timeout: limits.idleInTransactionMs,
  };

export interface ConnectOptions {
  readonly poolSize: number;
  readonly name?: string;
  /** Migrations and commands have none. */
  readonly limits?: Limits;
  /** After this time without an answer a connection is examined. */
  readonly silentForMs?: number;
  onError(error: Error): void;
}

export function connect(address: Address, options: ConnectOptions): Database {
  const config: pg.ClientConfig = {
    ...clientConfig(address, options.name),
    ...limitsOf(options.limits),
    types: {
      getTypeParser: (oid: number, format?: "text" | "binary") =>
        (oid === BIGINT ? Number : pg.types.getTypeParser(oid, format ?? "text")) as never,
    },
  };
  const pool = new pg.Pool({ ...config, Client: PipelinedClient, max: options.poolSize, idleTimeoutMillis: 30_000 });
  // Both the pool and the clients in use report a broken connection. An error event without a listener would end the
  // process.
  let isClosing = false;
  const onError = (error: Error) => isClosing || options.onError(error);
  pool.on("error", onError);
  pool.on("connect", (client) => client.on("error", onError));
  const stopWatching = watchSilence(pool, config, options);
  const kysely = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  const pipeline = openPipeline(config, { onError, readSlow: readsFrom(pool) });
  return {
    kysely,
    pool,
    pipeline,
    async close() {
      isClosing = true;
      stopWatching();
      await Promise.all([pipeline.close(), kysely.destroy()]);
    },
  };
}

/** The address of this machine on the way to the database, or null where the database is on this machine. */
export async function ownAddress({ pool }: Pick<Database, "pool">): Promise<string | null> {
  const client = await pool.connect();
  const { localAddress } = client.connection.stream as Socket;
  client.release();
  return localAddress ?? null;
}
