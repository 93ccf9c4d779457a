import type { AccessUnit } from "../access/access-change.ts";
import type { Caller } from "../access/caller.ts";
import type { Queries, Tx } from "../database/transaction.ts";
import { unauthenticated } from "../fault.ts";
import type { Session } from "./session.ts";
import { lockUser, type UserWithHash } from "./user.store.ts";

const COLUMNS = [
  "id",
  "user_id",
  "created_at",
  "expires_at",
  "source_address",
  "user_agent",
  "last_used_at",
  "last_used_address",
  "client_name",
] as const;

/** The last use of a session is stored once a minute at most. That suffices to find a forgotten session. */
const RECORDED_EVERY_MS = 60_000;

export async function insertSession(tx: Tx, session: Session): Promise<void> {
  await tx
    .insertInto("sessions")
    .values({ ...session, ended_at: null })
    .execute();
}

export async function isSessionLive(db: Queries, id: string, now: Date): Promise<boolean> {
  const row = await db
    .selectFrom("sessions")
    .innerJoin("users", "users.id", "sessions.user_id")
    .select("sessions.id")
    .where("sessions.id", "=", id)
    .where("ended_at", "is", null)
    .where("expires_at", ">", now)
    .where("users.disabled", "=", false)
    .executeTakeFirst();
  return row !== undefined;
}

/** A new address is stored at once, because it can reveal a stolen token. */
export async function recordSessionUse(db: Queries, id: string, address: string, now: Date): Promise<void> {
  const notedBefore = new Date(now.getTime() - RECORDED_EVERY_MS);
  await db
    .updateTable("sessions")
    .set({ last_used_at: now, last_used_address: address })
    .where("id", "=", id)
    .where((is) => is.or([is("last_used_at", "<=", notedBefore), is("last_used_address", "is distinct from", address)]))
    .execute();
}

/**
 * Locks the caller's row. If the session ends, the password changes or the user is disabled during the request, the
 * request changes nothing.
 */
export async function lockCaller(
  tx: Tx,
  caller: Pick<Caller, "id" | "credentialId">,
  now: Date,
): Promise<UserWithHash> {
  const user = await lockUser(tx, caller.id);
  if (!user || !(await isSessionLive(tx, caller.credentialId, now))) throw unauthenticated();
  return user;
}

const liveOf = (db: Queries, userId: string, now: Date) =>
  db.selectFrom("sessions").where("user_id", "=", userId).where("ended_at", "is", null).where("expires_at", ">", now);

export async function listSessionsOf(
  db: Queries,
  userId: string,
  now: Date,
  page: { limit: number; offset: number },
): Promise<{ sessions: Session[]; total: number }> {
  const live = liveOf(db, userId, now);
  const [sessions, { total }] = await Promise.all([
    live.select(COLUMNS).orderBy("id", "desc").limit(page.limit).offset(page.offset).execute(),
    live.select((count) => count.fn.countAll<number>().as("total")).executeTakeFirstOrThrow(),
  ]);
  return { sessions, total };
}

/** Returns false where the user has no such open session. */
export async function endSessionOf(
  { db, accessChanged }: AccessUnit,
  userId: string,
  id: string,
  now: Date,
): Promise<boolean> {
  const ended = await ending(db, now)
    .where("id", "=", id)
    .where("user_id", "=", userId)
    .where("expires_at", ">", now)
    .returning("id")
    .executeTakeFirst();
  if (ended) accessChanged({ credential_id: ended.id });
  return ended !== undefined;
}

export async function endSessionsOf({ db, accessChanged }: AccessUnit, userId: string, now: Date): Promise<void> {
  accessChanged({ user_id: userId });
  await ending(db, now).where("user_id", "=", userId).execute();
}

function ending(tx: Tx, endedAt: Date) {
  return tx.updateTable("sessions").set({ ended_at: endedAt }).where("ended_at", "is", null);
}
