import type { BindingRole, OrgRole } from "@binnacle/contract";
import { type RawBuilder, type SqlBool, sql } from "kysely";
import type { Queries } from "../database/transaction.ts";
import { boundaryOf } from "./caller.store.ts";
import type { Boundary, Caller } from "./caller.ts";
import { type Access, isWithin, type PlaceIds, type Standing, strongest } from "./role.ts";

/**
 * The rules of visibility as SQL, for lists. Each selects exactly the rows for which `decide` in `role.ts` does not answer
 * "hidden"; a property test compares the two through the API.
 */
export type Viewer = Pick<Caller, "id" | "isSuperuser" | "boundary">;
type Predicate = RawBuilder<SqlBool>;

const EVERYTHING: Predicate = sql<SqlBool>`true`;

/** Superusers see everything unless their CLI token is bound. */
const seesAll = ({ isSuperuser, boundary }: Viewer) => isSuperuser && !boundary;
export const SEES_ALL = "(caller_is_superuser and caller_org_id is null and caller_project_id is null)";

/**
 * The texts below are parts of statements that start with the CTE `caller`. A caller that is not bound has no organization
 * and no project there. They join it: a subquery for each fact is a node of the plan, which PostgreSQL prepares at each use.
 */
const withinOrg = (orgId: string) =>
  `caller_project_id is null and (caller_org_id is null or ${orgId} = caller_org_id)`;

/** A superuser has the whole organization that the CLI token is bound to, as if by this role. */
const orgsWithRole = (condition: string) => `
  select m.org_id as id from caller join memberships m on m.user_id = caller_id
  where ${condition} and ${withinOrg("m.org_id")} and not (caller_is_superuser and caller_org_id is not null)
  union all select caller_org_id from caller where caller_is_superuser and caller_org_id is not null`;

/** The ids of the caller's organizations. An organization and its clusters do not exist for a token that is bound to a project. */
export const MEMBER_ORGS = orgsWithRole("true");

/** The ids of the caller and of everybody who shares an organization with the caller. */
export const KNOWN_USERS = `select caller_id from caller
  union all select user_id from memberships where org_id in (${MEMBER_ORGS})`;

/** Whether the caller has a role on the project `p`, on its cluster or in its organization. */
const HAS_ROLE_ON_PROJECT = `(
  caller_is_superuser
  or exists (select 1 from memberships m where m.user_id = caller_id and m.org_id = p.org_id and m.role = 'admin')
  or exists (select 1 from role_bindings b where b.user_id = caller_id and (b.project_id = p.id or b.cluster_id = p.cluster_id))
)`;

/** Whether the caller sees the project `p`. For one project this is a far smaller plan than looking for it among all of them. */
export const SEES_PROJECT = `(caller_org_id is null or p.org_id = caller_org_id)
  and (caller_project_id is null or p.id = caller_project_id) and ${HAS_ROLE_ON_PROJECT}`;

/**
 * A project is visible to administrators of its organization and to whoever has a role on it or on its cluster. The three
 * scopes do not overlap, so that the kept totals of organizations and clusters can be added up.
 */
export const PROJECT_GRANTS = `
  administered as (${orgsWithRole("m.role = 'admin'")}),
  bound as (
    select c.id from caller join role_bindings b on b.user_id = caller_id join clusters c on c.id = b.cluster_id
    where ${withinOrg("c.org_id")} and c.org_id not in (select id from administered)
  ),
  direct as (
    select p.* from caller join role_bindings b on b.user_id = caller_id join projects p on p.id = b.project_id
    where ${withinOrg("p.org_id")} and p.org_id not in (select id from administered)
      and p.cluster_id not in (select id from bound)
    union all
    select p.* from caller join projects p on p.id = caller_project_id where ${HAS_ROLE_ON_PROJECT}
  )`;

/** The projects that the grants make visible, as a subquery with their `id`, `org_id` and `cluster_id`. */
export const VISIBLE_PROJECTS = `(
  select p.id, p.org_id, p.cluster_id from administered join projects p on p.org_id = administered.id
  union all select p.id, p.org_id, p.cluster_id from bound join projects p on p.cluster_id = bound.id
  union all select id, org_id, cluster_id from direct
)`;

