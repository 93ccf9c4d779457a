import type { BindingRole, OrgRole } from "@binnacle/contract";
import { type RawBuilder, type SqlBool, sql } from "kysely";
import type { ListQuery } from "../database/row-count.store.ts";
import type { Queries } from "../database/transaction.ts";
import type { Caller } from "./caller.ts";
import { type Access, type Standing, strongest } from "./role.ts";

/**
 * The rules of visibility as SQL, for lists. Each predicate selects exactly the rows for which `decide` in `role.ts` does not answer
 * "hidden"; a property test compares the two through the API.
 */
type Viewer = Pick<Caller, "id" | "isSuperuser">;
type Predicate = RawBuilder<SqlBool>;

const EVERYTHING: Predicate = sql<SqlBool>`true`;

const memberOrgs = ({ id }: Viewer) => sql`(select org_id from memberships where user_id = ${id})`;
const administeredOrgs = ({ id }: Viewer) =>
  sql`(select org_id from memberships where user_id = ${id} and role = 'admin')`;

/** An organization is visible to its members. `orgId` is the column that holds its id. */
export const visibleOrgs = (viewer: Viewer, orgId = "orgs.id"): Predicate =>
  viewer.isSuperuser ? EVERYTHING : sql<SqlBool>`${sql.ref(orgId)} in ${memberOrgs(viewer)}`;

export const orgList = (viewer: Viewer, { limit, offset }: Window): ListQuery => ({
  page: sql`select * from orgs where ${visibleOrgs(viewer)} order by id desc limit ${limit} offset ${offset}`,
  total: viewer.isSuperuser ? keptTotal("orgs") : sql`(select count(*) from ${memberOrgs(viewer)} as own)`,
});

/** A cluster is visible to every member of its organization. */
export const visibleClusters = (viewer: Viewer): Predicate => visibleOrgs(viewer, "clusters.org_id");

/** Users see themselves and everybody with whom they share an organization. */
export const visibleUsers = (viewer: Viewer): Predicate =>
  viewer.isSuperuser
    ? EVERYTHING
    : sql<SqlBool>`(users.id = ${viewer.id}
        or users.id in (select user_id from memberships where org_id in ${memberOrgs(viewer)}))`;

/**
 * A project is visible to administrators of its organization and to whoever has a role on it or on its cluster. The three
 * scopes do not overlap, so that the kept totals of organizations and clusters can be added up.
 */
const projectGrants = (viewer: Viewer) => sql`
  administered as (select org_id as id from ${administeredOrgs(viewer)} as own),
  bound as (
    select c.id from role_bindings b join clusters c on c.id = b.cluster_id
    where b.user_id = ${viewer.id} and c.org_id not in (select id from administered)
  ),
  direct as (
    select p.* from role_bindings b join projects p on p.id = b.project_id
    where b.user_id = ${viewer.id} and p.org_id not in (select id from administered)
      and p.cluster_id not in (select id from bound)
  )`;

/** The projects that are visible, as a subquery with their `id`, `org_id` and `cluster_id`. */
export const visibleProjects = (viewer: Viewer): RawBuilder<{ id: string; org_id: string; cluster_id: string }> =>
  viewer.isSuperuser
    ? sql`(select id, org_id, cluster_id from projects)`
    : sql`(
        with ${projectGrants(viewer)}
        select p.id, p.org_id, p.cluster_id from administered join projects p on p.org_id = administered.id
        union all select p.id, p.org_id, p.cluster_id from bound join projects p on p.cluster_id = bound.id
        union all select id, org_id, cluster_id from direct
      )`;

interface Window {
  readonly limit: number;
  readonly offset: number;
}

/** Without scopes, the total of the whole relation. */
const keptTotal = (relation: string, scopes?: RawBuilder<unknown>) => sql<number>`(
  select coalesce(sum(delta), 0)::bigint from row_counts
  where relation = ${relation} ${scopes ? sql`and scope in ${scopes}` : sql``})`;

/**
 * Visible projects, newest first, on one cluster where `clusterId` says so. Each scope gives its own newest from an index,
 * and the page is cut from those: a filter over the whole table would read all of it for a caller who sees little.
 */
export function projectList(viewer: Viewer, clusterId: string | undefined, { limit, offset }: Window): ListQuery {
  const window = sql`order by id desc limit ${limit} offset ${offset}`;
  if (viewer.isSuperuser) {
    const where = clusterId === undefined ? sql`` : sql`where cluster_id = ${clusterId}`;
    const scopes = clusterId === undefined ? WHOLE_RELATION : sql`(${clusterId}::uuid)`;
    return { page: sql`select * from projects ${where} ${window}`, total: keptTotal("projects", scopes) };
  }
  // On one cluster, whoever sees the whole organization or the whole cluster sees all of it.
  const scopes =
    clusterId === undefined
      ? sql`org_scopes as (select id from administered), cluster_scopes as (select id from bound),
          project_scopes as (select * from direct)`
      : sql`org_scopes as (select id from administered where false),
          cluster_scopes as (select id from clusters where id = ${clusterId}
            and (org_id in (select id from administered) or id in (select id from bound))),
          project_scopes as (select * from direct where cluster_id = ${clusterId})`;
  const grants = sql`with ${projectGrants(viewer)}, ${scopes}`;
  const newest = sql`order by id desc limit ${limit + offset}`;
  const total = keptTotal("projects", sql`(select id from org_scopes union all select id from cluster_scopes)`);
  return {
    page: sql`${grants} select * from (
        select p.* from org_scopes s, lateral (select * from projects where org_id = s.id ${newest}) p
        union all
        select p.* from cluster_scopes s, lateral (select * from projects where cluster_id = s.id ${newest}) p
        union all select * from project_scopes
      ) visible ${window}`,
    total: sql<number>`(${grants} select ${total} + (select count(*) from project_scopes))`,
  };
}

