import type { BindingRole, OrgRole } from "@binnacle/contract";
import { type RawBuilder, type SqlBool, sql } from "kysely";
import type { Queries } from "../database/transaction.ts";
import { boundaryOf } from "./caller.store.ts";
import type { Boundary, Caller, Credential } from "./caller.ts";
import { type Access, isWithin, type PlaceIds, type Standing, strongest } from "./role.ts";

/**
 * The rules of visibility as SQL, for lists. Each predicate selects exactly the rows for which `decide` in `role.ts` does not answer
 * "hidden"; a property test compares the two through the API.
 */
type Viewer = Pick<Caller, "id" | "isSuperuser" | "boundary">;
type Predicate = RawBuilder<SqlBool>;

const EVERYTHING: Predicate = sql<SqlBool>`true`;
const NOTHING: Predicate = sql<SqlBool>`false`;

/** An organization and its clusters do not exist for a token that is bound to a project. */
function orgWithin(boundary: Boundary | null, orgId: string): Predicate {
  if (!boundary) return EVERYTHING;
  return "org_id" in boundary ? sql<SqlBool>`${sql.ref(orgId)} = ${boundary.org_id}` : NOTHING;
}

const memberOrgs = ({ id }: Viewer) => sql`(select org_id from memberships where user_id = ${id})`;
const administeredOrgs = ({ id }: Viewer) =>
  sql`(select org_id from memberships where user_id = ${id} and role = 'admin')`;

/** An organization is visible to its members. `orgId` is the column that holds its id. */
export function visibleOrgs(viewer: Viewer, orgId = "orgs.id"): Predicate {
  const within = orgWithin(viewer.boundary, orgId);
  return viewer.isSuperuser ? within : sql<SqlBool>`(${sql.ref(orgId)} in ${memberOrgs(viewer)} and ${within})`;
}

/** A cluster is visible to every member of its organization. */
export const visibleClusters = (viewer: Viewer): Predicate => visibleOrgs(viewer, "clusters.org_id");

/** Users see themselves and everybody with whom they share an organization. CLI tokens do not read users. */
export const visibleUsers = (viewer: Viewer): Predicate =>
  viewer.isSuperuser
    ? EVERYTHING
    : sql<SqlBool>`(users.id = ${viewer.id}
        or users.id in (select user_id from memberships where org_id in ${memberOrgs(viewer)}))`;

/** The places of facts about the viewer in a text of SQL. */
export const VIEWER = ":viewer";
export const VIEWER_IS_SUPERUSER = ":is_superuser";
export const VIEWER_ORG = ":bound_org";
export const VIEWER_PROJECT = ":bound_project";

/**
 * A project is visible to administrators of its organization and to whoever has a role on it or on its cluster. The three
 * scopes do not overlap, so that the kept totals of organizations and clusters can be added up.
 */
const PROJECT_GRANTS = `
  administered as (select org_id as id from memberships where user_id = ${VIEWER} and role = 'admin'),
  bound as (
    select c.id from role_bindings b join clusters c on c.id = b.cluster_id
    where b.user_id = ${VIEWER} and c.org_id not in (select id from administered)
  ),
  direct as (
    select p.* from role_bindings b join projects p on p.id = b.project_id
    where b.user_id = ${VIEWER} and p.org_id not in (select id from administered)
      and p.cluster_id not in (select id from bound)
  )`;

const withinOrg = (orgId: string) =>
  `${VIEWER_PROJECT}::uuid is null and (${VIEWER_ORG}::uuid is null or ${orgId} = ${VIEWER_ORG}::uuid)`;

/** Whether the viewer has a role on the project `p`, on its cluster or in its organization. */
const HAS_ROLE_ON_PROJECT = `(
  ${VIEWER_IS_SUPERUSER}
  or exists (select 1 from memberships m where m.user_id = ${VIEWER} and m.org_id = p.org_id and m.role = 'admin')
  or exists (select 1 from role_bindings b where b.user_id = ${VIEWER} and (b.project_id = p.id or b.cluster_id = p.cluster_id))
)`;

/** The same for a viewer whose CLI token may be bound. A superuser has the whole organization of the token. */
const BOUND_PROJECT_GRANTS = `
  administered as (
    select org_id as id from memberships where user_id = ${VIEWER} and role = 'admin' and ${withinOrg("org_id")}
    union select ${VIEWER_ORG}::uuid where ${VIEWER_IS_SUPERUSER} and ${VIEWER_ORG}::uuid is not null
  ),
  bound as (
    select c.id from role_bindings b join clusters c on c.id = b.cluster_id
    where b.user_id = ${VIEWER} and c.org_id not in (select id from administered) and ${withinOrg("c.org_id")}
  ),
  direct as (
    select p.* from role_bindings b join projects p on p.id = b.project_id
    where b.user_id = ${VIEWER} and p.org_id not in (select id from administered)
      and p.cluster_id not in (select id from bound) and ${withinOrg("p.org_id")}
    union all
    select p.* from projects p where p.id = ${VIEWER_PROJECT}::uuid and ${HAS_ROLE_ON_PROJECT}
  )`;

