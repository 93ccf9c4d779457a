import type { Queries, Tx } from "../database/transaction.ts";
import type { DeviceLogin } from "./device-login.ts";

const COLUMNS = [
  "id",
  "user_code",
  "client_name",
  "scopes",
  "status",
  "user_id",
  "interval_seconds",
  "last_asked_at",
  "created_at",
  "expires_at",
] as const;

/** False when another device shows this user code already. */
export async function insertDeviceLogin(db: Queries, login: DeviceLogin, deviceCodeDigest: Buffer): Promise<boolean> {
  const inserted = await db
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