const WHOLE_RELATION = sql`('00000000-0000-0000-0000-000000000000'::uuid)`;

export interface ContentFilter {
  readonly org_id?: string | undefined;
  readonly project_id?: string | undefined;
}

/**
 * Apps and addon instances are visible with their project. Each project gives its own newest from an index. Totals are kept
 * for each project, so those of the visible ones are added up.
 */
function contentList(
  relation: "apps" | "addon_instances",
  viewer: Viewer,
  { org_id, project_id }: ContentFilter,
  { limit, offset }: Window,
): ListQuery {
  const table = sql.table(relation);
  const window = sql`order by id desc limit ${limit} offset ${offset}`;
  const matching = (org: string, project: string) => sql`true
    ${org_id === undefined ? sql`` : sql`and ${sql.ref(org)} = ${org_id}`}
    ${project_id === undefined ? sql`` : sql`and ${sql.ref(project)} = ${project_id}`}`;
  const projects = sql`(select visible.id from ${visibleProjects(viewer)} visible where ${matching("visible.org_id", "visible.id")})`;
  const page = viewer.isSuperuser
    ? sql`select * from ${table} where ${matching("org_id", "project_id")} ${window}`
    : sql`select newest.* from ${projects} seen, lateral (
          select * from ${table} where project_id = seen.id order by id desc limit ${limit + offset}
        ) newest ${window}`;
  if (viewer.isSuperuser && project_id !== undefined && org_id === undefined) {
    return { page, total: keptTotal(relation, sql`(${project_id}::uuid)`) };
  }
  const isWhole = viewer.isSuperuser && org_id === undefined && project_id === undefined;
  return { page, total: isWhole ? keptTotal(relation) : keptTotal(relation, projects) };
}

export const appList = (viewer: Viewer, filter: ContentFilter, page: Window) =>
  contentList("apps", viewer, filter, page);
export const addonInstanceList = (viewer: Viewer, filter: ContentFilter, page: Window) =>
  contentList("addon_instances", viewer, filter, page);

/**
 * A template is visible to everybody where it is global, to members of its organization where it is the organization's, to
 * those who see its project, and to those who have a role on its cluster or on a project there; `t` is the template.
 */
export function visibleTemplates(viewer: Viewer): Predicate {
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

export const standingOf = (
  { isSuperuser }: Viewer,
  orgRole: OrgRole | null,
  roles: readonly BindingRole[] = [],
): Standing => ({ isSuperuser, orgRole, bindingRole: strongest(roles) });

/** The organizations that a user belongs to. */
export async function orgIdsOf(db: Queries, userId: string): Promise<string[]> {
  const rows = await db.selectFrom("memberships").select("org_id").where("user_id", "=", userId).execute();
  return rows.map(({ org_id }) => org_id);
}

/** Reads what the users of these sessions may see now. A session that is no longer valid is left out. */
export type AccessOf = (sessionIds: readonly string[], now: Date) => Promise<ReadonlyMap<string, Access>>;

interface AccessRow {
  session_id: string;
  is_superuser: boolean;
  orgs: [string, OrgRole][];
  clusters: [string, BindingRole][];
  projects: [string, BindingRole][];
}

/** One statement, so that all of it is true at the same moment. */
export const accessOfSessions =
  (db: Queries): AccessOf =>
  async (sessionIds, now) => {
    const { rows } = await sql<AccessRow>`
      select s.id as session_id, u.is_superuser,
        coalesce((select jsonb_agg(jsonb_build_array(m.org_id, m.role)) from memberships m where m.user_id = u.id), '[]') as orgs,
        coalesce((select jsonb_agg(jsonb_build_array(b.cluster_id, b.role)) from role_bindings b
          where b.user_id = u.id and b.cluster_id is not null), '[]') as clusters,
        coalesce((select jsonb_agg(jsonb_build_array(b.project_id, b.role)) from role_bindings b
          where b.user_id = u.id and b.project_id is not null), '[]') as projects
      from sessions s join users u on u.id = s.user_id
      where s.id = any (${sessionIds}::uuid[]) and s.ended_at is null and s.expires_at > ${now}
        and not u.disabled
    `.execute(db);
    return new Map(
      rows.map((row) => [
        row.session_id,
        {
          isSuperuser: row.is_superuser,
          orgRoles: new Map(row.orgs),
          clusterRoles: new Map(row.clusters),
          projectRoles: new Map(row.projects),
        },
      ]),
    );
  };
