import {
  appChanges,
  type ComponentSpec,
  EMPTY_REVISION,
  type StackTemplateContent,
  type StackTemplateSummary,
  type TemplateComponent,
  type TemplateScope,
  type ValidationItem,
  type StackTemplate as WireTemplate,
} from "@binnacle/contract";
import type { Selectable } from "kysely";
import { decide, type PlaceRequirement, type Standing } from "../access/role.ts";
import type { Problem } from "../catalog/catalog-file.ts";
import type { StackTemplateTable } from "../database/template-tables.ts";
import { codedConflict, conflict, Fault, forbidden, invalid, invalidValue, notFound } from "../fault.ts";
import type { Versioned } from "../http/etag.ts";

export type Template = Selectable<StackTemplateTable>;
export type ListedTemplate = Omit<Template, "components" | "parameters">;

const ORG_ADMIN = { needs: "org_role", role: "admin", hidden: false } as const;
const WRITERS: Record<TemplateScope, { readonly requirement: PlaceRequirement; readonly who: string }> = {
  project: { requirement: { needs: "project_role", role: "editor" }, who: "an editor of its project" },
  cluster: { requirement: ORG_ADMIN, who: "an administrator of the organization" },
  organization: { requirement: ORG_ADMIN, who: "an administrator of the organization" },
  global: { requirement: { needs: "superuser" }, who: "a superuser" },
};

/** Throws the 403. The caller sees the template or creates it, so nothing is hidden. */
export function refuseUnlessWriter(scope: TemplateScope, standing: Standing): void {
  const { requirement, who } = WRITERS[scope];
  if (decide(requirement, standing) !== "allowed") {
    throw forbidden(`A template of scope ${scope} is written by ${who}.`);
  }
}

export const templateNotFound = () => notFound("Stack template");
export const templateNameTaken = () => conflict("A stack template with this namespace and name already exists.");
/** The message differs from a guard's, because the missing id is in the body. */
export const unknownOrg = () => new Fault("not_found", "There is no organization with this org_id.");
export const unknownCluster = () => new Fault("not_found", "There is no cluster with this cluster_id.");
const unknownProject = (namespace: string) =>
  new Fault("not_found", `There is no project with this project_id in the namespace ${namespace}.`);

export interface Candidate {
  readonly template: Template;
  /** The roles of the caller in the organization and, for scope `project`, in the project. */
  readonly standing: Standing;
}

/**
 * Selects the template. Those of the caller's organizations take precedence over global ones of others; a superuser
 * belongs to every organization.
 */
export function chooseTemplate(candidates: readonly Candidate[]): Candidate {
  const own = candidates.filter(({ standing }) => standing.isSuperuser || standing.orgRole !== null);
  const [first, ...more] = own.length === 0 ? candidates : own;
  if (!first) throw templateNotFound();
  if (more.length === 0) return first;
  const { namespace, name } = first.template;
  throw codedConflict(
    "ambiguous_template",
    `Several organizations have a template ${namespace}/${name}; choose one with org_id.`,
    { org_ids: [first, ...more].map(({ template }) => template.org_id) },
  );
}

/** The place of a new template as the request names it. */
export interface RequestedPlace {
  readonly namespace: string;
  readonly org_id?: string | undefined;
  readonly project_id?: string | undefined;
  readonly cluster_id?: string | undefined;
}

export type TemplatePlace = Pick<Template, "org_id" | "namespace" | "project_id" | "cluster_id">;

/** A visible project with the namespace. */
export interface ProjectChoice {
  readonly id: string;
  readonly org_id: string;
  readonly cluster_id: string;
  readonly standing: Standing;
}

/** Throws the 422 of an id that a template of this scope does not have. */
export function refuseStrayIds(scope: TemplateScope, wanted: RequestedPlace): void {
  for (const other of ["project", "cluster"] as const) {
    const field = `${other}_id` as const;
    if (scope !== other && wanted[field] !== undefined) {
      throw invalidValue(["body", field], `Only a template of scope ${other} has a ${field}`);
    }
  }
}

