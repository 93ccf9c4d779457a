import {
  holdsTags,
  type Operation,
  PATTERN_DESCRIPTIONS,
  PATTERN_WORDS,
  UUID_PATTERN,
  type ValidationItem,
  type ValidationType,
} from "@binnacle/contract";
import type { ErrorObject, Options, ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import Type, { type TSchema } from "typebox";
import { UnreadableBody } from "./body.ts";
import { boundWork, MOST_PROBLEMS } from "./bounded-ajv.ts";

/** The parts of a request, with the names that errors give them. */
export interface RawRequest {
  readonly path: unknown;
  readonly query: unknown;
  readonly cookie: unknown;
  readonly body: unknown;
}
type Part = keyof RawRequest;

/**
 * Validates all parts of a request and reports every invalid field at once, up to a readable number. Fills in defaults
 * and converts in place.
 */
export type Check = (request: RawRequest) => readonly ValidationItem[];

/** The items that come from a rule between fields: the value has the type of its schema. */
const ofRules = new WeakSet<ValidationItem>();
export const isOfRule = (item: ValidationItem): boolean => ofRules.has(item);

const ajv = configured();

function configured(): Ajv2020 {
  // A rule names fields that the enclosing object declares, which `strictRequired` does not see.
  const strictly: Options = { strict: true, strictRequired: false, discriminator: true };
  // Schemas are compiled while requests wait. Optimized code is no faster, and the document's test validates the schemas.
  const quickly: Options = { validateSchema: false, code: { regExp: visibleText, optimize: false } };
  const ajv = new Ajv2020({ allErrors: true, useDefaults: true, ...strictly, ...quickly });
  addFormats.default(ajv, ["date-time", "email", "uri"]);
  // RFC 3339 allows leap seconds such as 23:59:60, which a Date cannot represent.
  const isDateTime = ajv.formats["date-time"] as { validate(text: string): boolean };
  ajv.addFormat("date-time", (text) => isDateTime.validate(text) && !Number.isNaN(Date.parse(text)));
  // The default format accepts `urn:uuid:`, which the columns do not.
  return boundWork(ajv.addFormat("uuid", UUID_PATTERN));
}

/** The patterns of names also refuse the invisible characters that they cannot express. */
function visibleText(pattern: string, flags: string) {
  const regex = new RegExp(pattern, flags);
  return Object.hasOwn(PATTERN_DESCRIPTIONS, pattern)
    ? // Ajv tells patterns apart by their text.
      { test: (text: string) => regex.test(text) && !holdsTags(text), toString: () => String(regex) }
    : regex;
}
// Ajv calls it by this name in code that it generates for a file, which is never done here.
visibleText.code = "visibleText";

type Described = Pick<Operation, "params" | "query" | "cookies" | "body" | "bodyType">;

/**
 * Compiles the schemas when the check is first used: at once, those of all operations would take more time than the rest of
 * a start, and a server that was killed serves again the sooner.
 */
export function compileCheck(operation: Described): Check {
  const takesNoBody = operation.body === undefined;
  return (request) => {
    let items = NONE;
    for (const [part, validate, convert] of partsOf(operation)) {
      if (part === "body" && takesNoBody && request.body === undefined) continue;
      convert(request[part]);
      const found = checkPart(part, validate, request[part]);
      if (found.length > 0) items = [...items, ...found];
    }
    return items;
  };
}

type PartCheck = readonly [Part, ValidateFunction, Convert];

/** The tests start many servers in one process, which have the operations in common. */
const compiled = new WeakMap<Described, readonly PartCheck[]>();

function partsOf(operation: Described): readonly PartCheck[] {
  const known = compiled.get(operation);
  if (known) return known;
  const parts = compileParts(operation);
  compiled.set(operation, parts);
  return parts;
}

function compileParts(operation: Described): PartCheck[] {
  const checks: PartCheck[] = [];
  const add = (part: Part, schema: TSchema | undefined, isText: boolean) =>
    schema && checks.push([part, ajv.compile(schema), isText ? conversionOf(schema) : unconverted]);
  add("path", operation.params, true);
  // Unknown parameters are refused as unknown fields of a body are.
  add("query", { ...(operation.query ?? NO_FIELDS), additionalProperties: false }, true);
  add("cookie", operation.cookies, true);
  add("body", operation.body ?? NO_FIELDS, operation.bodyType !== undefined);
  return checks;
}

/** Converts the texts of a path, a query, a cookie or a form in place. In a JSON body, a quoted number is an error. */
type Convert = (value: unknown) => void;
const unconverted: Convert = () => undefined;

const WRITTEN: Readonly<Record<string, RegExp>> = {
  integer: /^-?[0-9]+$/,
  number: /^-?[0-9]+(\.[0-9]+)?$/,
  boolean: /^(true|false)$/,
};

/**
 * Only plain decimal notation is converted: `1e3` and `0x10` are no integers, although `Number` reads them as such. A list of
 * one value is written like the value.
 */
function converted(type: string, text: string): unknown {
  if (type === "array") return [text];
  return WRITTEN[type]?.test(text) ? JSON.parse(plainNumber(text)) : text;
}

function conversionOf(schema: TSchema): Convert {
  const { properties = {} } = schema as { properties?: Readonly<Record<string, { readonly type?: string }>> };
  const typed = Object.entries(properties).flatMap(([name, { type = "" }]) =>
    type in WRITTEN || type === "array" ? [{ name, type }] : [],
  );
  return (value) => {
    if (typeof value !== "object" || value === null) return;
    const fields = value as Record<string, unknown>;
    for (const { name, type } of typed) {
      const text = Object.hasOwn(fields, name) ? fields[name] : undefined;
      if (typeof text === "string") fields[name] = converted(type, text);
    }
  };
}

/** JSON has no leading zeros. */
const plainNumber = (text: string) => text.replace(/^(-?)0+(?=[0-9])/, "$1");

/** The schema of an unexpected body: clients send `{}` with every POST. */
const NO_FIELDS = Type.Object({}, { additionalProperties: false });

const NONE: readonly ValidationItem[] = [];

function checkPart(part: Part, validate: ValidateFunction, value: unknown): readonly ValidationItem[] {
  if (value === undefined) return [{ loc: [part], msg: "Field required", type: "missing" }];
  if (value instanceof UnreadableBody) return [value.item];
  const isValid = validate(value);
  const unstorable = isStorable(value) ? NONE : unstorableValues(value, [part]);
  if (isValid) return unstorable;
  const items = onePerField([...unstorable, ...itemsOf(part, value, validate)]);
  // A value that Ajv refuses is refused, even if the keyword has no message of its own.
  return items.length > 0 ? items : [{ loc: [part], msg: "Input is not valid", type: "value_error" }];
}

/**
 * PostgreSQL stores neither NUL nor a lone surrogate; both would fail later with a worse message. `1e999` is infinity, which
 * JSON writes as null.
 */
function isStorable(value: unknown): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value === "string") return value.isWellFormed() && !value.includes("\0");
  if (typeof value !== "object" || value === null) return true;
  if (Array.isArray(value)) return value.every(isStorable);
  for (const key in value) {
    if (!isStorable(key) || !isStorable((value as Record<string, unknown>)[key])) return false;
  }
  return true;
}

