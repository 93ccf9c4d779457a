import type { Document } from "./contract.ts";

/**
 * Writes the client's view of the API from the OpenAPI document: a table of methods and paths, which is all that the client
 * needs at run time, and types. They are written out instead of being inferred from the contract's schemas, because TypeBox
 * types describe a request after the server has filled in its defaults, and because a published package then needs no
 * TypeBox to be type-checked. docs/adr/0015-the-clients-types-are-written-out.md has the figures.
 */
const fileAt = (path: string) => new URL(`../packages/client/src/generated/${path}`, import.meta.url);
export const TABLE_FILE = fileAt("operations.ts");
export const TYPES_FILE = fileAt("types.ts");
export const ACCESS_FILE = fileAt("access.ts");

const HEAD = "// Written by `npm run openapi` from openapi.json. Do not edit.\n";
const WIDTH = 116;

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly items?: Schema;
  readonly prefixItems?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly required?: readonly string[];
  readonly contentMediaType?: string;
  readonly contentSchema?: Schema;
}

interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "cookie" | "header";
  readonly required: boolean;
  readonly schema: Schema;
}

type Content = Readonly<Record<string, { readonly schema: Schema }>>;

export interface DescribedOperation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly isOpen: boolean;
  /** Who may call it, as the server has it. */
  readonly access: Readonly<Record<string, unknown>>;
  readonly parameters: readonly Parameter[];
  readonly body: { readonly required: boolean; readonly type: string; readonly schema: Schema } | null;
  /** By status; an empty content is an empty answer. */
  readonly successes: readonly (readonly [status: number, content: Content])[];
  readonly failures: readonly number[];
}

interface Reference {
  readonly $ref: string;
}

interface Response {
  readonly content?: Content;
}

interface RawOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly security: readonly unknown[];
  readonly "x-access": Readonly<Record<string, unknown>>;
  readonly parameters: readonly (Parameter | Reference)[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, Response | Reference>>;
}

interface Shared {
  readonly parameters: Readonly<Record<string, Parameter>>;
  readonly responses: Readonly<Record<string, Response>>;
}

export function operationsOf(document: Document): DescribedOperation[] {
  const paths = document["paths"] as Record<string, Record<string, RawOperation>>;
  const shared = document["components"] as Shared;
  const described = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, raw]) => describedOperation(method.toUpperCase(), path, raw, shared)),
  );
  return described.sort((a, b) => (a.id < b.id ? -1 : 1));
}

function describedOperation(method: string, path: string, raw: RawOperation, shared: Shared): DescribedOperation {
  const [type, content] = Object.entries(raw.requestBody?.content ?? {})[0] ?? [];
  const statuses = Object.entries(raw.responses).map(([status, response]) => {
    return [Number(status), follow(response, shared.responses)] as const;
  });
  return {
    id: raw.operationId,
    method,
    path,
    summary: raw.summary,
    isOpen: raw.security.length === 0,
    access: raw["x-access"],
    parameters: raw.parameters.map((it) => follow(it, shared.parameters)),
    body: type && content ? { required: raw.requestBody?.required ?? true, type, schema: content.schema } : null,
    successes: statuses.filter(([status]) => status < 400).map(([status, it]) => [status, it.content ?? {}] as const),
    failures: statuses.map(([status]) => status).filter((status) => status >= 400),
  };
}

function follow<T extends object>(part: T | Reference, shared: Readonly<Record<string, T>>): T {
  if (!("$ref" in part)) return part;
  const found = shared[nameIn(part.$ref)];
  if (!found) throw new Error(`${part.$ref} is not in the document.`);
  return found;
}

const nameIn = (ref: string) => ref.slice(ref.lastIndexOf("/") + 1);

const STREAM = "text/event-stream";
const FLAG_OF_BODY: Readonly<Record<string, string>> = {
  "application/x-www-form-urlencoded": "form",
  "multipart/form-data": "multipart",
};
const has = ({ parameters }: DescribedOperation, place: Parameter["in"], name: string) =>
  parameters.some((it) => it.in === place && it.name === name);
const contentTypes = ({ successes }: DescribedOperation) => successes.flatMap(([, content]) => Object.keys(content));

