import { sql } from "kysely";
import { vi } from "vitest";
import type { JobTable } from "../database/tables.ts";
import type { Queries } from "../database/transaction.ts";

/** Lets time pass for the queue: its clock is the database's, so the rows move instead. */
export async function age(db: Queries, ms: number): Promise<void> {
  const interval = sql`${ms} * interval '1 millisecond'`;
  await sql`update jobs set run_at = run_at - ${interval}, lease_until = lease_until - ${interval}`.execute(db);
}

export const readJob = (db: Queries, id: string) =>
  db.selectFrom("jobs").selectAll().where("id", "=", id).executeTakeFirstOrThrow();

export async function statusOf(db: Queries, id: string): Promise<JobTable["status"]> {
  return (await readJob(db, id)).status;
}

export const listeningLog = () => ({ debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() });

/** Long enough for a loaded machine; what is waited for comes within milliseconds. */
export const SOON = { timeout: 10_000, interval: 10 };
