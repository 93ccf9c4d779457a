import type { BindingRole, OrgRole, TemplateScope } from "@binnacle/contract";
import { type RawBuilder, type SqlBool, sql } from "kysely";
import type { Caller } from "../access/caller.ts";
import { judge, type Standing, strongest } from "../access/role.ts";
import type { Queries, Tx } from "../database/transaction.ts";
import { isForeignKeyViolation, isUniqueViolation } from "../database/violation.ts";
import {
  type Candidate,
  type ProjectChoice,
  type Template,
  templateNameTaken,
  templateNotFound,
  unknownCluster,
  unknownOrg,
  type WantedPlace,
} from "./template.ts";

/** The roles that were bound for the user on a project, by itself or with its cluster; `p` is the project. */
const rolesOnProject = (userId: string) => sql`
  select b.role from role_bindings b where b.user_id = ${userId} and (b.project_id = p.id or b.cluster_id = p.cluster_id)`;

/** Who sees a template; `t` is the template. The list and the reading of one both ask this. */
function visibleTo({ id, isSuperuser }: Caller): RawBuilder<SqlBool> {
  if (isSuperuser) return sql<SqlBool>`true`;
  const bound = sql`(select cluster_id, project_id from role_bindings where user_id = ${id})`;
  return sql<SqlBool>`(
    t.scope = 'global'
    or t.org_id in (select org_id from memberships where user_id = ${id} and role = 'admin')
    or (t.scope = 'organization' and t.org_id in (select org_id from memberships where user_id = ${id}))
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

interface Asked {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly scope?: TemplateScope | undefined;
  readonly orgId?: string | undefined;
}

function visibleTemplates(db: Queries, caller: Caller, { namespace, name, scope, orgId }: Asked) {
  let query = db.selectFrom("stack_templates as t").where(visibleTo(caller));
  if (namespace !== undefined) query = query.where("t.namespace", "=", namespace);
  if (name !== undefined) query = query.where("t.name", "=", name);
  if (scope !== undefined) query = query.where("t.scope", "=", scope);
  if (orgId !== undefined) query = query.where("t.org_id", "=", orgId);
  return query;
}

export async function listTemplates(
  db: Queries,
  caller: Caller,
  asked: Asked,
  page: { limit: number; offset: number },
): Promise<{ templates: Template[]; total: number }> {
  const visible = visibleTemplates(db, caller, asked);
  const [templates, { total }] = await Promise.all([
    visible.selectAll("t").orderBy("t.id", "desc").limit(page.limit).offset(page.offset).execute(),
    visible.select((count) => count.fn.countAll<number>().as("total")).executeTakeFirstOrThrow(),
  ]);
  return { templates, total };
}

/** Every template of that address which the caller sees. */
export async function findCandidates(db: Queries, caller: Caller, asked: Asked): Promise<Candidate[]> {
  const rows = await visibleTemplates(db, caller, asked)
    .leftJoin("memberships as m", (on) => on.onRef("m.org_id", "=", "t.org_id").on("m.user_id", "=", caller.id))
    .leftJoin("projects as p", "p.id", "t.project_id")
    .selectAll("t")
    .select(["m.role as org_role", sql<BindingRole[]>`array(${rolesOnProject(caller.id)})`.as("project_roles")])
    .orderBy("t.id")
    .execute();
  return rows.map(({ org_role, project_roles, ...template }) => ({
    template,
    standing: standingOf(caller, org_role, project_roles),
  }));
}

const standingOf = ({ isSuperuser }: Caller, orgRole: OrgRole | null, roles: readonly BindingRole[]): Standing => ({
  isSuperuser,
  orgRole,
  bindingRole: strongest(roles),
});

/** Throws the 404 of an organization that the caller does not see. */
export async function seenOrg(db: Queries, caller: Caller, id: string) {
  const org = await db
    .selectFrom("orgs as o")
    .leftJoin("memberships as m", (on) => on.onRef("m.org_id", "=", "o.id").on("m.user_id", "=", caller.id))
    .select(["o.id", "m.role"])
    .where("o.id", "=", id)
    .executeTakeFirst();
  const standing = standingOf(caller, org?.role ?? null, []);
  if (!org || judge({ needs: "org_role", role: "member", hidden: true }, standing) === "hidden") throw unknownOrg();
  return { id: org.id, standing };
}

/** Throws the 404 of a cluster that the caller does not see. */
export async function seenCluster(db: Queries, caller: Caller, id: string) {
  const cluster = await db
    .selectFrom("clusters as c")
    .leftJoin("memberships as m", (on) => on.onRef("m.org_id", "=", "c.org_id").on("m.user_id", "=", caller.id))
    .select(["c.id", "c.org_id", "m.role"])
    .where("c.id", "=", id)
    .executeTakeFirst();
  const standing = standingOf(caller, cluster?.role ?? null, []);
  if (!cluster || judge({ needs: "cluster_role", role: "member" }, standing) === "hidden") throw unknownCluster();
  return { id: cluster.id, org_id: cluster.org_id };
}

/** Projects of the namespace that the caller sees and that are what the request says, where it says something. */
export async function projectChoices(
  db: Queries,
  caller: Caller,
  { namespace, org_id, project_id }: WantedPlace,
): Promise<ProjectChoice[]> {
  let query = db
    .selectFrom("projects as p")
    .leftJoin("memberships as m", (on) => on.onRef("m.org_id", "=", "p.org_id").on("m.user_id", "=", caller.id))
    .select(["p.id", "p.org_id", "p.cluster_id", "m.role as org_role"])
    .select(sql<BindingRole[]>`array(${rolesOnProject(caller.id)})`.as("project_roles"))
    .where("p.namespace", "=", namespace);
  if (org_id !== undefined) query = query.where("p.org_id", "=", org_id);
  if (project_id !== undefined) query = query.where("p.id", "=", project_id);
  const projects = (await query.execute()).map(({ org_role, project_roles, ...project }) => ({
    ...project,
    standing: standingOf(caller, org_role, project_roles),
  }));
  return projects.filter(({ standing }) => judge({ needs: "project_role", role: "viewer" }, standing) === "allowed");
}

export async function membershipsOf(db: Queries, { id }: Caller): Promise<string[]> {
  const rows = await db.selectFrom("memberships").select("org_id").where("user_id", "=", id).execute();
  return rows.map(({ org_id }) => org_id);
}

function columnsOf({ components, parameters, ...template }: Template) {
  return { ...template, components: JSON.stringify(components), parameters: JSON.stringify(parameters) };
}

export async function insertTemplate(tx: Tx, template: Template): Promise<void> {
  await tx
    .insertInto("stack_templates")
    .values(columnsOf(template))
    .execute()
    .catch((error: unknown) => {
      if (isUniqueViolation(error, "stack_templates_name_taken")) throw templateNameTaken();
      // Deleted since the caller was seen to belong there.
      if (isForeignKeyViolation(error, "stack_templates_org_id_fkey")) throw unknownOrg();
      if (isForeignKeyViolation(error, "stack_templates_cluster")) throw unknownCluster();
      throw error;
    });
}

/** Locked, so that it is still the version that `If-Match` named when it is written. */
export async function lockTemplate(tx: Tx, id: string): Promise<Template> {
  const template = await tx
    .selectFrom("stack_templates")
    .selectAll()
    .where("id", "=", id)
    .forUpdate()
    .executeTakeFirst();
  if (!template) throw templateNotFound();
  return template;
}

export async function updateTemplate(tx: Tx, template: Template): Promise<void> {
  await tx.updateTable("stack_templates").set(columnsOf(template)).where("id", "=", template.id).execute();
}

export async function deleteTemplate(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom("stack_templates").where("id", "=", id).execute();
}
