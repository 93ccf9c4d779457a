import { setTimeout as pause } from "node:timers/promises";
import { sql } from "kysely";
import type { Queries, Tx } from "./transaction.ts";

/** The request to cancel may come before the statement, so it is repeated. */
const AGAIN_MS = 50;

/**
 * Runs a statement of a transaction that may take minutes, and cancels it when the signal comes. It throws then. No other transaction of the
 * same connection is met, because the one to cancel is known by its beginning.
 */
export async function untilStopped(
  db: Queries,
  tx: Tx,
  stop: AbortSignal,
  statement: () => Promise<unknown>,
): Promise<void> {
  stop.throwIfAborted();
  const { rows } = await sql<{ pid: number; began: string }>`
    select pg_backend_pid() as pid, xact_start::text as began from pg_stat_activity where pid = pg_backend_pid()`.execute(
    tx,
  );
  const [{ pid, began } = { pid: 0, began: "" }] = rows;
  let isRunning = true;
  const cancel = async () => {
    while (isRunning) {
      await sql`select pg_cancel_backend(pid) from pg_stat_activity
        where pid = ${pid} and xact_start = ${began}::timestamptz and state = 'active'`
        .execute(db)
        .catch(() => undefined);
      await pause(AGAIN_MS);
    }
  };
  let cancelling: Promise<void> | undefined;
  const begin = (): void => {
    cancelling = cancel();
  };
  stop.addEventListener("abort", begin, { once: true });
  try {
    await statement();
  } finally {
    isRunning = false;
    stop.removeEventListener("abort", begin);
    await cancelling;
  }
}
