import { ComponentInput, placeholdersIn, scanPlaceholders, type ValidationItem } from "@binnacle/contract";
import type { TSchema } from "typebox";
import type { ParameterValue } from "./parameter.ts";

/** Characters that a template may have once it is filled in. A small one can grow without measure: `${a}` a thousand times. */
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
 * The components with every placeholder filled in, once: what a value says is never read as a placeholder again. A text
 * that is one placeholder and nothing else becomes the value, of its own type; where the component has a text there (an
 * environment variable), it becomes the value's text. An optional parameter without a value leaves such a field out, and
 * is empty inside of other text. Throws TemplateOutgrown.
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

/** Free-form maps have one shape for whatever key. */
function fieldOf({ properties = {}, patternProperties = {} }: Shape, key: string): Shape {
  return (Object.hasOwn(properties, key) ? properties[key] : Object.values(patternProperties)[0]) ?? {};
}

/**
 * What is wrong with the filled-in components, said of the parameters that filled the place. Whoever deploys a template
 * gives parameters, and mostly has never seen its components.
 */
export function blameParameters(items: readonly ValidationItem[], components: readonly unknown[]): ValidationItem[] {
  return items.flatMap(({ loc, msg, type }) => {
    const path = loc.slice(2);
    const names = [...placeholdersIn(nearest(components, path))];
    const said = `${["components", ...path].join(".")}: ${msg}`;
    if (names.length === 0) return [{ loc: ["body"], msg: said, type }];
    return names.map((name) => ({ loc: ["body", "parameters", name], msg: said, type }));
  });
}

/** The value at the path, or the last one on the way to it that is there. */
function nearest(value: unknown, path: ValidationItem["loc"]): unknown {
  const [step, ...rest] = path;
  if (step === undefined || typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return value;
  return nearest((value as Record<string | number, unknown>)[step], rest);
}
