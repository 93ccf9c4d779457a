import { type BindingRole, type MatrixMember, MOST_MATRIX_MEMBERS } from "@binnacle/contract";
import { type Insertable, type Selectable, sql } from "kysely";
import type { AccessUnit } from "../access/access-change.ts";
import type { RoleBindingTable } from "../database/fleet-tables.ts";
import { isForeignKeyViolation, isUniqueViolation, type Queries } from "../database/transaction.ts";
import { conflict, invalidValue, notFound } from "../fault.ts";

/** The cluster or project of a role. A role on a cluster includes its projects. */
export interface Place {
  readonly kind: "cluster" | "project";
  readonly id: string;
  readonly orgId: string;
}

const alreadyGranted = ({ kind }: Place) =>
  conflict(`The user already has a role on this ${kind}; replace it with PUT.`);

/** A role needs a membership, because others may not enter the organization. */
export const notAMember = () => invalidValue(["body", "user_id"], "The user is not a member of the organization");

/** The place was deleted during the request. */
const placeGone = ({ kind }: Place) => notFound(kind === "cluster" ? "Cluster" : "Project");

export type BindingRow = Selectable<RoleBindingTable>;

const columnOf = ({ kind }: Place) => `${kind}_id` as const;

export function listBindings(db: Queries, place: Place): Promise<BindingRow[]> {
  return db
    .selectFrom("role_bindings")
    .selectAll()
    .where(columnOf(place), "=", place.id)
    .orderBy("id", "desc")
    .execute();
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
  const found = await db
    .selectFrom("role_bindings")
    .selectAll()
    .where(columnOf(place), "=", place.id)
    .where("user_id", "=", userId)
    .executeTakeFirst();
  if (!found) throw notFound("Role binding");
  return found;
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

/** The members of an organization with their roles on its clusters and projects, by name. */
export async function readRoleMatrix(db: Queries, orgId: string): Promise<MatrixMember[]> {
  const { rows } = await sql<MatrixMember>`
    select m.user_id, u.name, u.email, m.role,
      (select coalesce(json_agg(json_build_object('id', c.id, 'name', c.name, 'role', b.role) order by c.name, c.id), '[]')
        from role_bindings b join clusters c on c.id = b.cluster_id
        where b.user_id = m.user_id and c.org_id = m.org_id) as clusters,
      (select coalesce(json_agg(
          json_build_object('id', p.id, 'name', p.name, 'cluster_id', p.cluster_id, 'role', b.role) order by p.name, p.id
        ), '[]')
        from role_bindings b join projects p on p.id = b.project_id
        where b.user_id = m.user_id and p.org_id = m.org_id) as projects
    from memberships m join users u on u.id = m.user_id
    where m.org_id = ${orgId} order by u.name, u.id limit ${MOST_MATRIX_MEMBERS}
  `.execute(db);
  return rows;
}
