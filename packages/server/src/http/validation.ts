import { holdsTags, type Operation, PATTERN_DESCRIPTIONS, UUID_PATTERN, type ValidationItem } from "@binnacle/contract";
import type { Options, ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import Type, { type TSchema } from "typebox";
import { UnreadableBody } from "./body.ts";
import { boundWork, MOST_PROBLEMS } from "./bounded-ajv.ts";
import { itemsOf } from "./validation-item.ts";

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
 * Only plain decimal notation is converted: `1e3` and `0x10` are not integers, although `Number` reads them as such. A list of
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

/** Keeps the first problem of each field, so that the alternatives of a nullable field are reported once. */
function onePerField(items: readonly ValidationItem[]): ValidationItem[] {
  const firsts = new Map<string, ValidationItem>();
  for (const item of items) {
    const field = JSON.stringify(item.loc);
    if (!firsts.has(field)) firsts.set(field, item);
  }
  return [...firsts.values()];
}