/** Collects the locations of texts and numbers that cannot be stored. */
function unstorableValues(value: unknown, loc: ValidationItem["loc"], found: ValidationItem[] = []): ValidationItem[] {
  if (typeof value === "string") {
    if (!isStorable(value)) {
      found.push({ loc, msg: "Text must be well-formed Unicode without NUL characters", type: "value_error" });
    }
  } else if (typeof value === "number") {
    if (!isStorable(value)) found.push({ loc, msg: "Number must be finite", type: "value_error" });
  } else if (typeof value === "object" && value !== null) {
    const entries = Array.isArray(value) ? value.entries() : Object.entries(value);
    for (const [key, item] of entries) {
      if (found.length >= MOST_PROBLEMS) break;
      if (typeof key === "string") unstorableValues(key, [...loc, "<key>"], found);
      unstorableValues(item, [...loc, key], found);
    }
  }
  return found;
}

/** Converts Ajv's errors to the documented items. A broken rule is dropped where a field itself is invalid. */
function itemsOf(part: Part, value: unknown, { errors, schema }: ValidateFunction): ValidationItem[] {
  const found = (errors ?? []).flatMap((error) => {
    const rule = brokenRule(schema, error);
    const item = itemOf([part, ...stepsAlong(error.instancePath, value)], error, rule, schema);
    if (item && rule) ofRules.add(item);
    return item ? [{ item, field: JSON.stringify(item.loc) }] : [];
  });
  const wrongAlone = new Set(found.filter(({ item }) => !isOfRule(item)).map(({ field }) => field));
  return found.filter(({ item, field }) => !isOfRule(item) || !wrongAlone.has(field)).map(({ item }) => item);
}

/** Keeps the first problem of each field, so that the alternatives of a nullable field are reported once. */
function onePerField(items: readonly ValidationItem[]): ValidationItem[] {
  const firsts = new Map<string, ValidationItem>();
  for (const item of items) {
    const field = JSON.stringify(item.loc);
    if (!firsts.has(field)) firsts.set(field, item);
  }
  return [...firsts.values()];
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
        PATTERN_WORDS[params["pattern"]] ?? `String should match pattern '${params["pattern"]}'`,
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
  const words = PATTERN_WORDS[pattern];
  return words ? words.replace(/^Input/, "The key") : "Extra inputs are not permitted";
}

const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? "" : "s"}`;

function listed(values: readonly unknown[]): string {
  const quoted = values.map((value) => `'${String(value)}'`);
  const last = quoted.pop();
  return quoted.length ? `${quoted.join(", ")} or ${last}` : `${last}`;
}

/** A rule of the contract that a value breaks. */
export interface BrokenRule {
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
