import type { BindingRole, OrgRole, TemplateScope } from "@binnacle/contract";
import { type RawBuilder, type SqlBool, sql } from "kysely";
import type { Caller } from "../access/caller.ts";
import type { Queries, Tx } from "../database/transaction.ts";
import { isForeignKeyViolation, isUniqueViolation } from "../database/violation.ts";
import {
  type Candidate,
  type OrgChoices,
  type Template,
  type TemplateStanding,
  templateNameTaken,
  templateNotFound,
  unknownOrg,
} from "./template.ts";

/** Every project on which a role was bound for the user, by itself or with its cluster. */
const boundProjects = (userId: string) => sql<{
  org_id: string;
  cluster_id: string;
  namespace: string;
  role: BindingRole;
}>`(
  select p.org_id, p.cluster_id, p.namespace, b.role
    from role_bindings b join projects p on p.id = b.project_id where b.user_id = ${userId}
  union all
  select p.org_id, p.cluster_id, p.namespace, b.role
    from role_bindings b join projects p on p.cluster_id = b.cluster_id where b.user_id = ${userId}
)`;

/** Namespaces on the clusters where the user has some role: bound there, or on a project there. */
const reachedNamespaces = (userId: string) => sql<{ org_id: string; namespace: string }>`(
  select p.org_id, p.namespace from projects p
    where p.cluster_id in (select cluster_id from ${boundProjects(userId)} as bound)
)`;

/** The rule of `judgeTemplate` for reading; `t` is the template. */
function visibleTo({ id, isSuperuser }: Caller): RawBuilder<SqlBool> {
  if (isSuperuser) return sql<SqlBool>`true`;
  const mine = (role: RawBuilder<unknown>) =>
    sql`t.org_id in (select org_id from memberships where user_id = ${id} and role in (${role}))`;
  return sql<SqlBool>`(
    t.scope = 'global'
    or ${mine(sql`'admin'`)}
    or (t.scope = 'organization' and ${mine(sql`'admin', 'member'`)})
    or (t.scope = 'project' and (t.org_id, t.namespace) in (select org_id, namespace from ${boundProjects(id)} as bound))
    or (t.scope = 'cluster' and (t.org_id, t.namespace) in (select org_id, namespace from ${reachedNamespaces(id)} as reached))
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
    .selectAll("t")
    .select("m.role as org_role")
    .orderBy("t.id")
    .execute();
  return rows.map(({ org_role, ...template }) => ({ template, isMember: org_role !== null }));
}

/** Throws the 404 of an organization that the caller does not see. */
export async function standingIn(
  db: Queries,
  { id, isSuperuser }: Caller,
  orgId: string,
  namespace: string,
): Promise<TemplateStanding> {
  const { rows } = await sql<{ org_role: OrgRole | null; project_roles: BindingRole[]; works_on_cluster: boolean }>`
    select m.role as org_role,
      array(select role from ${boundProjects(id)} as bound
        where bound.org_id = o.id and bound.namespace = ${namespace}) as project_roles,
      exists(select 1 from ${reachedNamespaces(id)} as reached
        where reached.org_id = o.id and reached.namespace = ${namespace}) as works_on_cluster
    from orgs o left join memberships m on m.org_id = o.id and m.user_id = ${id}
    where o.id = ${orgId}`.execute(db);
  const [row] = rows;
  if (!row || (row.org_role === null && !isSuperuser)) throw unknownOrg();
  return {
    isSuperuser,
    orgRole: row.org_role,
    projectRoles: row.project_roles,
    worksOnCluster: row.works_on_cluster,
  };
}

/** Throws the 404 of an organization that the caller does not see. */
export async function refuseStrangers(db: Queries, { id, isSuperuser }: Caller, orgId: string): Promise<void> {
  const org = await db
    .selectFrom("orgs")
    .leftJoin("memberships", (on) => on.onRef("memberships.org_id", "=", "orgs.id").on("memberships.user_id", "=", id))
    .select("memberships.role")
    .where("orgs.id", "=", orgId)
    .executeTakeFirst();
  if (!org || (org.role === null && !isSuperuser)) throw unknownOrg();
}

export async function membershipsOf(db: Queries, userId: string): Promise<string[]> {
  const memberships = await db.selectFrom("memberships").select("org_id").where("user_id", "=", userId).execute();
  return memberships.map(({ org_id }) => org_id);
}

export async function orgChoices(db: Queries, { id, isSuperuser }: Caller, namespace: string): Promise<OrgChoices> {
  const administered = sql`(select org_id from memberships where user_id = ${id} and role = 'admin')`;
  const bound = sql`(select org_id from ${boundProjects(id)} as bound where bound.namespace = ${namespace})`;
  const [projects, memberships] = await Promise.all([
    db
      .selectFrom("projects")
      .select("org_id")
      .distinct()
      .where("namespace", "=", namespace)
      .$if(!isSuperuser, (query) => query.where(sql<SqlBool>`(org_id in ${administered} or org_id in ${bound})`))
      .execute(),
    membershipsOf(db, id),
  ]);
  return {
    ofProjects: projects.map(({ org_id }) => org_id),
    memberships,
  };
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
      // Deleted since the caller was seen to belong to it.
      if (isForeignKeyViolation(error, "stack_templates_org_id_fkey")) throw unknownOrg();
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