/** The projects that are visible, as a subquery with their `id`, `org_id` and `cluster_id`. */
const projectsBy = (grants: string) => `(
  with ${grants}
  select p.id, p.org_id, p.cluster_id from administered join projects p on p.org_id = administered.id
  union all select p.id, p.org_id, p.cluster_id from bound join projects p on p.cluster_id = bound.id
  union all select id, org_id, cluster_id from direct
)`;

const MEMBER_ORGS = `select org_id from memberships where user_id = ${VIEWER}`;

/** What a viewer with a credential of one kind sees, as texts of SQL. Only CLI tokens can be bound. */
export interface Visibility {
  readonly memberOrgs: string;
  readonly projectGrants: string;
  readonly visibleProjects: string;
  /** Whether the project `p` is visible. For one project this is a far smaller plan than looking for it among all of them. */
  readonly seesProject: string;
}

export const VISIBILITY: Readonly<Record<Credential["kind"], Visibility>> = {
  session: {
    memberOrgs: MEMBER_ORGS,
    projectGrants: PROJECT_GRANTS,
    visibleProjects: projectsBy(PROJECT_GRANTS),
    seesProject: HAS_ROLE_ON_PROJECT,
  },
  cli_token: {
    memberOrgs: `${MEMBER_ORGS} and ${withinOrg("org_id")}
      union select ${VIEWER_ORG}::uuid where ${VIEWER_IS_SUPERUSER} and ${VIEWER_ORG}::uuid is not null`,
    projectGrants: BOUND_PROJECT_GRANTS,
    visibleProjects: projectsBy(BOUND_PROJECT_GRANTS),
    seesProject: `((${VIEWER_ORG}::uuid is null or p.org_id = ${VIEWER_ORG}::uuid)
      and (${VIEWER_PROJECT}::uuid is null or p.id = ${VIEWER_PROJECT}::uuid) and ${HAS_ROLE_ON_PROJECT})`,
  },
};

const FACTS = new RegExp(`(${[VIEWER, VIEWER_IS_SUPERUSER, VIEWER_ORG, VIEWER_PROJECT].join("|")})`);

export function visibleProjects({
  id,
  isSuperuser,
  boundary,
}: Viewer): RawBuilder<{ id: string; org_id: string; cluster_id: string }> {
  if (isSuperuser && !boundary) return sql`(select id, org_id, cluster_id from projects)`;
  const facts: Readonly<Record<string, RawBuilder<unknown>>> = {
    [VIEWER]: sql`${id}`,
    [VIEWER_IS_SUPERUSER]: sql`${isSuperuser}::boolean`,
    [VIEWER_ORG]: sql`${boundary && "org_id" in boundary ? boundary.org_id : null}`,
    [VIEWER_PROJECT]: sql`${boundary && "project_id" in boundary ? boundary.project_id : null}`,
  };
  const parts = VISIBILITY[boundary ? "cli_token" : "session"].visibleProjects.split(FACTS);
  return sql.join(
    parts.map((part) => facts[part] ?? sql.raw(part)),
    sql``,
  );
}

export interface ProjectFilter {
  readonly org_id?: string | undefined;
  readonly project_id?: string | undefined;
  readonly cluster_id?: string | undefined;
}

/**
 * The ids of the visible projects in a place. Lists that are sorted and filtered by much else are read with them: PostgreSQL
 * cannot estimate how many projects the rules of visibility leave, and plans for all of them otherwise.
 */
export async function visibleProjectIds(db: Queries, viewer: Viewer, filter: ProjectFilter): Promise<string[]> {
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
 * A template is visible to everybody where it is global, to members of its organization where it is the organization's, to
 * those who see its project, and to those who have a role on its cluster or on a project there; `t` is the template.
 */
export function visibleTemplates(viewer: Viewer): Predicate {
  return sql<SqlBool>`(${templatesSeen(viewer)} and ${templatesWithin(viewer.boundary)})`;
}

/** Global templates are for everybody, like the catalog. */
function templatesWithin(boundary: Boundary | null): Predicate {
  if (!boundary) return EVERYTHING;
  return "org_id" in boundary
    ? sql<SqlBool>`(t.scope = 'global' or t.org_id = ${boundary.org_id})`
    : sql<SqlBool>`(t.scope = 'global' or t.project_id = ${boundary.project_id})`;
}

function templatesSeen(viewer: Viewer): Predicate {
  if (viewer.isSuperuser) return EVERYTHING;
  const bound = sql`(select cluster_id, project_id from role_bindings where user_id = ${viewer.id})`;
  return sql<SqlBool>`(
    t.scope = 'global'
    or t.org_id in ${administeredOrgs(viewer)}
    or (t.scope = 'organization' and t.org_id in ${memberOrgs(viewer)})
    or t.project_id in (
      select project_id from ${bound} as own
      union all select p.id from projects p join ${bound} as own on own.cluster_id = p.cluster_id
    )
    or t.cluster_id in (
      select cluster_id from ${bound} as own
      union all select p.cluster_id from projects p join ${bound} as own on own.project_id = p.id
    )
  )`;
}

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