/** The rows of a text, for a caller who has been read before. */
const seenBy = <T>({ id, isSuperuser, boundary }: Viewer, text: string): RawBuilder<T> => sql`(
  with caller as (
    select ${id}::uuid as caller_id, ${isSuperuser}::boolean as caller_is_superuser,
      ${boundary && "org_id" in boundary ? boundary.org_id : null}::uuid as caller_org_id,
      ${boundary && "project_id" in boundary ? boundary.project_id : null}::uuid as caller_project_id
  ) ${sql.raw(text)}
)`;

/** An organization, and each of its clusters, is visible to its members. `orgId` is the column that holds its id. */
export const visibleOrgs = (viewer: Viewer, orgId = "orgs.id"): Predicate =>
  seesAll(viewer) ? EVERYTHING : sql<SqlBool>`${sql.ref(orgId)} in ${seenBy(viewer, MEMBER_ORGS)}`;

/** CLI tokens do not read users. */
export const visibleUsers = (viewer: Viewer): Predicate =>
  viewer.isSuperuser ? EVERYTHING : sql<SqlBool>`users.id in ${seenBy(viewer, KNOWN_USERS)}`;

export const visibleProjects = (viewer: Viewer): RawBuilder<{ id: string; org_id: string; cluster_id: string }> =>
  seesAll(viewer)
    ? sql`(select id, org_id, cluster_id from projects)`
    : seenBy(viewer, `, ${PROJECT_GRANTS} select * from ${VISIBLE_PROJECTS} visible`);

export interface ProjectFilter {
  readonly org_id?: string | undefined;
  readonly project_id?: string | undefined;
  readonly cluster_id?: string | undefined;
}

/**
 * The ids of the visible projects in a place. Lists that are sorted and filtered by much else are read with them: PostgreSQL
 * cannot estimate how many projects the rules of visibility leave, and plans for all of them otherwise.
 */
async function visibleProjectIds(db: Queries, viewer: Viewer, filter: ProjectFilter): Promise<string[]> {
  const within = [
    ...(filter.org_id === undefined ? [] : [sql<SqlBool>`v.org_id = ${filter.org_id}`]),
    ...(filter.project_id === undefined ? [] : [sql<SqlBool>`v.id = ${filter.project_id}`]),
    ...(filter.cluster_id === undefined ? [] : [sql<SqlBool>`v.cluster_id = ${filter.cluster_id}`]),
  ];
  const { rows } = await sql<{ id: string }>`
    select v.id from ${visibleProjects(viewer)} v where ${sql.join([EVERYTHING, ...within], sql` and `)}
  `.execute(db);
  return rows.map(({ id }) => id);
}

/**
 * Where what a viewer sees is: everywhere, in a whole organization, or in these projects. Who sees all of an organization reads it by
 * that alone: the ids of its projects would be thousands, each with a search of its own.
 */
export type SeenPlaces =
  | { readonly everything: true }
  | { readonly org: string }
  | { readonly projects: readonly string[] };

export async function seenPlaces(db: Queries, viewer: Viewer, filter: ProjectFilter): Promise<SeenPlaces> {
  const { org_id: org, ...narrower } = filter;
  if (Object.values(narrower).every((id) => id === undefined)) {
    if (seesAll(viewer)) return org === undefined ? { everything: true } : { org };
    if (org !== undefined && (await administers(db, viewer, org))) return { org };
  }
  return { projects: await visibleProjectIds(db, viewer, filter) };
}

async function administers(db: Queries, viewer: Viewer, org: string): Promise<boolean> {
  const { rows } = await sql`
    select from ${seenBy(viewer, orgsWithRole("m.role = 'admin'"))} administered where id = ${org}`.execute(db);
  return rows.length > 0;
}

/** Whether a row with an organization and a project is in those places. `row` is its alias. */
export function isIn(seen: SeenPlaces, row: string, project = "project_id"): Predicate {
  if ("everything" in seen) return EVERYTHING;
  return "org" in seen
    ? sql<SqlBool>`${sql.ref(`${row}.org_id`)} = ${seen.org}`
    : sql<SqlBool>`${sql.ref(`${row}.${project}`)} = any (${seen.projects}::uuid[])`;
}

/** The organizations that the viewer belongs to, with any role or with one. */
export const memberOrgs = ({ id }: Viewer, role?: OrgRole) =>
  sql`(select org_id from memberships where user_id = ${id} and ${role ? sql`role = ${role}` : EVERYTHING})`;

/** The clusters and projects that the viewer has a role on. */
export const boundPlaces = ({ id }: Viewer) =>
  sql`(select cluster_id, project_id from role_bindings where user_id = ${id})`;

