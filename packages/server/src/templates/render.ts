import {
  ComponentInput,
  LONGEST_NAMES_TOGETHER,
  placeholdersIn,
  scanPlaceholders,
  type ValidationItem,
} from "@binnacle/contract";
import Type, { type TSchema } from "typebox";
import type { ComponentRules } from "../apps/addon-component.ts";
import { newAppProblems } from "../apps/component-change.ts";
import { invalid, invalidValue } from "../fault.ts";
import { compileCheck } from "../http/validation.ts";
import { type ParameterValue, type RandomBytes, resolveParameters } from "./parameter.ts";
import type { Patterns } from "./pattern.ts";
import type { Template } from "./template.ts";

/** The most characters of a rendered template. A small one can grow without bound: `${a}` a thousand times. */
export const LARGEST_RENDERED_CHARACTERS = 512 * 1024;

export class TemplateOutgrown extends Error {
  override readonly name = "TemplateOutgrown";
}

type Values = ReadonlyMap<string, ParameterValue | null>;

interface Shape extends TSchema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly patternProperties?: Readonly<Record<string, Shape>>;
  readonly items?: Shape;
}

const LEFT_OUT = Symbol("left out");

/**
 * Renders the components. Values are not searched for placeholders again. A text that is one placeholder becomes the
 * value with its type, or its text where the component has text there, as in an environment variable. An optional
 * parameter without a value leaves such a field out, and is empty inside other text. Throws TemplateOutgrown.
 */
export function renderComponents(components: readonly unknown[], values: Values): unknown[] {
  let room = LARGEST_RENDERED_CHARACTERS;
  const spend = (text: string): string => {
    room -= text.length;
    if (room < 0) throw new TemplateOutgrown("The template grows beyond what an app may be.");
    return text;
  };
  const meaning = (name: string): ParameterValue | null => {
    const value = values.get(name);
    if (value === undefined) throw new Error(`There is no parameter ${name}.`);
    return value;
  };

  function text(written: string, shape: Shape): unknown {
    const parts = scanPlaceholders(written);
    const [first] = parts;
    if (parts.length === 1 && typeof first === "object") {
      const value = meaning(first.name);
      if (value === null) return LEFT_OUT;
      const asText = spend(String(value));
      return isText(shape) ? asText : value;
    }
    return parts.map((part) => spend(typeof part === "string" ? part : String(meaning(part.name) ?? ""))).join("");
  }

  function filled(value: unknown, shape: Shape): unknown {
    if (typeof value === "string") return text(value, shape);
    if (Array.isArray(value)) {
      return value.map((item) => filled(item, shape.items ?? {})).filter((item) => item !== LEFT_OUT);
    }
    if (typeof value !== "object" || value === null) return value;
    const entries = Object.entries(value).map(([key, item]) => [spend(key), filled(item, fieldOf(shape, key))]);
    return Object.fromEntries(entries.filter(([, item]) => item !== LEFT_OUT));
  }

  return components.map((component) => filled(component, ComponentInput as Shape));
}

const isText = ({ type, enum: choices }: Shape) => type === "string" || typeof choices?.[0] === "string";

/** Free-form maps have one shape for all keys. */
function fieldOf({ properties = {}, patternProperties = {} }: Shape, key: string): Shape {
  return (Object.hasOwn(properties, key) ? properties[key] : Object.values(patternProperties)[0]) ?? {};
}

/**
 * Attributes problems of rendered components to the parameters that filled them, because a user who deploys a template
 * may never have seen its components.
 */
export function attributeToParameters(
  items: readonly ValidationItem[],
  components: readonly unknown[],
): ValidationItem[] {
  return items.flatMap(({ loc, msg, type }) => {
    const path = loc.slice(2);
    const names = [...placeholdersIn(nearest(components, path))];
    const message = `${["components", ...path].join(".")}: ${msg}`;
    if (names.length === 0) return [{ loc: ["body"], msg: message, type }];
    return names.map((name) => ({ loc: ["body", "parameters", name], msg: message, type }));
  });
}

/** Returns the value at the path, or the deepest existing one on it. */
function nearest(value: unknown, path: ValidationItem["loc"]): unknown {
  const [step, ...rest] = path;
  if (step === undefined || typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return value;
  return nearest((value as Record<string | number, unknown>)[step], rest);
}

const checkForm = compileCheck({ body: Type.Object({ components: Type.Array(ComponentInput, { maxItems: 100 }) }) });

interface Means extends ComponentRules {
  readonly randomBytes: RandomBytes;
  readonly patterns: Patterns;
}

/** Returns the components of the app for these parameters. Throws the 422 with all problems. */
export function componentsToDeploy(
  template: Pick<Template, "name" | "parameters" | "components"> & { readonly appName?: string | undefined },
  given: Readonly<Record<string, unknown>>,
  { randomBytes, patterns, ...rules }: Means,
): ComponentInput[] {
  const { values, items } = resolveParameters(template.parameters, given, randomBytes, patterns);
  if (items.length > 0) throw invalid(items);
  const blame = (problems: readonly ValidationItem[]) => {
    if (problems.length > 0) throw invalid(attributeToParameters(problems, template.components));
  };
  try {
    const body = { components: renderComponents(template.components, values) };
    blame(checkForm({ path: {}, query: {}, cookie: {}, body }));
    const components = body.components as ComponentInput[];
    const { appName: name } = template;
    if (name !== undefined && appName(name, components) !== name) {
      throw invalidValue(
        ["body", "name"],
        `With the template's components, the name is at most ${roomFor(components)} characters`,
      );
    }
    blame(newAppProblems(name ?? appName(template.name, components), components, rules));
    return components;
  } catch (error) {
    if (error instanceof TemplateOutgrown) throw invalidValue(["body", "parameters"], error.message);
    throw error;
  }
}

const roomFor = (components: readonly { readonly name: string }[], end = ""): number =>
  Math.max(1, LONGEST_NAMES_TOGETHER - Math.max(0, ...components.map(({ name }) => name.length)) - end.length);

/** Returns the template's name, shortened for the longest component name, with the suffix if there is one. */
export function appName(name: string, components: readonly { readonly name: string }[], suffix = ""): string {
  const end = suffix && `-${suffix}`;
  return name.slice(0, roomFor(components, end)).replace(/-+$/, "") + end;
}
