import { PATTERN_MESSAGES, type ValidationItem, type ValidationType } from "@binnacle/contract";
import type { ErrorObject, ValidateFunction } from "ajv";

/** The items that come from a rule between fields: the value has the type of its schema. */
const ofRules = new WeakSet<ValidationItem>();
export const isOfRule = (item: ValidationItem): boolean => ofRules.has(item);

/** Converts Ajv's errors to the documented items. A broken rule is dropped where a field itself is invalid. */
export function itemsOf(part: string, value: unknown, { errors, schema }: ValidateFunction): ValidationItem[] {
  const found = (errors ?? []).flatMap((error) => {
    const rule = brokenRule(schema, error);
    const item = itemOf([part, ...stepsAlong(error.instancePath, value)], error, rule, schema);
    if (item && rule) ofRules.add(item);
    return item ? [{ item, field: JSON.stringify(item.loc) }] : [];
  });
  const wrongAlone = new Set(found.filter(({ item }) => !isOfRule(item)).map(({ field }) => field));
  return found.filter(({ item, field }) => !isOfRule(item) || !wrongAlone.has(field)).map(({ item }) => item);
}

const TYPE_ERRORS: Record<string, readonly [ValidationType, string]> = {
  string: ["string_type", "Input should be a valid string"],
  integer: ["int_type", "Input should be a valid integer"],
  number: ["float_type", "Input should be a valid number"],
  boolean: ["bool_type", "Input should be a valid boolean"],
  array: ["list_type", "Input should be a valid list"],
  object: ["dict_type", "Input should be a valid dictionary"],
};

const FORMAT_ERRORS: Record<string, readonly [ValidationType, string]> = {
  uuid: ["uuid_parsing", "Input should be a valid UUID"],
  "date-time": ["datetime_parsing", "Input should be a valid datetime"],
  email: ["value_error", "Input should be a valid email address"],
  uri: ["value_error", "Input should be a valid URL"],
};

function itemOf(
  loc: ValidationItem["loc"],
  error: ErrorObject,
  rule: BrokenRule | null,
  schema: unknown,
): ValidationItem | null {
  const { params } = error;
  const item = (type: ValidationType, msg: string, at: ValidationItem["loc"] = loc) => ({ loc: at, msg, type });
  if (rule && error.keyword !== "required") return rule.isPart ? null : item("value_error", rule.description);
  switch (error.keyword) {
    case "required":
      if (rule?.isPart) return null;
      return item("missing", requiredBy(schema, error), [...loc, params["missingProperty"]]);
    case "dependentRequired":
      return item("missing", `Field required with ${params["property"]}`, [...loc, params["missingProperty"]]);
    case "discriminator": {
      const at = [...loc, params["tag"]];
      if (params["tagValue"] === undefined) return item("missing", "Field required", at);
      return item("enum", `Input should be ${listed(tagsOf(schema, error))}`, at);
    }
    case "additionalProperties":
      return item("extra_forbidden", refusedKey(schema, error), [...loc, params["additionalProperty"]]);
    case "type": {
      const known = TYPE_ERRORS[String(params["type"])];
      // `null` is one alternative of a nullable field; the message of the other is the useful one.
      return known ? item(...known) : null;
    }
    case "format": {
      const known = FORMAT_ERRORS[String(params["format"])];
      return known ? item(...known) : item("value_error", `Input should be a valid ${params["format"]}`);
    }
    case "enum":
      return item("enum", `Input should be ${listed(params["allowedValues"])}`);
    case "const":
      return item("enum", `Input should be ${listed([params["allowedValue"]])}`);
    case "minimum":
      return item("greater_than_equal", `Input should be greater than or equal to ${params["limit"]}`);
    case "exclusiveMinimum":
      return item("greater_than", `Input should be greater than ${params["limit"]}`);
    case "maximum":
      return item("less_than_equal", `Input should be less than or equal to ${params["limit"]}`);
    case "exclusiveMaximum":
      return item("less_than", `Input should be less than ${params["limit"]}`);
    case "minLength":
      return item("string_too_short", `String should have at least ${counted(params["limit"], "character")}`);
    case "maxLength":
      return item("string_too_long", `String should have at most ${counted(params["limit"], "character")}`);
    case "pattern":
      return item(
        "string_pattern_mismatch",
        PATTERN_MESSAGES[params["pattern"]] ?? `String should match pattern '${params["pattern"]}'`,
      );
    case "minItems":
    case "minProperties":
      return item("too_short", `Input should have at least ${counted(params["limit"], "item")}`);
    case "maxItems":
    case "maxProperties":
      return item("too_long", `Input should have at most ${counted(params["limit"], "item")}`);
    case "uniqueItems":
      return item("value_error", "Input should not have an item twice");
    case "anyOf":
    case "if":
      return null;
    default:
      return item("value_error", error.message ?? "Input is not valid");
  }
}

/** Alternatives of required fields say which ones there are. */
function requiredBy(schema: unknown, { schemaPath }: ErrorObject): string {
  const [, path] = /^#(.*\/anyOf\/\d+)\/required$/.exec(schemaPath) ?? [];
  const { description } = (path ? schemaAt(schema, path) : {}) as { readonly description?: string };
  return description ?? "Field required";
}

/** A map refuses keys that do not match its pattern. */
function refusedKey(schema: unknown, { schemaPath }: ErrorObject): string {
  const { patternProperties = {} } = schemaAt(schema, schemaPath.slice(1, schemaPath.lastIndexOf("/"))) as {
    readonly patternProperties?: object;
  };
  const [pattern = ""] = Object.keys(patternProperties);
  const words = PATTERN_MESSAGES[pattern];
  return words ? words.replace(/^Input/, "The key") : "Extra inputs are not permitted";
}

const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? "" : "s"}`;

function listed(values: readonly unknown[]): string {
  const quoted = values.map((value) => `'${String(value)}'`);
  const last = quoted.pop();
  return quoted.length ? `${quoted.join(", ")} or ${last}` : `${last}`;
}

/** A rule of the contract that a value breaks. */
interface BrokenRule {
  /** The text of the rule for the caller. */
  readonly description: string;
  /** The error is about an alternative or the condition of the rule, not about the rule itself. */
  readonly isPart: boolean;
}

/**
 * Splits `#/properties/env/items/allOf/0/oneOf/1/required` into the rule at `#/properties/env/items/allOf/0` and the
 * path below it.
 */
const RULE = /^#(.*\/allOf\/\d+)\/(.*)$/;

/** Finds the rule that an error of Ajv comes from; returns null for an error of a single field. */
function brokenRule(schema: unknown, { schemaPath, keyword }: ErrorObject): BrokenRule | null {
  const [, path = "", below = ""] = RULE.exec(schemaPath) ?? [];
  if (!path) return null;
  const { description } = schemaAt(schema, path) as { readonly description: string };
  return { description, isPart: keyword === "if" || /^(oneOf|anyOf|if|not)\//.test(below) };
}

/** Returns the values of a `discriminator`. */
function tagsOf(schema: unknown, { schemaPath, params }: ErrorObject): unknown[] {
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

/** Converts `/components/0/name` to `["components", 0, "name"]`. A step is a number only within a list. */
export function stepsAlong(pointer: string, root: unknown): (string | number)[] {
  let container = root;
  return pointer
    .split("/")
    .slice(1)
    .map((written) => {
      const step = written.replaceAll("~1", "/").replaceAll("~0", "~");
      const key = Array.isArray(container) ? Number(step) : step;
      container = (container as Record<string | number, unknown>)[key];
      return key;
    });
}
