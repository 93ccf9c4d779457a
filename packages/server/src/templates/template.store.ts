import type { TemplateScope } from "@binnacle/contract";
import { type RawBuilder, type SqlBool, sql } from "kysely";
import type { Boundary, Caller } from "../access/caller.ts";
import type { Standing } from "../access/role.ts";
import {
  boundPlaces,
  memberOrgs,
  orgRoleIn,
  rolesOnProject,
  standingOf,
  visibleOrgs,
  visibleProjects,
} from "../access/visibility.store.ts";
import { LISTED_TEMPLATE_COLUMNS } from "../database/columns.ts";
import { isForeignKeyViolation, isUniqueViolation, type Queries, type Tx } from "../database/transaction.ts";
import {
  type Candidate,
  type ListedTemplate,
  type ProjectChoice,
  type RequestedPlace,
  type Template,
  templateNameTaken,
  templateNotFound,
  unknownCluster,
  unknownOrg,
} from "./template.ts";

/**
 * A template is visible to everybody where it is global, to members of its organization where it is the organization's, to
 * those who see its project, and to those who have a role on its cluster or on a project there; `t` is the template.
 */
export function visibleTemplates(viewer: Caller): RawBuilder<SqlBool> {
  return sql<SqlBool>`(${templatesSeen(viewer)} and ${templatesWithin(viewer.boundary)})`;
}

/** Global templates are for everybody, like the catalog. */
function templatesWithin(boundary: Boundary | null): RawBuilder<SqlBool> {
  if (!boundary) return sql<SqlBool>`true`;
  return "org_id" in boundary
    ? sql<SqlBool>`(t.scope = 'global' or t.org_id = ${boundary.org_id})`
    : sql<SqlBool>`(t.scope = 'global' or t.project_id = ${boundary.project_id})`;
}

function templatesSeen(viewer: Caller): RawBuilder<SqlBool> {
  if (viewer.isSuperuser) return sql<SqlBool>`true`;
  const bound = boundPlaces(viewer);
  return sql<SqlBool>`(
    t.scope = 'global'
    or t.org_id in ${memberOrgs(viewer, "admin")}
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

interface Asked {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly scope?: TemplateScope | undefined;
  readonly orgId?: string | undefined;
}

function matchingTemplates(db: Queries, caller: Caller, { namespace, name, scope, orgId }: Asked) {
  let query = db.selectFrom("stack_templates as t").where(visibleTemplates(caller));
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
): Promise<{ templates: ListedTemplate[]; total: number }> {
  const visible = matchingTemplates(db, caller, asked);
  const [templates, { total }] = await Promise.all([
    visible
      .select(LISTED_TEMPLATE_COLUMNS.map((column) => `t.${column}` as const))
      .orderBy("t.id", "desc")
      .limit(page.limit)
      .offset(page.offset)
      .execute(),
    visible.select((count) => count.fn.countAll<number>().as("total")).executeTakeFirstOrThrow(),
  ]);
  return { templates, total };
}

/** Returns all templates with the address that the caller sees. */
export async function findCandidates(db: Queries, caller: Caller, asked: Asked): Promise<Candidate[]> {
  const rows = await matchingTemplates(db, caller, asked)
    .leftJoin("projects as p", "p.id", "t.project_id")
    .selectAll("t")
    .select([orgRoleIn(caller, "t.org_id").as("org_role"), rolesOnProject(caller).as("project_roles")])
    .orderBy("t.id")
    .execute();
  return rows.map(({ org_role, project_roles, ...template }) => ({
    template,
    standing: standingOf(caller, template, org_role, project_roles),
  }));
}

/** Throws the 404 of an organization that the caller does not see. */
export async function visibleOrg(db: Queries, caller: Caller, id: string): Promise<{ id: string; standing: Standing }> {
  const org = await db
    .selectFrom("orgs")
    .select(["orgs.id", orgRoleIn(caller, "orgs.id").as("org_role")])
    .where("orgs.id", "=", id)
    .where(visibleOrgs(caller))
    .executeTakeFirst();
  if (!org) throw unknownOrg();
  return { id: org.id, standing: standingOf(caller, { org_id: org.id }, org.org_role) };
}

/** Throws the 404 of a cluster that the caller does not see. */
export async function visibleCluster(db: Queries, caller: Caller, id: string): Promise<{ id: string; org_id: string }> {
  const cluster = await db
    .selectFrom("clusters")
    .select(["clusters.id", "clusters.org_id"])
    .where("clusters.id", "=", id)
    .where(visibleOrgs(caller, "clusters.org_id"))
    .executeTakeFirst();
  if (!cluster) throw unknownCluster();
  return cluster;
}

/** Returns the visible projects with the namespace, filtered by the ids of the request. */
export async function projectChoices(
  db: Queries,
  caller: Caller,
  { namespace, org_id, project_id }: RequestedPlace,
): Promise<ProjectChoice[]> {
  let query = db
    .selectFrom("projects as p")
    .select(["p.id", "p.org_id", "p.cluster_id"])
    .select([orgRoleIn(caller, "p.org_id").as("org_role"), rolesOnProject(caller).as("project_roles")])
    .where("p.namespace", "=", namespace)
    .where(sql<SqlBool>`p.id in (select id from ${visibleProjects(caller)} visible)`);
  if (org_id !== undefined) query = query.where("p.org_id", "=", org_id);
  if (project_id !== undefined) query = query.where("p.id", "=", project_id);
  return (await query.execute()).map(({ org_role, project_roles, ...project }) => ({
    ...project,
    standing: standingOf(caller, { ...project, project_id: project.id }, org_role, project_roles),
  }));
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
      // The row was deleted after it was found to be visible.
      if (isForeignKeyViolation(error, "stack_templates_org_id_fkey")) throw unknownOrg();
      if (isForeignKeyViolation(error, "stack_templates_cluster")) throw unknownCluster();
      throw error;
    });
}

/** Locks the template, so that `If-Match` still holds at the write. */
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
