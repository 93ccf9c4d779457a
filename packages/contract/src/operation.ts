import type { Static, TSchema } from "typebox";
import type { Scope } from "./states.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/**
 * One call of the REST API, as data. The server validates, serializes and documents by it, the client is typed by it.
 * `path` is relative to the base URL, with `{parameters}` as in OpenAPI.
 */
export interface Operation {
  readonly id: string;
  readonly method: Method;
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** Who may call it at all: anyone, a signed-in user, or also a CLI token that carries one of the scopes. */
  readonly credentials: "none" | "user" | readonly Scope[];
  readonly params?: TSchema;
  readonly query?: TSchema;
  readonly cookies?: TSchema;
  readonly body?: TSchema;
  /** No body is then the same as `{}`. */
  readonly bodyIsOptional?: true;
  /** What the body is written in; JSON unless said otherwise. */
  readonly bodyType?: "application/x-www-form-urlencoded" | "multipart/form-data";
  /** The one status of success and what comes with it; `null` is an empty answer. */
  readonly success: readonly [status: number, schema: TSchema | null];
  /** A second kind of success, another than 200, which the handler chooses by setting its status. */
  readonly otherSuccess?: readonly [status: number, schema: TSchema];
  /** What success is written in; JSON unless said otherwise. */
  readonly successType?: "text/event-stream";
  /** The resource carries an `ETag`: answers that show it have one, and a write honours `If-Match`. */
  readonly versioned?: true;
  /** Statuses of failure that this operation adds to those every operation of its kind has. */
  readonly failures?: readonly number[];
  /** A form of failure of its own, by status, where the common one does not apply. */
  readonly failureBodies?: Readonly<Record<number, TSchema>>;
}

export function operation<const O extends Operation>(definition: O): O {
  return definition;
}

/** A POST that creates takes an `Idempotency-Key`. */
export const isCreation = ({ method, success, otherSuccess, credentials }: Operation): boolean =>
  method === "POST" && (success[0] === 201 || otherSuccess?.[0] === 201) && credentials !== "none";

export const honoursIfMatch = (operation: Operation): boolean =>
  operation.versioned === true && operation.method !== "GET" && !isCreation(operation);

type Given<S> = S extends TSchema ? Static<S> : unknown;

export type ParamsOf<O extends Operation> = Given<O["params"]>;
export type QueryOf<O extends Operation> = Given<O["query"]>;
export type CookiesOf<O extends Operation> = Given<O["cookies"]>;
export type BodyOf<O extends Operation> = Given<O["body"]>;
export type AnswerOf<O extends Operation> =
  | (O["success"][1] extends TSchema ? Static<O["success"][1]> : null)
  | (O["otherSuccess"] extends readonly [number, infer S extends TSchema] ? Static<S> : never);
