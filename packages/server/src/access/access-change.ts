import type { Tx } from "../database/transaction.ts";

/** The topic of the bus that carries changes of access to every process that holds streams open. */
export const ACCESS_TOPIC = "access";

/** Whose access a change touches: that of one session or CLI token, or of all of a user. */
export type AccessChange = { readonly credential_id: string } | { readonly user_id: string };

/**
 * The part of a unit of work that functions which write roles, memberships or sessions ask for. They announce the change
 * themselves, so that no caller can forget it.
 */
export interface AccessUnit {
  readonly db: Tx;
  /** Announces the change once it is committed, before everything else that is announced. */
  accessChanged(change: AccessChange): void;
}

/** For commands and the first start: no process holds streams yet, or each reads the access again within 15 seconds. */
export const unannounced = (db: Tx): AccessUnit => ({ db, accessChanged: () => undefined });

/** The message comes from another process, perhaps of another version. */
function isAccessChange(message: unknown): message is AccessChange {
  const { credential_id, user_id } = (message ?? {}) as { credential_id?: unknown; user_id?: unknown };
  return typeof credential_id === "string" || typeof user_id === "string";
}

/** Whether the access of a reader may have changed. An unreadable message may concern anybody. */
export function concerns(
  message: unknown,
  reader: { readonly credentialId: string; readonly userId: string },
): boolean {
  if (!isAccessChange(message)) return true;
  return "credential_id" in message ? message.credential_id === reader.credentialId : message.user_id === reader.userId;
}
