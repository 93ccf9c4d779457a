import { OPERATIONS } from "./generated/operations.ts";
import type { Operations } from "./generated/types.ts";
import { nearest } from "./nearest.ts";

/** The id of an operation, as the OpenAPI document has it. */
export type OperationName = keyof Operations & keyof typeof OPERATIONS;

/** Operations that are answered as server-sent events, and may be followed. */
export type StreamName = { [N in OperationName]: Operations[N] extends { item: unknown } ? N : never }[OperationName];

/** Operations that are answered once. */
export type CallName = { [N in OperationName]: [Operations[N]["answer"]] extends [never] ? never : N }[OperationName];

/** Lists, whether they come whole or a page at a time. */
export type ListName = {
  [N in CallName]: Operations[N]["answer"] extends { data: readonly unknown[]; total_count: number } ? N : never;
}[CallName];

export type Input<N extends OperationName> = Operations[N]["input"];
export type Answer<N extends OperationName> = Operations[N]["answer"];
export type ItemOf<N extends ListName> = Operations[N]["answer"] extends { data: readonly (infer I)[] } ? I : never;

/** What the client knows of an operation at run time; schemas stay with the server. */
export interface Described {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  /** Takes no credential. */
  readonly isOpen: boolean;
  /** Takes an `Idempotency-Key`, so that it may be sent again without being carried out again. */
  readonly creates: boolean;
  /** Takes `page` and `items_per_page`. */
  readonly isPaged: boolean;
  /** Reads the refresh cookie. */
  readonly takesCookie: boolean;
  readonly isStream: boolean;
  readonly bodyType: "json" | "form" | "multipart";
}

export function describeOperation(name: OperationName): Described {
  const entry: string | undefined = Object.hasOwn(OPERATIONS, name) ? OPERATIONS[name] : undefined;
  if (entry === undefined) {
    const [meant] = nearest(name, Object.keys(OPERATIONS), 1);
    throw new TypeError(`There is no operation "${name}".${meant ? ` Did you mean "${meant}"?` : ""}`);
  }
  const [method = "", path = "", ...flags] = entry.split(" ");
  return {
    name,
    method,
    path,
    isOpen: flags.includes("open"),
    creates: flags.includes("creates"),
    isPaged: flags.includes("pages"),
    takesCookie: flags.includes("cookie"),
    isStream: flags.includes("stream"),
    bodyType: flags.includes("form") ? "form" : flags.includes("multipart") ? "multipart" : "json",
  };
}

/**
 * The operation that a method and a path below the base URL are of, with the parameters of the path; null where there is none. A path
 * that is written out goes before one with a parameter at the same place.
 */
export function operationAt(
  method: string,
  path: string,
): { readonly name: OperationName; readonly params: Readonly<Record<string, string>> } | null {
  const steps = path.split("/");
  const fits = (step: string, index: number) => step.startsWith("{") || step === steps[index];
  const [found] = (Object.keys(OPERATIONS) as OperationName[])
    .map((name) => ({ ...describeOperation(name), name, parts: describeOperation(name).path.split("/") }))
    .filter((it) => it.method === method && it.parts.length === steps.length && it.parts.every(fits))
    .sort((a, b) => a.path.split("{").length - b.path.split("{").length);
  if (!found) return null;
  const params = found.parts.flatMap((part, index) =>
    part.startsWith("{") ? [[part.slice(1, -1), decodeURIComponent(steps[index] ?? "")] as const] : [],
  );
  return { name: found.name, params: Object.fromEntries(params) };
}

const IDEMPOTENT: ReadonlySet<string> = new Set(["GET", "PUT", "DELETE"]);

/** Carried out twice, it leaves what it leaves when it is carried out once. The refresh token is not rotated. */
export const isRepeatable = ({ name, method, creates }: Described): boolean =>
  creates || IDEMPOTENT.has(method) || name === "refreshAccessToken";

type Given = Readonly<Record<string, unknown>>;

/** The path and query of a call. Parameters of the path are taken out of the input by name; the rest is the query. */
export function targetOf({ name, path }: Described, input: Given): string {
  const rest = new Map(Object.entries(input).filter(([key, value]) => key !== "body" && value !== undefined));
  const filled = path.replace(/\{(\w+)\}/g, (_, parameter: string) => {
    const value = rest.get(parameter);
    rest.delete(parameter);
    return segment(name, parameter, value);
  });
  const query = new URLSearchParams();
  for (const [key, value] of rest) {
    // A parameter with several values is repeated.
    for (const each of Array.isArray(value) ? (value as unknown[]) : [value]) query.append(key, plain(name, key, each));
  }
  const text = query.toString();
  return text ? `${filled}?${text}` : filled;
}

/** A URL drops `.` and `..` even where they are encoded, and would then address something else. */
function segment(operation: string, parameter: string, value: unknown): string {
  const text = plain(operation, parameter, value);
  if (text === "" || text === "." || text === "..") {
    throw new TypeError(`${operation}: "${parameter}" must not be empty, "." or "..".`);
  }
  return encodeURIComponent(text);
}

function plain(operation: string, parameter: string, value: unknown): string {
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return String(value);
  throw new TypeError(`${operation}: "${parameter}" must be a string, a number or a boolean.`);
}

/** A call as it would be sent, for programs that show it: its method, its path below the base URL with the query, and its body. */
export function describeCall(name: OperationName, input: Given): { method: string; target: string; body: unknown } {
  const operation = describeOperation(name);
  return { method: operation.method, target: targetOf(operation, input), body: input["body"] };
}

export interface RequestBody {
  readonly content: string | FormData;
  readonly type: string | null;
}

/** The body as it is sent, and its media type; a form of parts names its own, because it holds the boundary. */
export function bodyOf({ name, bodyType }: Described, body: unknown): RequestBody | null {
  if (body === undefined) return null;
  if (bodyType === "json") return { content: JSON.stringify(body), type: "application/json" };
  const fields = Object.entries(body as Given).filter(([, value]) => value !== undefined);
  if (bodyType === "form") {
    const form = new URLSearchParams(Object.fromEntries(fields.map(([key, value]) => [key, plain(name, key, value)])));
    return { content: form.toString(), type: "application/x-www-form-urlencoded" };
  }
  const parts = new FormData();
  for (const [key, value] of fields) parts.append(key, value instanceof Blob ? value : plain(name, key, value));
  return { content: parts, type: null };
}
