import { ComponentInput, type ValidationItem } from "@binnacle/contract";
import Type from "typebox";
import type { ComponentRules } from "../apps/addon-component.ts";
import { newAppProblems } from "../apps/component-change.ts";
import { invalid, invalidValue } from "../fault.ts";
import { compileCheck } from "../http/validation.ts";
import type { RandomBytes } from "./generator.ts";
import { settleParameters } from "./parameter.ts";
import type { Patterns } from "./pattern.ts";
import { blameParameters, renderComponents, TemplateOutgrown } from "./render.ts";
import type { Template } from "./template.ts";

const checkForm = compileCheck({ body: Type.Object({ components: Type.Array(ComponentInput, { maxItems: 100 }) }) });

interface Means extends ComponentRules {
  readonly randomBytes: RandomBytes;
  readonly patterns: Patterns;
}

/** The components of the app that a template makes of the parameters. Throws the 422 with all that is wrong with them. */
export function componentsToDeploy(
  template: Pick<Template, "name" | "parameters" | "components">,
  given: Readonly<Record<string, unknown>>,
  { randomBytes, patterns, ...rules }: Means,
): ComponentInput[] {
  const { values, items } = settleParameters(template.parameters, given, randomBytes, patterns);
  if (items.length > 0) throw invalid(items);
  const blame = (problems: readonly ValidationItem[]) => {
    if (problems.length > 0) throw invalid(blameParameters(problems, template.components));
  };
  try {
    const body = { components: renderComponents(template.components, values) };
    blame(checkForm({ path: {}, query: {}, cookie: {}, body }));
    const components = body.components as ComponentInput[];
    blame(newAppProblems(appName(template.name, components), components, rules));
    return components;
  } catch (error) {
    if (error instanceof TemplateOutgrown) throw invalidValue(["body", "parameters"], error.message);
    throw error;
  }
}

/** What an app's name and a component's may have together. */
const LONGEST_NAMES_TOGETHER = 52;

/** The template's name, cut where the components' names leave no more room, with the suffix where there is one. */
export function appName(name: string, components: readonly { readonly name: string }[], suffix = ""): string {
  const longestComponent = Math.max(0, ...components.map((component) => component.name.length));
  const end = suffix && `-${suffix}`;
  const room = Math.max(1, LONGEST_NAMES_TOGETHER - longestComponent - end.length);
  return name.slice(0, room).replace(/-+$/, "") + end;
}
