import { sql } from "kysely";
import type { Queries, Tx } from "../database/transaction.ts";
import { type DeviceLogin, displacedBy } from "./device-login.ts";

const COLUMNS = [
  "id",
  "user_code",
  "client_name",
  "kind",
  "source_address",
  "scopes",
  "org_id",
  "project_id",
  "status",
  "user_id",
  "interval_seconds",
  "last_asked_at",
  "created_at",
  "expires_at",
] as const;

/**
 * Keeps the number of undecided logins of an address below the limit. Requests of one address are serialized, because two that begin at
 * once would each count the other out. The rows are locked, so that a login whose program polls meanwhile does not count as silent.
 */
export async function makeRoomForDevice(tx: Tx, sourceAddress: string, now: Date): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('device_logins'), hashtext(${sourceAddress}))`.execute(tx);
  const waiting = await tx
    .selectFrom("device_logins")
    .select(["id", "last_asked_at", "created_at", "interval_seconds", "expires_at"])
    .where("source_address", "=", sourceAddress)
    .where("status", "=", "pending")
    .orderBy("id")
    .forUpdate()
    .execute();
  const displaced = displacedBy(waiting, now);
  if (displaced) await tx.deleteFrom("device_logins").where("id", "=", displaced.id).execute();
}

/** Returns false where another device has this user code. */
export async function insertDeviceLogin(tx: Tx, login: DeviceLogin, deviceCodeDigest: Buffer): Promise<boolean> {
  const inserted = await tx
    .insertInto("device_logins")
    .values({ ...login, device_code_digest: deviceCodeDigest })
    .onConflict((on) => on.column("user_code").doNothing())
    .returning("id")
    .executeTakeFirst();
  return inserted !== undefined;
}

export function lockDeviceByCode(tx: Tx, digest: Buffer): Promise<DeviceLogin | undefined> {
  return tx
    .selectFrom("device_logins")
    .select(COLUMNS)
    .where("device_code_digest", "=", digest)
    .forUpdate()
    .executeTakeFirst();
}

export function findDeviceByUserCode(db: Queries, userCode: string): Promise<DeviceLogin | undefined> {
  return db.selectFrom("device_logins").select(COLUMNS).where("user_code", "=", userCode).executeTakeFirst();
}

export function lockDeviceByUserCode(tx: Tx, userCode: string): Promise<DeviceLogin | undefined> {
  return tx
    .selectFrom("device_logins")
    .select(COLUMNS)
    .where("user_code", "=", userCode)
    .forUpdate()
    .executeTakeFirst();
}

export async function updateDeviceLogin(tx: Tx, { id, ...login }: DeviceLogin): Promise<void> {
  await tx.updateTable("device_logins").set(login).where("id", "=", id).execute();
}

/** Denies approvals that no device has used yet. They end with the session that gave them. */
export async function denyApprovedDevices(tx: Tx, userId: string): Promise<void> {
  await tx
    .updateTable("device_logins")
    .set({ status: "denied" })
    .where("user_id", "=", userId)
    .where("status", "=", "approved")
    .execute();
}
