import type { BindingRole, OrgRole } from "@binnacle/contract";
import { type RawBuilder, type SqlBool, sql } from "kysely";
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

/** A cluster is visible to every member of its organization. */
export const visibleClusters = (viewer: Viewer): Predicate => visibleOrgs(viewer, "clusters.org_id");

/** Users see themselves and everybody with whom they share an organization. */
export const visibleUsers = (viewer: Viewer): Predicate =>
  viewer.isSuperuser
    ? EVERYTHING
    : sql<SqlBool>`(users.id = ${viewer.id}
        or users.id in (select user_id from memberships where org_id in ${memberOrgs(viewer)}))`;

/** The place of the viewer's id in a text of SQL. */
export const VIEWER = ":viewer";

/**
 * A project is visible to administrators of its organization and to whoever has a role on it or on its cluster. The three
 * scopes do not overlap, so that the kept totals of organizations and clusters can be added up.
 */
export const PROJECT_GRANTS = `
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

/** The projects that are visible, as a subquery with their `id`, `org_id` and `cluster_id`. */
export const VISIBLE_PROJECTS = `(
  with ${PROJECT_GRANTS}
  select p.id, p.org_id, p.cluster_id from administered join projects p on p.org_id = administered.id
  union all select p.id, p.org_id, p.cluster_id from bound join projects p on p.cluster_id = bound.id
  union all select id, org_id, cluster_id from direct
)`;

export const visibleProjects = (viewer: Viewer): RawBuilder<{ id: string; org_id: string; cluster_id: string }> =>
  viewer.isSuperuser
    ? sql`(select id, org_id, cluster_id from projects)`
    : sql.join(
        VISIBLE_PROJECTS.split(VIEWER).map((part) => sql.raw(part)),
        sql`${viewer.id}`,
      );

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
