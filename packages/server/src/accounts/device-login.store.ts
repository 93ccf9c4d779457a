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

export async function insertDeviceLogin(db: Queries, login: DeviceLogin, deviceCodeDigest: Buffer): Promise<void> {
  await db
    .insertInto("device_logins")
    .values({ ...login, device_code_digest: deviceCodeDigest })
    .execute();
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
