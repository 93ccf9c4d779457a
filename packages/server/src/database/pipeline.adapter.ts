import pg from "pg";
import { PipelinedClient } from "./prepared.adapter.ts";
import { preparedQueries, type Statement, type Value } from "./prepared-query.adapter.ts";
import { isTooSlow, isUnreachable } from "./transaction.ts";

export type ReadRows = <R extends pg.QueryResultRow>(statement: Statement, values: readonly Value[]) => Promise<R[]>;

/** Reads over one connection that all requests share. */
export interface Pipeline {
  readonly read: ReadRows;
  close(): Promise<void>;
}

/** PostgreSQL ends a statement that takes longer, so that those behind it go on. It is far below the time of a silence. */
const SLOW_AFTER_MS = 1_000;
/** A connection that has not answered anything for this long, while something waits, is given up. */
const SILENT_FOR_MS = 5_000;

export interface PipelineOptions {
  readonly onError: (error: Error) => void;
  /** Where a statement that was ended for its slowness, as by a lock, waits alone. */
  readonly readSlow: ReadRows;
  readonly slowAfterMs?: number;
  readonly silentForMs?: number;
}

interface Shared {
  readonly client: PipelinedClient;
  /** One timer for all statements: one for each would be a large part of what a read costs. */
  readonly silence: NodeJS.Timeout;
  /** When something was last sent after a pause, or answered. The timer is late where the process was held up. */
  heardAtMs: number;
  unanswered: number;
}

/**
 * Sends each statement at once, without waiting for the answers to those before it. A crowd of small reads then keeps one
 * session of PostgreSQL busy, where a pool wakes a session for each of them. The session runs them one after another, so a
 * statement that takes long or brings much holds up all others: only reads of a few short rows by an index belong here.
 */
export function openPipeline(
  config: pg.ClientConfig,
  { onError, readSlow, slowAfterMs = SLOW_AFTER_MS, silentForMs = SILENT_FOR_MS }: PipelineOptions,
): Pipeline {
  const query = preparedQueries(config.types ?? pg.types);
  let current: Promise<Shared> | null = null;

  function forget(shared: Promise<Shared>): boolean {
    if (current !== shared) return false;
    current = null;
    return true;
  }

  function connect(): Promise<Shared> {
    const client = new PipelinedClient({ ...config, statement_timeout: slowAfterMs });
    const connecting = client.connect().then(() => share(client, silentForMs));
    client.on("error", (error) => {
      forget(connecting);
      onError(error);
    });
    client.on("end", () => forget(connecting));
    connecting.catch(() => forget(connecting));
    return connecting;
  }

  async function read<R extends pg.QueryResultRow>(
    statement: Statement,
    values: readonly Value[],
    retries = 1,
  ): Promise<R[]> {
    current ??= connect();
    const connecting = current;
    const shared = await connecting;
    try {
      if (shared.unanswered++ === 0) listen(shared);
      return await query<R>(shared.client, statement, values);
    } catch (error) {
      if (isUnreachable(error)) forget(connecting);
      if (isTooSlow(error)) return readSlow(statement, values);
      if (retries === 0 || !isOutdated(error)) throw error;
      // A new connection prepares the statement anew. The old one ends when it has answered everything that was sent.
      if (forget(connecting)) void shared.client.end();
      return read(statement, values, retries - 1);
    } finally {
      shared.unanswered -= 1;
      listen(shared);
    }
  }

  return {
    read,
    async close() {
      await (await current?.catch(() => null))?.client.end();
    },
  };
}

function share(client: PipelinedClient, silentForMs: number): Shared {
  const giveUp = () => {
    if (shared.unanswered === 0) return;
    // A timer that is set after the process was held up counts from before that.
    if (performance.now() - shared.heardAtMs < silentForMs) {
      shared.silence.refresh();
      return;
    }
    const heard = client.socket.bytesRead;
    // A process that was held up finds its timers due before it reads the answers that have come meanwhile.
    setImmediate(() => {
      if (shared.unanswered > 0 && client.socket.bytesRead === heard) client.socket.destroy();
    });
  };
  const silence = setTimeout(giveUp, silentForMs).unref();
  const shared = { client, silence, heardAtMs: performance.now(), unanswered: 0 };
  return shared;
}

function listen(shared: Shared): void {
  shared.heardAtMs = performance.now();
  shared.silence.refresh();
}

/** The same from a pool, for statements that may take long. */
export function readsFrom(pool: pg.Pool): ReadRows {
  const query = preparedQueries(pool.options.types ?? pg.types);
  return async <R extends pg.QueryResultRow>(statement: Statement, values: readonly Value[]) => {
    try {
      return await query<R>(pool, statement, values);
    } catch (error) {
      if (!isOutdated(error)) throw error;
      // The pool has closed the connection. The others that it holds may be as old, so the text is not prepared this time.
      return (await pool.query<R>(statement.text, [...values])).rows;
    }
  };
}

/**
 * PostgreSQL refuses a prepared statement with `*` after a table has got a column, as a migration of a newer version does
 * while servers of the older one run.
 */
const isOutdated = (error: unknown): boolean => (error as { code?: unknown }).code === "0A000";