/** The client reads these words; packages/client/src/operation.ts says what each means. */
function flagsOf(operation: DescribedOperation): string[] {
  const flags = {
    open: operation.isOpen,
    creates: has(operation, "header", "Idempotency-Key"),
    pages: has(operation, "query", "page"),
    cookie: operation.parameters.some((it) => it.in === "cookie"),
    stream: contentTypes(operation).includes(STREAM),
  };
  const raised = Object.entries(flags).flatMap(([flag, isRaised]) => (isRaised ? [flag] : []));
  return [
    ...raised,
    ...(FLAG_OF_BODY[operation.body?.type ?? ""] ? [FLAG_OF_BODY[operation.body?.type ?? ""] ?? ""] : []),
  ];
}

/** In the order in which the tables are smallest in a compressed bundle. */
const alikeTogether = <T>(rows: readonly T[], textOf: (row: T) => string): T[] =>
  rows.toSorted((one, other) => (textOf(one) < textOf(other) ? -1 : textOf(one) > textOf(other) ? 1 : 0));

export function tableSource(document: Document): string {
  const rows = alikeTogether(operationsOf(document), ({ path }) => path).map(
    (it) => `  ${it.id}: ${JSON.stringify([`${it.method} ${it.path}`, ...flagsOf(it)].join(" "))},`,
  );
  return [
    HEAD,
    "/** Of every operation its method, its path, and what the client must know to call it. */",
    "export const OPERATIONS = {",
    ...rows,
    "} as const;",
    "",
  ].join("\n");
}

/** A bundle that does not use it leaves it out, because nothing of the client does. */
export function accessSource(document: Document): string {
  return [
    HEAD,
    'import type { OperationName } from "../operation.ts";',
    'import type { Requirement } from "../requirement.ts";',
    "",
    "/** Who may call each operation. */",
    "export const ACCESS: Readonly<Record<OperationName, Requirement>> = {",
    ...alikeTogether(operationsOf(document), ({ access }) => JSON.stringify(access)).map(
      (it) => `  ${it.id}: ${JSON.stringify(it.access)},`,
    ),
    "};",
    "",
  ].join("\n");
}

