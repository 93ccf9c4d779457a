import {
  type ParameterType,
  placeholdersIn,
  StackTemplateFile,
  type TemplateComponent,
  type TemplateParameter,
  valueAt,
} from "@binnacle/contract";
import type { Kind, Problem } from "./catalog-file.ts";

export const TEMPLATES: Kind<typeof StackTemplateFile> = {
  schema: StackTemplateFile,
  nameOf: ({ name }) => name,
  problems: (template) => [
    ...placeholderProblems(template),
    ...template.parameters.flatMap(parameterProblems),
    ...nameProblems(
      ["parameters"],
      template.parameters.map(({ name }) => name),
    ),
    ...nameProblems(["components"], template.components.map(nameOf)),
    ...template.components.flatMap((component, index) => mentionProblems(component, index, template.components)),
  ],
};

const nameOf = (component: TemplateComponent) => String(component["name"]);

/** A placeholder that nothing fills would reach the cluster as text; a required parameter that fills nothing is a mistake. */
function placeholderProblems({ parameters, components }: StackTemplateFile): Problem[] {
  const declared = new Set(parameters.map(({ name }) => name));
  const used = placeholdersIn(components);
  return [
    ...components.flatMap((component, index) =>
      [...placeholdersIn(component)]
        .filter((name) => !declared.has(name))
        .map((name) => ({ path: ["components", index], message: `uses \${${name}}, which is no parameter` })),
    ),
    ...parameters.flatMap(({ name, required }, index) =>
      required && !used.has(name)
        ? [{ path: ["parameters", index], message: `requires ${name} and does not use it` }]
        : [],
    ),
  ];
}

function nameProblems(path: readonly string[], names: readonly string[]): Problem[] {
  return names.flatMap((name, index) =>
    names.indexOf(name) < index ? [{ path: [...path, index], message: `names ${name} again` }] : [],
  );
}

function parameterProblems(parameter: TemplateParameter, index: number): Problem[] {
  const problem = (message: string) => [{ path: ["parameters", index], message }];
  if (parameter.type === "select" && !parameter.options) return problem("is a select without options");
  if (parameter.type === "secret" && parameter.default !== undefined) return problem("is a secret with a default");
  if (parameter.pattern !== undefined && !isPattern(parameter.pattern)) return problem("has a pattern that is none");
  if (parameter.default === undefined) return [];
  return fits(parameter, parameter.default) ? [] : problem("has a default that it would not take");
}

function isPattern(pattern: string): boolean {
  try {
    new RegExp(pattern, "u");
    return true;
  } catch {
    return false;
  }
}

type Value = string | number | boolean;

/** Whether a parameter takes the value. */
export function fits({ type, options, pattern, min, max }: TemplateParameter, value: Value): boolean {
  if (!IS_OF_TYPE[type](value)) return false;
  if (options && !options.includes(value)) return false;
  if (typeof value === "boolean") return true;
  const size = typeof value === "number" ? value : characters(value);
  if (min !== undefined && size < min) return false;
  if (max !== undefined && size > max) return false;
  return pattern === undefined || typeof value !== "string" || new RegExp(pattern, "u").test(value);
}

/** Code points, as JSON Schema counts them. */
const characters = (text: string) => Array.from(text).length;

const IS_OF_TYPE: Record<ParameterType, (value: Value) => boolean> = {
  string: (value) => typeof value === "string",
  secret: (value) => typeof value === "string",
  integer: (value) => Number.isInteger(value),
  number: (value) => typeof value === "number",
  boolean: (value) => typeof value === "boolean",
  select: () => true,
};

/** Whom a component waits for and whose exports it takes must be in the template too. */
function mentionProblems(component: TemplateComponent, index: number, all: readonly TemplateComponent[]): Problem[] {
  const names = all.map(nameOf);
  const env = listAt(component, ["workload_spec", "env"]);
  const mentioned = [
    ...listAt(component, ["depends_on"]),
    ...env.map((variable) => valueAt(variable, ["export_ref", "component"])),
    ...listAt(component, ["export_refs"]).map((reference) => valueAt(reference, ["component"])),
  ];
  return mentioned
    .filter((name) => typeof name === "string")
    .filter((name) => !names.includes(name))
    .map((name) => ({ path: ["components", index], message: `mentions ${name}, which is no component` }));
}

function listAt(value: unknown, path: readonly string[]): readonly unknown[] {
  const list = valueAt(value, path);
  return Array.isArray(list) ? list : [];
}