/** Selects the project of a new template. */
export function chooseProject(
  choices: readonly ProjectChoice[],
  { namespace, project_id }: RequestedPlace,
): ProjectChoice {
  const [only, ...more] = choices;
  if (only && more.length === 0) return only;
  if (project_id !== undefined) throw unknownProject(namespace);
  throw fieldRequired("project_id", namespace, choices.length);
}

/** Selects the cluster of a new template if the request does not name it. */
export function chooseCluster(choices: readonly ProjectChoice[], { namespace }: RequestedPlace): string {
  const [only, ...more] = choices;
  if (only && more.length === 0) return only.cluster_id;
  throw fieldRequired("cluster_id", namespace, choices.length);
}

function fieldRequired(field: "project_id" | "cluster_id", namespace: string, projects: number): Fault {
  const count = projects === 0 ? "No project" : "More than one project";
  return invalidValue(["body", field], `${count} that you can see has the namespace ${namespace}: give the ${field}`);
}

/** Selects the organization of a new template if the request does not name it. */
export function chooseOrg(choices: readonly Pick<ProjectChoice, "org_id">[], memberships: readonly string[]): string {
  const ofProjects = [...new Set(choices.map(({ org_id }) => org_id))];
  const [only, ...more] = ofProjects.length > 0 ? ofProjects : memberships;
  if (only !== undefined && more.length === 0) return only;
  throw invalidValue(["body", "org_id"], "Give the organization that the template belongs to");
}

type Content = Pick<Template, "description" | "icon" | "tags" | "parameters" | "components">;

export function contentOf(
  given: Omit<StackTemplateContent, "namespace">,
): Content & Pick<Template, "name" | "version" | "scope"> {
  return {
    name: given.name,
    version: given.version ?? "1.0.0",
    scope: given.scope ?? "project",
    description: given.description ?? null,
    icon: given.icon ?? null,
    tags: given.tags ?? [],
    parameters: given.parameters ?? [],
    components: given.components,
  };
}

/** Throws the 422 with all problems. */
export function refuseProblems(problems: readonly Problem[]): void {
  if (problems.length > 0) throw invalid(problemItems(problems, ["body"]));
}

export function problemItems(problems: readonly Problem[], at: ValidationItem["loc"]): ValidationItem[] {
  return problems.map(({ path, message }) => ({
    loc: [...at, ...path],
    msg: message.slice(0, 1).toUpperCase() + message.slice(1),
    type: "value_error",
  }));
}

export function wireSummary(template: ListedTemplate): StackTemplateSummary {
  const { id, org_id, project_id, cluster_id, namespace, name, version, scope, description, icon, tags } = template;
  const times = { created_at: template.created_at.toISOString(), updated_at: template.updated_at.toISOString() };
  const place = { org_id, project_id, cluster_id, namespace };
  return { id, ...place, name, version, scope, description, icon, tags, ...times };
}

export function wireTemplate(template: Template): WireTemplate {
  return { ...wireSummary(template), parameters: template.parameters, components: template.components };
}

export const versionOf = ({ id, generation }: Template): Versioned => ({ id, version: generation });
export const newVersionOf = ({ id }: { id: string }): Versioned => ({ id, version: 1 });

/** Describes an update for the audit log. Components are compared as those of apps are: they may hold secrets. */
export const auditedUpdate = (before: Template, { components, ...rest }: Partial<StackTemplateContent>) => ({
  changes: { ...rest, fields: Object.keys({ ...rest, ...(components ? { components } : {}) }) },
  before,
  fields: components ? appChanges(revisionWith(before.components), revisionWith(components)) : [],
});

/** A placeholder is a text in the place of a number or a truth value; it is compared and shown as such. */
const revisionWith = (components: readonly TemplateComponent[]) => ({
  ...EMPTY_REVISION,
  components: components as unknown as readonly ComponentSpec[],
});
