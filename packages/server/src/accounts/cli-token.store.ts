import type { AccessUnit } from "../access/access-change.ts";
import { boundaryOf } from "../access/caller.store.ts";
import type { Boundary, Caller } from "../access/caller.ts";
import { nameOfVisible } from "../access/visibility.store.ts";
import { isForeignKeyViolation, type Queries, type Tx } from "../database/transaction.ts";
import { notFound } from "../fault.ts";
import { type CliToken, MOST_CLI_TOKENS, tooManyCliTokens } from "./cli-token.ts";

const COLUMNS = [
  "id",
  "user_id",
  "name",
  "scopes",
  "org_id",
  "project_id",
  "expires_at",
  "last_used_at",
  "last_used_address",
  "created_at",
  "updated_at",
] as const;

export async function insertCliToken(tx: Tx, token: CliToken, digest: Buffer): Promise<void> {
  await tx
    .insertInto("cli_tokens")
    .values({ ...token, token_digest: digest })
    .execute()
    .catch((error: unknown) => {
      // The place was deleted after it was found to be visible.
      if (isForeignKeyViolation(error, "cli_tokens_org_id_fkey")) throw notFound("Organization");
      if (isForeignKeyViolation(error, "cli_tokens_project_id_fkey")) throw notFound("Project");
      throw error;
    });
}

/** Returns the place that a token is to be bound to. Throws the 404 of one that the caller does not see. */
export async function visibleBoundary(
  db: Queries,
  caller: Caller,
  { org_id, project_id }: { readonly org_id?: string | null; readonly project_id?: string | null },
): Promise<Boundary | null> {
  const boundary = boundaryOf(org_id?.toLowerCase(), project_id?.toLowerCase());
  if (boundary && (await nameOfVisible(db, caller, boundary)) === null) {
    throw notFound("org_id" in boundary ? "Organization" : "Project");
  }
  return boundary;
}

/**
 * Requires the user's row to be locked: of two tokens created at once, each would count itself as the last allowed one.
 */
export async function requireRoomForToken(tx: Tx, userId: string, now: Date): Promise<void> {
  const { live } = await tx
    .selectFrom("cli_tokens")
    .select((count) => count.fn.countAll<number>().as("live"))
    .where("user_id", "=", userId)
    .where("expires_at", ">", now)
    .executeTakeFirstOrThrow();
  if (live >= MOST_CLI_TOKENS) throw tooManyCliTokens();
}

export async function listCliTokensOf(db: Queries, userId: string, page: { limit: number; offset: number }) {
  const mine = db.selectFrom("cli_tokens").where("user_id", "=", userId);
  const [tokens, { total }] = await Promise.all([
    mine.select(COLUMNS).orderBy("id", "desc").limit(page.limit).offset(page.offset).execute(),
    mine.select((count) => count.fn.countAll<number>().as("total")).executeTakeFirstOrThrow(),
  ]);
  return { tokens, total };
}

export async function deleteCliTokenOf(
  { db, accessChanged }: AccessUnit,
  userId: string,
  id: string,
): Promise<CliToken | undefined> {
  const token = await db
    .deleteFrom("cli_tokens")
    .where("user_id", "=", userId)
    .where("id", "=", id)
    .returning(COLUMNS)
    .executeTakeFirst();
  if (token) accessChanged({ credential_id: token.id });
  return token;
}

/** Returns the number of deleted tokens. */
export async function deleteCliTokensOf(tx: Tx, userId: string): Promise<number> {
  const { numDeletedRows } = await tx.deleteFrom("cli_tokens").where("user_id", "=", userId).executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}
