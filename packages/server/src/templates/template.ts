import type {
  BindingRole,
  OrgRole,
  StackTemplateContent,
  StackTemplateSummary,
  TemplateScope,
  ValidationItem,
  StackTemplate as WireTemplate,
} from "@binnacle/contract";
import type { Selectable } from "kysely";
import { strongest, type Verdict } from "../access/role.ts";
import type { Problem } from "../catalog/catalog-file.ts";
import type { StackTemplateTable } from "../database/fleet-tables.ts";
import { codedConflict, conflict, Fault, forbidden, invalid, invalidValue, notFound } from "../fault.ts";
import type { Versioned } from "../http/etag.ts";

export type Template = Selectable<StackTemplateTable>;

/** What the caller is to a namespace of an organization, and so to the templates there. */
export interface TemplateStanding {
  readonly isSuperuser: boolean;
  readonly orgRole: OrgRole | null;
  /** Bound on a project of that namespace or on its cluster. */
  readonly projectRoles: readonly BindingRole[];
  /** Whether the caller has a role on the cluster of such a project, or on any project there. */
  readonly worksOnCluster: boolean;
}

/** The same rule, for many templates at once, is the SQL of `template.store.ts`; a test holds the two together. */
export function judgeTemplate(scope: TemplateScope, act: "read" | "write", standing: TemplateStanding): Verdict {
  if (!isVisible(scope, standing)) return "hidden";
  return act === "read" || mayWrite(scope, standing) ? "allowed" : "forbidden";
}

function isVisible(scope: TemplateScope, { isSuperuser, orgRole, projectRoles, worksOnCluster }: TemplateStanding) {
  if (isSuperuser || orgRole === "admin" || scope === "global") return true;
  if (scope === "organization") return orgRole !== null;
  return scope === "cluster" ? worksOnCluster : projectRoles.length > 0;
}

function mayWrite(scope: TemplateScope, { isSuperuser, orgRole, projectRoles }: TemplateStanding): boolean {
  if (isSuperuser) return true;
  if (scope === "global") return false;
  if (orgRole === "admin") return true;
  const role = strongest(projectRoles);
  return scope === "project" && role !== null && role !== "viewer";
}

const WRITERS: Record<TemplateScope, string> = {
  project: "an editor of the project with its namespace",
  cluster: "an administrator of the organization",
  organization: "an administrator of the organization",
  global: "a superuser",
};

/** For one that is there: hidden from who may not see it, refused to who may see it and not write it. */
export function refuseUnlessAllowed(scope: TemplateScope, act: "read" | "write", standing: TemplateStanding): void {
  const verdict = judgeTemplate(scope, act, standing);
  if (verdict === "hidden") throw templateNotFound();
  if (verdict === "forbidden") throw mayNotWrite(scope);
}

/** For one that is to be made. Nothing is hidden by then: the caller belongs to the organization. */
export function refuseUnlessMaker(scope: TemplateScope, standing: TemplateStanding): void {
  if (!mayWrite(scope, standing)) throw mayNotWrite(scope);
}

const mayNotWrite = (scope: TemplateScope) =>
  forbidden(`A template of scope ${scope} is written by ${WRITERS[scope]}.`);

export const templateNotFound = () => notFound("Stack template");
export const templateNameTaken = () => conflict("A stack template with this namespace and name already exists.");
/** In other words than a guard's: what was not found stands in the body. */
export const unknownOrg = () => new Fault("not_found", "There is no organization with this org_id.");

export interface Candidate {
  readonly template: Template;
  readonly isMember: boolean;
}

/**
 * The one template that is meant. Those of one's own organizations come before what others have made global; for a
 * superuser, every organization is one's own.
 */
export function chooseTemplate(candidates: readonly Candidate[], isSuperuser: boolean): Template {
  const own = candidates.filter(({ isMember }) => isMember);
  const [first, ...more] = isSuperuser || own.length === 0 ? candidates : own;
  if (!first) throw templateNotFound();
  if (more.length === 0) return first.template;
  const { namespace, name } = first.template;
  throw codedConflict(
    "ambiguous_template",
    `Several organizations have a template ${namespace}/${name}; say which one by org_id.`,
    { org_ids: [first, ...more].map(({ template }) => template.org_id) },
  );
}

export interface OrgChoices {
  /** Organizations with a project of that namespace that the caller sees. */
  readonly ofProjects: readonly string[];
  readonly memberships: readonly string[];
}

/** Whose a new template is, where the request does not say. */
export function chooseOrg({ ofProjects, memberships }: OrgChoices): string {
  const candidates = ofProjects.length > 0 ? ofProjects : memberships;
  const [only, ...more] = candidates;
  if (only !== undefined && more.length === 0) return only;
  throw invalidValue(["body", "org_id"], "Which organization the template belongs to must be said");
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

/** Throws the 422 with all of them. */
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

export function wireSummary(template: Template): StackTemplateSummary {
  const { id, org_id, namespace, name, version, scope, description, icon, tags } = template;
  const times = { created_at: template.created_at.toISOString(), updated_at: template.updated_at.toISOString() };
  return { id, org_id, namespace, name, version, scope, description, icon, tags, ...times };
}

export function wireTemplate(template: Template): WireTemplate {
  return { ...wireSummary(template), parameters: template.parameters, components: template.components };
}

export const versionOf = ({ id, generation }: Template): Versioned => ({ id, version: generation });
export const newVersionOf = ({ id }: { id: string }): Versioned => ({ id, version: 1 });
