import type { OrgRole } from "@binnacle/contract";
import { sql } from "kysely";
import type { AccessUnit } from "../access/access-change.ts";
import { isForeignKeyViolation, isUniqueViolation, type Queries, type Tx } from "../database/transaction.ts";
import { notFound } from "../fault.ts";
import {
  type Admin,
  alreadyMember,
  distinctSlug,
  type Member,
  type Org,
  orgNameTaken,
  slugOf,
  stillHasClusters,
} from "./org.ts";

interface Window {
  readonly limit: number;
  readonly offset: number;
}

export async function insertOrg(tx: Tx, org: Org): Promise<void> {
  await tx
    .insertInto("orgs")
    .values({ ...org, settings: JSON.stringify(org.settings) })
    .execute()
    .catch(rethrowTaken);
}

export async function updateOrgRow(tx: Tx, org: Org): Promise<void> {
  await tx
    .updateTable("orgs")
    .set({ ...org, settings: JSON.stringify(org.settings) })
    .where("id", "=", org.id)
    .execute()
    .catch(rethrowTaken);
}

function rethrowTaken(error: unknown): never {
  if (isUniqueViolation(error, "orgs_name_taken") || isUniqueViolation(error, "orgs_slug_taken")) throw orgNameTaken();
  throw error;
}

/** Choosing a slug is serialized, so that of two concurrent organizations the second sees the first. */
export async function chooseSlug(tx: Tx, name: string, id: string): Promise<string> {
  await sql`select pg_advisory_xact_lock(hashtext('orgs.slug'))`.execute(tx);
  const slug = slugOf(name, id);
  const holder = await tx
    .selectFrom("orgs")
    .select("id")
    .where("slug", "=", slug)
    .where("id", "<>", id)
    .executeTakeFirst();
  return holder ? distinctSlug(slug, id) : slug;
}

/** Locks the organization, so that decisions about it still hold at the write. */
export async function lockOrg(tx: Tx, id: string): Promise<Org> {
  const org = await tx.selectFrom("orgs").selectAll().where("id", "=", id).forUpdate().executeTakeFirst();
  if (!org) throw notFound("Organization");
  return org;
}

export async function deleteOrgRow(tx: Tx, id: string): Promise<void> {
  await tx
    .deleteFrom("orgs")
    .where("id", "=", id)
    .execute()
    .catch((error: unknown) => {
      if (isForeignKeyViolation(error, "clusters_org")) throw stillHasClusters();
      throw error;
    });
}

function members(db: Queries, orgId: string) {
  return db
    .selectFrom("memberships")
    .innerJoin("users", "users.id", "memberships.user_id")
    .select([
      "memberships.user_id",
      "users.name",
      "users.email",
      "memberships.role",
      "memberships.created_at",
      "memberships.updated_at",
    ])
    .where("memberships.org_id", "=", orgId);
}

export function listMemberRows(db: Queries, orgId: string, page: Window): Promise<Member[]> {
  return members(db, orgId)
    .orderBy("memberships.created_at", "desc")
    .orderBy("memberships.user_id", "desc")
    .limit(page.limit)
    .offset(page.offset)
    .execute();
}

export function findMember(db: Queries, orgId: string, userId: string): Promise<Member | undefined> {
  return members(db, orgId).where("memberships.user_id", "=", userId).executeTakeFirst();
}

export async function insertMember(
  { db, accessChanged }: AccessUnit,
  member: { orgId: string; userId: string; role: OrgRole; now: Date },
): Promise<void> {
  accessChanged({ user_id: member.userId });
  await db
    .insertInto("memberships")
    .values({
      org_id: member.orgId,
      user_id: member.userId,
      role: member.role,
      created_at: member.now,
      updated_at: member.now,
    })
    .execute()
    .catch((error: unknown) => {
      if (isUniqueViolation(error, "memberships_member_already")) throw alreadyMember();
      if (isForeignKeyViolation(error, "memberships_user_id_fkey")) throw notFound("User");
      throw error;
    });
}

export async function updateMemberRole(
  { db, accessChanged }: AccessUnit,
  orgId: string,
  userId: string,
  role: OrgRole,
  now: Date,
): Promise<void> {
  accessChanged({ user_id: userId });
  await db
    .updateTable("memberships")
    .set({ role, updated_at: now })
    .where("org_id", "=", orgId)
    .where("user_id", "=", userId)
    .execute();
}

/** The roles of the member on the organization's clusters and projects are deleted with the membership. */
export async function deleteMember({ db, accessChanged }: AccessUnit, orgId: string, userId: string): Promise<void> {
  accessChanged({ user_id: userId });
  await db
    .deleteFrom("role_bindings")
    .where("user_id", "=", userId)
    .where((is) =>
      is.or([
        is("cluster_id", "in", db.selectFrom("clusters").select("id").where("org_id", "=", orgId)),
        is("project_id", "in", db.selectFrom("projects").select("id").where("org_id", "=", orgId)),
      ]),
    )
    .execute();
  await db.deleteFrom("memberships").where("org_id", "=", orgId).where("user_id", "=", userId).execute();
}

/** Requires the organization to be locked: two administrators who step down at once would each rely on the other. */
export function adminsOf(tx: Tx, orgId: string): Promise<Admin[]> {
  return tx
    .selectFrom("memberships")
    .innerJoin("users", "users.id", "memberships.user_id")
    .select(["user_id", "users.disabled"])
    .where("org_id", "=", orgId)
    .where("role", "=", "admin")
    .execute();
}
