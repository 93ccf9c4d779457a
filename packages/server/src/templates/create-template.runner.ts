import { StackTemplateContent, type ValidationItem, type StackTemplate as WireTemplate } from "@binnacle/contract";
import type { Caller } from "../access/caller.ts";
import { orgIdsSeenBy } from "../access/visibility.store.ts";
import type { FindDefinition } from "../apps/addon-component.ts";
import type { Clock } from "../clock.ts";
import type { Queries } from "../database/transaction.ts";
import { invalid } from "../fault.ts";
import type { Unit } from "../http/change.runner.ts";
import { compileCheck } from "../http/validation.ts";
import { newId } from "../id.adapter.ts";
import { lockActiveProject } from "../projects/project.store.ts";
import { type Patterns, patternsChecked } from "./pattern.ts";
import { insertTemplate, projectChoices, visibleCluster, visibleOrg } from "./template.store.ts";
import {
  chooseCluster,
  chooseOrg,
  chooseProject,
  contentOf,
  problemItems,
  type RequestedPlace,
  refuseProblems,
  refuseStrayIds,
  refuseUnlessWriter,
  type Template,
  type TemplatePlace,
  unknownCluster,
  wireTemplate,
} from "./template.ts";
import { addonSecretProblems, templateProblems } from "./template-problems.ts";

/** Returns the place of a new template, after the caller is authorized for its scope there. */
export async function authorizedPlace(
  db: Queries,
  caller: Caller,
  wanted: RequestedPlace,
  scope: Template["scope"] = "project",
): Promise<TemplatePlace> {
  refuseStrayIds(scope, wanted);
  const { namespace, org_id, cluster_id } = wanted;
  const named = org_id === undefined ? null : await visibleOrg(db, caller, org_id);
  const projects = await projectChoices(db, caller, wanted);
  if (scope === "project") {
    const project = chooseProject(projects, wanted);
    refuseUnlessWriter(scope, project.standing);
    return { org_id: project.org_id, namespace, project_id: project.id, cluster_id: null };
  }
  const cluster = cluster_id === undefined ? null : await visibleCluster(db, caller, cluster_id);
  if (cluster && named && cluster.org_id !== named.id) throw unknownCluster();
  const orgId = cluster?.org_id ?? named?.id ?? chooseOrg(projects, await orgIdsSeenBy(db, caller));
  const org = named ?? (await visibleOrg(db, caller, orgId));
  refuseUnlessWriter(scope, org.standing);
  const clusterId = scope === "cluster" ? (cluster?.id ?? chooseCluster(projects, wanted)) : null;
  return { org_id: org.id, namespace, project_id: null, cluster_id: clusterId };
}

const checkForm = compileCheck({ body: StackTemplateContent });

/** Validates generated content like a request body. */
export function contentItems(content: unknown): readonly ValidationItem[] {
  return checkForm({ path: {}, query: {}, cookie: {}, body: content });
}

/** Throws the 422 of content that is not of the right form. */
export function refuseMalformedContent(content: unknown): StackTemplateContent {
  const items = contentItems(content);
  if (items.length > 0) throw invalid(items);
  return content as StackTemplateContent;
}

/** Returns what is wrong with the readable part of malformed content. Its patterns are not tested. */
export function problemsBeside(
  content: Required<Pick<StackTemplateContent, "parameters" | "components">>,
  find: FindDefinition,
  isPartial: boolean,
): ValidationItem[] {
  const problems = [
    ...templateProblems(content, patternsChecked, { isPartial }),
    ...addonSecretProblems(content.components, find),
  ];
  return problemItems(problems, ["body"]);
}

/** Throws the 422 of invalid content. `find` is needed where the content may name addons. */
export function refuseBrokenContent(
  given: Pick<StackTemplateContent, "parameters" | "components">,
  patterns: Patterns,
  find: FindDefinition = () => undefined,
  judging: { readonly judgesApp?: boolean } = {},
): void {
  const { parameters = [], components } = given;
  refuseProblems([
    ...templateProblems({ parameters, components }, patterns, judging),
    ...addonSecretProblems(components, find),
  ]);
}

interface Making {
  readonly place: TemplatePlace;
  readonly content: StackTemplateContent;
  /** The source of the template, for the audit log. */
  readonly source?: Record<string, unknown>;
}

/** Creates the template in the same form as the answer, because a repeated request gets that answer again. */
export async function createTemplate(
  { db, record }: Unit,
  clock: Clock,
  { place, content, source = {} }: Making,
): Promise<WireTemplate> {
  if (place.project_id !== null) await lockActiveProject(db, place.project_id);
  const now = clock();
  const template: Template = {
    id: newId(),
    ...contentOf(content),
    ...place,
    generation: 1,
    created_at: now,
    updated_at: now,
  };
  await insertTemplate(db, template);
  const { version, scope, name, org_id, namespace, project_id, cluster_id } = template;
  const ids = { ...(project_id && { project_id }), ...(cluster_id && { cluster_id }) };
  record({
    action: "stack_template.create",
    resource: { type: "stack_template", id: template.id, name: `${namespace}/${name}` },
    orgId: org_id,
    changes: { version, scope, ...ids, ...source },
  });
  return wireTemplate(template);
}
