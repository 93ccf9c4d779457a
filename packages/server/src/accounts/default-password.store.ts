import { unannounced } from "../access/access-change.ts";
import { appendAudit } from "../audit/audit.store.ts";
import { auditRow } from "../audit/audit.ts";
import { LOCAL_ADMIN } from "../config.ts";
import { inTransaction, type Queries } from "../database/transaction.ts";
import { newId } from "../id.adapter.ts";
import type { Passwords } from "./password.adapter.ts";
import { endSessionsOf } from "./session.store.ts";

export class DefaultPasswords extends Error {
  override readonly name = "DefaultPasswords";
  constructor(usernames: readonly string[]) {
    const problems = usernames.map(
      (username) =>
        `  - the superuser ${JSON.stringify(username)} still has the default password; ` +
        `set another one with "npm run password -- ${username}"`,
    );
    super(`Binnacle does not start outside local while everybody can sign in:\n${problems.join("\n")}`);
  }
}

/**
 * A database that was created in `local` still has that superuser. Throws DefaultPasswords with every superuser whose
 * password is a well-known default. The hashes are compared, because nothing else shows it.
 */
export async function refuseDefaultPasswords(db: Queries, passwords: Passwords): Promise<void> {
  const superusers = await db
    .selectFrom("users")
    .select(["username", "password_hash"])
    .where("is_superuser", "=", true)
    .orderBy("username")
    .execute();
  const found: string[] = [];
  for (const { username, password_hash } of superusers) {
    if (await passwords.matches(LOCAL_ADMIN.password, password_hash)) found.push(username);
  }
  if (found.length > 0) throw new DefaultPasswords(found);
}

/**
 * Ends all sessions and CLI tokens of the user, because someone with the old password may have created them. Returns
 * false for an unknown user.
 */
export function setPassword(
  db: Queries,
  { username, passwordHash, now }: { username: string; passwordHash: string; now: Date },
): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    const user = await tx
      .updateTable("users")
      .set({ password_hash: passwordHash, updated_at: now })
      .where("username", "=", username)
      .returning(["id", "username"])
      .executeTakeFirst();
    if (!user) return false;
    await endSessionsOf(unannounced(tx), user.id, now);
    await tx.deleteFrom("cli_tokens").where("user_id", "=", user.id).execute();
    const record = {
      action: "user.update",
      resource: { type: "user", id: user.id, name: user.username },
      orgId: null,
      changes: { password: "changed" },
    };
    const actor = { id: null, email: null, via: "system" } as const;
    await appendAudit(tx, [auditRow(record, { actor, sourceAddress: null, requestId: null }, newId(), now)]);
    return true;
  });
}