export function typesSource(document: Document): string {
  const { schemas } = document["components"] as { schemas: Record<string, Schema> };
  const named = Object.entries(schemas).map(([name, schema]) => {
    const type = typeOf(schema, 0);
    return `${comment(schema.description, 0)}export type ${name} = ${type};\n`;
  });
  const operations = operationsOf(document).map((it) => {
    const lines = [
      `    input: ${inputOf(it)};`,
      `    answer: ${answerOf(it)};`,
      ...(flagsOf(it).includes("stream") ? [`    item: ${itemOf(it)};`] : []),
      ...(has(it, "header", "If-Match") ? ["    versioned: true;"] : []),
      `    failures: ${it.failures.join(" | ")};`,
    ];
    return `${comment(`${it.summary}. \`${it.method} ${it.path}\``, 1)}  ${it.id}: {\n${lines.join("\n")}\n  };`;
  });
  return [
    HEAD,
    ...named,
    "/** What goes into every operation, what comes of it, and the statuses with which it can fail. */",
    "export interface Operations {",
    ...operations,
    "}",
    "",
  ].join("\n");
}

function inputOf(operation: DescribedOperation): string {
  const { parameters, body } = operation;
  const fields = parameters
    .filter((it) => it.in === "path" || it.in === "query")
    .map(({ name, required, schema }) => field(name, schema, required, 2, typeOf(schema, 3)));
  const clash = fields.length !== new Set(parameters.filter((it) => it.in !== "header").map(({ name }) => name)).size;
  const cookies = parameters.filter((it) => it.in === "cookie").length;
  if ((clash && cookies === 0) || parameters.some(({ name }) => name === "body")) {
    throw new Error(`${operation.id} has two parameters of one name, or one called body.`);
  }
  if (body)
    fields.push(field("body", {}, body.required, 2, typeOf(body.schema, 3, body.type === "multipart/form-data")));
  return fields.length === 0 ? "Record<never, never>" : `{\n${fields.join("\n")}\n    }`;
}

function answerOf(operation: DescribedOperation): string {
  const kinds = operation.successes.flatMap(([status, content]) => {
    // A WebSocket is not an answer.
    if (status === 101) return [];
    if (Object.keys(content).length === 0) return ["null"];
    const json = content["application/json"];
    return json ? [typeOf(json.schema, 2)] : [];
  });
  return kinds.length === 0 ? "never" : [...new Set(kinds)].join(" | ");
}

function itemOf(operation: DescribedOperation): string {
  const schema = operation.successes.map(([, content]) => content[STREAM]?.schema.contentSchema).find(Boolean);
  return schema ? typeOf(schema, 2) : "unknown";
}

const SIMPLE: Readonly<Record<string, string>> = {
  string: "string",
  integer: "number",
  number: "number",
  boolean: "boolean",
  null: "null",
};

/** A type as TypeScript writes it; `depth` is the indentation of what goes around it. */
function typeOf(schema: Schema, depth: number, isMultipart = false): string {
  if (schema.$ref) return nameIn(schema.$ref);
  if (schema.enum) return schema.enum.map((it) => JSON.stringify(it)).join(" | ");
  if ("const" in schema) return JSON.stringify(schema.const);
  const kinds = schema.anyOf ?? schema.oneOf;
  if (kinds?.every(isShape)) return unionOf(kinds.map((it) => typeOf(it, depth)));
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeOf({ ...schema, type }, depth)).join(" | ");
  if (schema.type === "array") return listOf(schema, depth);
  if (schema.type === "object") return objectOf(schema, depth, isMultipart);
  return SIMPLE[schema.type as string] ?? "unknown";
}

/** Literals next to the type of all of them would say nothing; `string & {}` keeps them for completion. */
function unionOf(types: readonly string[]): string {
  const kinds = [...new Set(types)];
  const hasLiterals = kinds.some((type) => type.startsWith('"'));
  return kinds.map((type) => (type === "string" && hasLiterals ? "(string & {})" : type)).join(" | ");
}

/** A branch that only says which fields belong together is a rule and no shape. */
const isShape = (schema: Schema) =>
  schema.$ref !== undefined ||
  schema.type !== undefined ||
  schema.enum !== undefined ||
  "const" in schema ||
  Boolean(schema.anyOf);

function listOf(schema: Schema, depth: number): string {
  if (schema.prefixItems) return `readonly [${schema.prefixItems.map((it) => typeOf(it, depth)).join(", ")}]`;
  const item = schema.items ? typeOf(schema.items, depth) : "unknown";
  return /^[\w.]+$/.test(item) || (item.startsWith("{") && !item.includes("} | "))
    ? `readonly ${item}[]`
    : `readonly (${item})[]`;
}

function objectOf(schema: Schema, depth: number, isMultipart: boolean): string {
  const { properties = {}, required = [], patternProperties = {}, additionalProperties } = schema;
  const fields = Object.entries(properties).map(([name, it]) => {
    const type = isMultipart && it.contentMediaType ? "string | Blob" : typeOf(it, depth + 1);
    return field(name, it, required.includes(name), depth, type);
  });
  const rest = [
    ...Object.values(patternProperties),
    ...(typeof additionalProperties === "object" ? [additionalProperties] : []),
  ].map((it) => typeOf(it, depth + 1));
  const isOpen =
    additionalProperties === true || (additionalProperties === undefined && rest.length === 0 && fields.length === 0);
  if (isOpen) rest.push("unknown");
  // Next to named fields an index signature must be true of them too.
  if (rest.length > 0)
    fields.push(`${"  ".repeat(depth + 1)}[key: string]: ${fields.length > 0 ? "unknown" : rest.join(" | ")};`);
  return fields.length === 0 ? "Record<never, never>" : `{\n${fields.join("\n")}\n${"  ".repeat(depth)}}`;
}

function field(name: string, schema: Schema, isRequired: boolean, depth: number, type: string): string {
  const key = /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name);
  return `${comment(schema.description, depth + 1)}${"  ".repeat(depth + 1)}${key}${isRequired ? "" : "?"}: ${type}${isRequired || type === "unknown" ? "" : " | undefined"};`;
}

function comment(text: string | undefined, depth: number): string {
  if (!text) return "";
  const indent = "  ".repeat(depth);
  const words = text.replaceAll("*/", "* /").split(/\s+/);
  const lines = [""];
  for (const word of words) {
    const line = lines.at(-1) ?? "";
    if (line.length + word.length + indent.length > WIDTH - 6 && line !== "") lines.push(word);
    else lines[lines.length - 1] = line === "" ? word : `${line} ${word}`;
  }
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}\n`).join("")}${indent} */\n`;
}
