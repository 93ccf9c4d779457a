import { StackTemplateContent, type ValidationItem, type StackTemplate as WireTemplate } from "@binnacle/contract";
import type { Caller } from "../access/caller.ts";
import type { FindDefinition } from "../apps/addon-component.ts";
import type { Clock } from "../clock.ts";
import type { Queries } from "../database/transaction.ts";
import { invalid } from "../fault.ts";
import type { Unit } from "../http/change.ts";
import { compileCheck } from "../http/validation.ts";
import { newId } from "../id.ts";
import { addonSecretProblems } from "./addon-secret-problems.ts";
import type { Patterns } from "./pattern.ts";
import { insertTemplate, orgChoices, standingIn } from "./template.store.ts";
import { chooseOrg, contentOf, refuseProblems, refuseUnlessMaker, type Template, wireTemplate } from "./template.ts";
import { templateProblems } from "./template-problems.ts";

interface Place {
  readonly namespace: string;
  readonly org_id?: string | undefined;
}

/** The organization that a new template belongs to, once it is sure that the caller may write one of this scope there. */
export async function orgToWriteIn(
  db: Queries,
  caller: Caller,
  { namespace, org_id }: Place,
  scope: Template["scope"] = "project",
): Promise<string> {
  const orgId = org_id ?? chooseOrg(await orgChoices(db, caller, namespace));
  refuseUnlessMaker(scope, await standingIn(db, caller, orgId, namespace));
  return orgId;
}

const checkForm = compileCheck({ body: StackTemplateContent });

/** For content that was put together and not sent: everything that its form is lacking, as of a body. */
export function contentItems(content: unknown): readonly ValidationItem[] {
  return checkForm({ path: {}, query: {}, cookie: {}, body: content });
}

/** Throws the 422 of content that is not of the right form. */
export function refuseMalformedContent(content: unknown): StackTemplateContent {
  const items = contentItems(content);
  if (items.length > 0) throw invalid(items);
  return content as StackTemplateContent;
}

/** `find` is for content that may name addons of the catalog. */
export function refuseBrokenContent(
  given: Pick<StackTemplateContent, "parameters" | "components">,
  patterns: Patterns,
  find: FindDefinition = () => undefined,
): void {
  const { parameters = [], components } = given;
  refuseProblems([...templateProblems({ parameters, components }, patterns), ...addonSecretProblems(components, find)]);
}

interface Making {
  readonly orgId: string;
  readonly namespace: string;
  readonly content: StackTemplateContent;
  /** What it was made of, for the audit log. */
  readonly source?: Record<string, unknown>;
}

/** Made as it is answered, because a repeated request gets that answer back without another making. */
export async function makeTemplate(
  { db, record }: Unit,
  clock: Clock,
  { orgId, namespace, content, source = {} }: Making,
): Promise<WireTemplate> {
  const now = clock();
  const template: Template = {
    id: newId(),
    org_id: orgId,
    namespace,
    ...contentOf(content),
    generation: 1,
    created_at: now,
    updated_at: now,
  };
  await insertTemplate(db, template);
  const { version, scope, name } = template;
  record({
    action: "stack_template.create",
    resource: { type: "stack_template", id: template.id, name: `${namespace}/${name}` },
    orgId,
    changes: { version, scope, ...source },
  });
  return wireTemplate(template);
}
