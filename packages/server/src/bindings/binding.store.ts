import { type BindingRole, type MatrixMember, MOST_MATRIX_ROLES } from "@binnacle/contract";
import { type Insertable, type RawBuilder, type Selectable, sql } from "kysely";
import type { AccessUnit } from "../access/access-change.ts";
import type { RoleBindingTable } from "../database/fleet-tables.ts";
import { readBounded } from "../database/prepared.adapter.ts";
import { isForeignKeyViolation, isUniqueViolation, type Queries } from "../database/transaction.ts";
import { conflict, invalidValue, notFound } from "../fault.ts";
import { ENOUGH_CHARACTERS } from "../http/pagination.ts";

/** The cluster or project of a role. A role on a cluster includes its projects. */
export interface Place {
  readonly kind: "cluster" | "project";
  readonly id: string;
  readonly orgId: string;
  readonly name: string;
}

const alreadyGranted = ({ kind }: Place) =>
  conflict(`The user already has a role on this ${kind}; replace it with PUT.`);

/** A role needs a membership, because others may not enter the organization. */
export const notAMember = () => invalidValue(["body", "user_id"], "The user is not a member of the organization");

/** The place was deleted during the request. */
const placeGone = ({ kind }: Place) => notFound(kind === "cluster" ? "Cluster" : "Project");

export type BindingRow = Selectable<RoleBindingTable>;

const columnOf = ({ kind }: Place) => `${kind}_id` as const;

const bindingsOf = (db: Queries, place: Place) => db.selectFrom("role_bindings").where(columnOf(place), "=", place.id);

interface Window {
  readonly limit: number;
  readonly offset: number;
}

export function listBindings(db: Queries, place: Place, { limit, offset }: Window): Promise<BindingRow[]> {
  const bindings = bindingsOf(db, place).selectAll().orderBy("id", "desc").limit(limit).offset(offset);
  return readBounded(db, bindings.compile(), ENOUGH_CHARACTERS);
}

export async function countBindings(db: Queries, place: Place): Promise<number> {
  const { total } = await bindingsOf(db, place)
    .select((count) => count.fn.countAll<number>().as("total"))
    .executeTakeFirstOrThrow();
  return total;
}

export async function insertBinding(
  { db, accessChanged }: AccessUnit,
  place: Place,
  binding: Pick<Insertable<RoleBindingTable>, "id" | "user_id" | "role">,
  now: Date,
): Promise<BindingRow> {
  accessChanged({ user_id: binding.user_id });
  return db
    .insertInto("role_bindings")
    .values({ ...binding, [columnOf(place)]: place.id, created_at: now, updated_at: now })
    .returningAll()
    .executeTakeFirstOrThrow()
    .catch((error: unknown) => {
      if (isUniqueViolation(error, `role_bindings_${place.kind}_taken`)) throw alreadyGranted(place);
      if (isForeignKeyViolation(error, `role_bindings_${place.kind}_id_fkey`)) throw placeGone(place);
      if (isForeignKeyViolation(error, "role_bindings_user_id_fkey")) throw notAMember();
      throw error;
    });
}

export async function findBinding(db: Queries, place: Place, userId: string): Promise<BindingRow> {
  const found = await bindingsOf(db, place).selectAll().where("user_id", "=", userId).executeTakeFirst();
  if (!found) throw notFound("Role binding");
  return found;
}

export async function findUsername(db: Queries, userId: string): Promise<string | null> {
  const user = await db.selectFrom("users").select("username").where("id", "=", userId).executeTakeFirst();
  return user?.username ?? null;
}

export async function updateBindingRole(
  { db, accessChanged }: AccessUnit,
  place: Place,
  userId: string,
  role: BindingRole,
  now: Date,
): Promise<BindingRow | undefined> {
  const binding = await db
    .updateTable("role_bindings")
    .set({ role, updated_at: now })
    .where(columnOf(place), "=", place.id)
    .where("user_id", "=", userId)
    .returningAll()
    .executeTakeFirst();
  if (binding) accessChanged({ user_id: binding.user_id });
  return binding;
}

/** Deletes a binding of this place only. */
export async function deleteBinding(
  { db, accessChanged }: AccessUnit,
  place: Place,
  bindingId: string,
): Promise<BindingRow | undefined> {
  const binding = await db
    .deleteFrom("role_bindings")
    .where(columnOf(place), "=", place.id)
    .where("id", "=", bindingId)
    .returningAll()
    .executeTakeFirst();
  if (binding) accessChanged({ user_id: binding.user_id });
  return binding;
}

/** The roles of the member of a page on places of its organization, by name: the first of them, and how many more there are. */
const rolesOn = (kind: Place["kind"], fields: RawBuilder<unknown>) => sql`
  select coalesce(json_agg(named order by place) filter (where place <= ${MOST_MATRIX_ROLES}), '[]') as first,
    greatest(count(*) - ${MOST_MATRIX_ROLES}, 0) as more
  from (
    select json_build_object('id', x.id, 'name', x.name, ${fields} 'role', b.role) as named, row_number() over (order by x.name, x.id) as place
    from role_bindings b join ${sql.table(`${kind}s`)} x on x.id = b.${sql.ref(`${kind}_id`)}
    where b.user_id = page.user_id and x.org_id = page.org_id
  ) roles`;

/** The members of an organization with their roles on its clusters and projects, by name. */
export function readRoleMatrix(db: Queries, orgId: string, { limit, offset }: Window): Promise<MatrixMember[]> {
  const members = sql<MatrixMember>`
    select page.user_id, page.name, page.email, page.role, on_clusters.first as clusters, on_projects.first as projects,
      on_clusters.more + on_projects.more as more_roles
    from (
      select m.org_id, m.user_id, u.name, u.email, m.role from memberships m join users u on u.id = m.user_id
      where m.org_id = ${orgId} order by u.name, u.id limit ${limit} offset ${offset}
    ) page
      cross join lateral (${rolesOn("cluster", sql``)}) on_clusters
      cross join lateral (${rolesOn("project", sql`'cluster_id', x.cluster_id,`)}) on_projects
    order by page.name, page.user_id
  `;
  return readBounded<MatrixMember>(db, members.compile(db), ENOUGH_CHARACTERS);
}