/** The caller's role in the organization whose id a column holds. */
export const orgRoleIn = ({ id }: Viewer, orgId: string): RawBuilder<OrgRole | null> =>
  sql`(select role from memberships where user_id = ${id} and org_id = ${sql.ref(orgId)})`;

/** The roles bound for the caller on the project `p` and on its cluster. */
export const rolesOnProject = ({ id }: Viewer): RawBuilder<BindingRole[]> =>
  sql`array(select role from role_bindings b where b.user_id = ${id} and (b.project_id = p.id or b.cluster_id = p.cluster_id))`;

/** Outside of its place a bound token has no role, whatever its user is. */
export const standingOf = (
  { isSuperuser, boundary }: Viewer,
  place: PlaceIds,
  orgRole: OrgRole | null,
  roles: readonly BindingRole[] = [],
): Standing =>
  isWithin(boundary, place)
    ? { isSuperuser, orgRole, bindingRole: strongest(roles) }
    : { isSuperuser: false, orgRole: null, bindingRole: null };

/** The organizations that a user belongs to. */
export async function orgIdsOf(db: Queries, userId: string): Promise<string[]> {
  const rows = await db.selectFrom("memberships").select("org_id").where("user_id", "=", userId).execute();
  return rows.map(({ org_id }) => org_id);
}

/** The name of an organization or a project; null if the viewer does not see it. */
export async function nameOfVisible(db: Queries, viewer: Viewer, place: Boundary): Promise<string | null> {
  const found =
    "org_id" in place
      ? await db
          .selectFrom("orgs")
          .select("orgs.name")
          .where("orgs.id", "=", place.org_id)
          .where(visibleOrgs(viewer))
          .executeTakeFirst()
      : await db
          .selectFrom("projects as p")
          .select("p.name")
          .where("p.id", "=", place.project_id)
          .where(sql<SqlBool>`p.id in (select id from ${visibleProjects(viewer)} visible)`)
          .executeTakeFirst();
  return found?.name ?? null;
}

/** The organizations of the caller that exist for the caller's credential. */
export async function orgIdsSeenBy(db: Queries, { id, boundary }: Viewer): Promise<string[]> {
  return (await orgIdsOf(db, id)).filter((org_id) => isWithin(boundary, { org_id }));
}

/** Reads what sessions and CLI tokens may see now, by their ids. One that is no longer valid is left out. */
export type AccessOf = (credentialIds: readonly string[], now: Date) => Promise<ReadonlyMap<string, Access>>;

interface AccessRow {
  credential_id: string;
  user_id: string;
  bound_org_id: string | null;
  bound_project_id: string | null;
  is_superuser: boolean;
  orgs: [string, OrgRole][];
  clusters: [string, BindingRole][];
  projects: [string, BindingRole][];
}

/** One statement, so that all of it is true at the same moment. */
export const accessOfCredentials =
  (db: Queries): AccessOf =>
  async (credentialIds, now) => {
    const { rows } = await sql<AccessRow>`
      select k.id as credential_id, u.id as user_id, k.org_id as bound_org_id, k.project_id as bound_project_id, u.is_superuser,
        coalesce((select jsonb_agg(jsonb_build_array(m.org_id, m.role)) from memberships m where m.user_id = u.id), '[]') as orgs,
        coalesce((select jsonb_agg(jsonb_build_array(b.cluster_id, b.role)) from role_bindings b
          where b.user_id = u.id and b.cluster_id is not null), '[]') as clusters,
        coalesce((select jsonb_agg(jsonb_build_array(b.project_id, b.role)) from role_bindings b
          where b.user_id = u.id and b.project_id is not null), '[]') as projects
      from (
        select id, user_id, null::uuid as org_id, null::uuid as project_id from sessions
        where id = any (${credentialIds}::uuid[]) and ended_at is null and expires_at > ${now}
        union all
        select id, user_id, org_id, project_id from cli_tokens
        where id = any (${credentialIds}::uuid[]) and expires_at > ${now}
      ) k join users u on u.id = k.user_id
      where not u.disabled
    `.execute(db);
    return new Map(
      rows.map((row) => [
        row.credential_id,
        {
          userId: row.user_id,
          boundary: boundaryOf(row.bound_org_id, row.bound_project_id),
          isSuperuser: row.is_superuser,
          orgRoles: new Map(row.orgs),
          clusterRoles: new Map(row.clusters),
          projectRoles: new Map(row.projects),
        },
      ]),
    );
  };
