import type { Updateable } from "kysely";
import type { AccessUnit } from "../access/access-change.ts";
import type { Caller } from "../access/caller.ts";
import { counted, keptTotal, matchesAll, newest, seenText, WINDOW } from "../access/list.store.ts";
import { filterValues, isFiltered, type ListQuery, type QueriedList } from "../access/list.ts";
import { KNOWN_USERS, orgIdsOf, visibleUsers } from "../access/visibility.store.ts";
import { type ChangeRecord, inEachOrg } from "../audit/audit.ts";
import { columnsOf } from "../database/columns.ts";
import type { UserTable } from "../database/tables.ts";
import { isUniqueViolation, type Queries, type Tx } from "../database/transaction.ts";
import type { Unit } from "../http/change.runner.ts";
import { emailTaken, type User, usernameTaken } from "./user.ts";

/** All but the hash of the password. */
export const USER_COLUMNS = [
  "id",
  "name",
  "username",
  "email",
  "email_verified",
  "email_vouched_by",
  "profile_image_url",
  "is_superuser",
  "disabled",
  "tier_name",
  "created_at",
  "updated_at",
] as const;
const COLUMNS = USER_COLUMNS.map((column) => `users.${column}` as const);

export interface UserWithHash extends User {
  readonly password_hash: string;
}

export async function insertUser(tx: Tx, user: UserWithHash): Promise<void> {
  await tx
    .insertInto("users")
    .values({ ...user, email_vouched_by: [...user.email_vouched_by] })
    .execute()
    .catch(rethrowTaken);
}

export async function updateUserRow(
  tx: Tx,
  id: string,
  {
    email_vouched_by,
    ...changes
  }: Omit<Updateable<UserTable>, "email_vouched_by"> & Partial<Pick<User, "email_vouched_by">>,
): Promise<User> {
  return tx
    .updateTable("users")
    .set({ ...changes, ...(email_vouched_by ? { email_vouched_by: [...email_vouched_by] } : {}) })
    .where("id", "=", id)
    .returning(COLUMNS)
    .executeTakeFirstOrThrow()
    .catch(rethrowTaken);
}

function rethrowTaken(error: unknown): never {
  if (isUniqueViolation(error, "users_email_taken")) throw emailTaken();
  if (isUniqueViolation(error, "users_username_taken")) throw usernameTaken();
  throw error;
}

/** Finds a user by username or email address, as a login form sends it. */
export function findUserByLogin(db: Queries, login: string): Promise<UserWithHash | undefined> {
  return db
    .selectFrom("users")
    .select([...COLUMNS, "password_hash"])
    .where((is) => is.or([is("username", "=", login), is("email", "=", login)]))
    .executeTakeFirst();
}

export function findUser(db: Queries, id: string): Promise<UserWithHash | undefined> {
  return db
    .selectFrom("users")
    .select([...COLUMNS, "password_hash"])
    .where("id", "=", id)
    .executeTakeFirst();
}

export function findUserByEmail(db: Queries, email: string): Promise<User | undefined> {
  return db.selectFrom("users").select(COLUMNS).where("email", "=", email).executeTakeFirst();
}

export function findUserByUsername(db: Queries, username: string): Promise<User | undefined> {
  return db.selectFrom("users").select(COLUMNS).where("username", "=", username).executeTakeFirst();
}

/** Locks the user, so that decisions about the user still hold at the write. */
export function lockUser(tx: Tx, id: string): Promise<UserWithHash | undefined> {
  return tx
    .selectFrom("users")
    .select([...COLUMNS, "password_hash"])
    .where("id", "=", id)
    .forUpdate()
    .executeTakeFirst();
}

const LISTED = columnsOf("page", USER_COLUMNS);
const IS_KNOWN = `id in (${KNOWN_USERS})`;

const ALL: ListQuery = {
  name: "users",
  text: (bound) =>
    seenText({
      all: { page: `select * from ${newest("users", null, bound)} u ${WINDOW}`, total: keptTotal("users") },
      own: counted("users", IS_KNOWN),
      columns: LISTED,
    }),
};

/** A line break is in no name and in no text that is searched for. */
const SEARCH = { search: { contains: "lower(concat_ws(E'\\n', name, username, email))" } };
const IS_FOUND = matchesAll(SEARCH);
const FOUND: ListQuery = {
  name: "users found",
  text: () =>
    seenText({
      all: counted("users", IS_FOUND),
      own: counted("users", `${IS_KNOWN} and ${IS_FOUND}`),
      columns: LISTED,
    }),
};

export const userList: QueriedList<User, { readonly search?: string | undefined }> = {
  choose: (filter) =>
    isFiltered(SEARCH, filter) ? { query: FOUND, values: filterValues(SEARCH, filter) } : { query: ALL, values: [] },
};

export function findVisibleUser(db: Queries, caller: Caller, id: string): Promise<User | undefined> {
  return db
    .selectFrom("users")
    .select(COLUMNS)
    .where("users.id", "=", id)
    .where(visibleUsers(caller))
    .executeTakeFirst();
}

/** Records an audit entry about a user in each of their organizations. */
export async function recordInOrgsOf(
  userId: string,
  { db, record }: Pick<Unit, "db" | "record">,
  entry: Omit<ChangeRecord, "orgId">,
): Promise<void> {
  for (const each of inEachOrg(entry, await orgIdsOf(db, userId))) record(each);
}

export async function orgIdsAdministeredBy(db: Queries, userId: string): Promise<string[]> {
  const rows = await db
    .selectFrom("memberships")
    .select("org_id")
    .where("user_id", "=", userId)
    .where("role", "=", "admin")
    .execute();
  return rows.map(({ org_id }) => org_id);
}

/** Locks all enabled superusers, so that two who disable each other at once do not both succeed. */
export async function lockEnabledSuperusers(tx: Tx): Promise<string[]> {
  const rows = await tx
    .selectFrom("users")
    .select("id")
    .where("is_superuser", "=", true)
    .where("disabled", "=", false)
    .orderBy("id")
    .forUpdate()
    .execute();
  return rows.map(({ id }) => id);
}

/**
 * Locks the rows that the answer depends on: two last administrators who leave at once would each rely on the other.
 */
export async function deletionFacts(
  tx: Tx,
  userId: string,
): Promise<{ enabledSuperusers: string[]; soleAdminOf: string[] }> {
  const enabledSuperusers = await lockEnabledSuperusers(tx);
  const administered = tx
    .selectFrom("memberships as mine")
    .select("mine.org_id")
    .where("mine.user_id", "=", userId)
    .where("mine.role", "=", "admin");
  await tx.selectFrom("orgs").select("id").where("id", "in", administered).orderBy("id").forUpdate().execute();
  const alone = await tx
    .selectFrom("orgs")
    .select("orgs.name")
    .where("orgs.id", "in", administered)
    .where((is) =>
      is.not(
        is.exists(
          is
            .selectFrom("memberships as other")
            .innerJoin("users", "users.id", "other.user_id")
            .select("other.user_id")
            .whereRef("other.org_id", "=", "orgs.id")
            .where("other.role", "=", "admin")
            .where("users.disabled", "=", false)
            .where("other.user_id", "<>", userId),
        ),
      ),
    )
    .orderBy("orgs.name")
    .execute();
  return { enabledSuperusers, soleAdminOf: alone.map(({ name }) => name) };
}

export async function deleteUserRow({ db, accessChanged }: AccessUnit, id: string): Promise<void> {
  accessChanged({ user_id: id });
  await db.deleteFrom("users").where("id", "=", id).execute();
}
