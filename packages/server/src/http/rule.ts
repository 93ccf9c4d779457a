import type { ErrorObject } from "ajv";

/** A rule of the contract that a value breaks. */
export interface BrokenRule {
  /** What the rule says, for the caller to read. */
  readonly description: string;
  /** The error only tells how the rule came to be broken: it is about one of the alternatives, or about the condition. */
  readonly isPart: boolean;
}

/** `#/properties/env/items/allOf/0/oneOf/1/required` → the rule at `#/properties/env/items/allOf/0`, and what is below it. */
const RULE = /^#(.*\/allOf\/\d+)\/(.*)$/;

/** The rule that an error of Ajv comes from; null for one that comes from a field alone. */
export function brokenRule(schema: unknown, { schemaPath, keyword }: ErrorObject): BrokenRule | null {
  const [, path = "", below = ""] = RULE.exec(schemaPath) ?? [];
  if (!path) return null;
  const { description } = schemaAt(schema, path) as { readonly description: string };
  return { description, isPart: keyword === "if" || /^(oneOf|anyOf|if|not)\//.test(below) };
}

/** The values that tell the alternatives of a `discriminator` apart. */
export function tagsOf(schema: unknown, { schemaPath, params }: ErrorObject): unknown[] {
  const { oneOf } = schemaAt(schema, schemaPath.slice(1, schemaPath.lastIndexOf("/"))) as {
    readonly oneOf: readonly { readonly properties: Readonly<Record<string, { readonly const: unknown }>> }[];
  };
  return oneOf.map(({ properties }) => properties[params["tag"]]?.const);
}

function schemaAt(schema: unknown, path: string): unknown {
  const steps = path.split("/").slice(1);
  return steps.reduce<unknown>((at, step) => {
    const key = decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~");
    return (at as Record<string, unknown>)[key];
  }, schema);
}
