import type { Queries, Tx } from "../database/transaction.ts";

export interface Session {
  readonly id: string;
  readonly user_id: string;
  readonly created_at: Date;
  readonly expires_at: Date;
}

export async function insertSession(tx: Tx, session: Session): Promise<void> {
  await tx
    .insertInto("sessions")
    .values({ ...session, ended_at: null })
    .execute();
}

export async function isSessionLive(db: Queries, id: string, now: Date): Promise<boolean> {
  const row = await db
    .selectFrom("sessions")
    .select("id")
    .where("id", "=", id)
    .where("ended_at", "is", null)
    .where("expires_at", ">", now)
    .executeTakeFirst();
  return row !== undefined;
}

export async function endSessions(tx: Tx, ids: readonly string[], now: Date): Promise<void> {
  await ending(tx, now).where("id", "in", ids).execute();
}

export async function endSessionsOf(tx: Tx, userId: string, now: Date): Promise<void> {
  await ending(tx, now).where("user_id", "=", userId).execute();
}

function ending(tx: Tx, endedAt: Date) {
  return tx.updateTable("sessions").set({ ended_at: endedAt }).where("ended_at", "is", null);
}
