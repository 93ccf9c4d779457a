import type { Static, TSchema } from "typebox";
import type { Scope } from "./states.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/**
 * One operation of the REST API, as data. The server validates, serializes and documents by it, and clients are typed
 * by it. `path` is relative to the base URL, with `{parameters}` as in OpenAPI.
 */
export interface Operation {
  readonly id: string;
  readonly method: Method;
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /**
   * The accepted credentials: none, a session, a session or a CLI token with one of the scopes, or only a CLI token. Most
   * operations that take a session also accept the scope `read` or `write`, see `acceptedScopes`.
   */
  readonly credentials: "none" | "user" | "cli_token" | readonly Scope[];
  readonly params?: TSchema;
  readonly query?: TSchema;
  readonly cookies?: TSchema;
  readonly body?: TSchema;
  /** Changes other spellings in the body to those of its schema, in place, before it is validated. */
  readonly rename?: (body: unknown) => void;
  /** A missing body is read as `{}`. */
  readonly bodyIsOptional?: true;
  /** The media type of the request body; JSON where it is left out. */
  readonly bodyType?: "application/x-www-form-urlencoded" | "multipart/form-data";
  /** The status of success and the schema of its body; `null` is an empty body. */
  readonly success: readonly [status: number, schema: TSchema | null];
  /** A second successful answer, with another status than 200. The handler selects it by setting the status. */
  readonly otherSuccess?: readonly [status: number, schema: TSchema];
  /** The media type of a successful answer; JSON where it is left out. */
  readonly successType?: "text/event-stream";
  /** The same as server-sent events, for a request that accepts `text/event-stream`. */
  readonly streamed?: TSchema;
  /**
   * The answer is a WebSocket with this subprotocol. It is a GET only because WebSockets begin with one: it counts as a change,
   * needs the scope `write`, and also takes its token as a subprotocol.
   */
  readonly upgrade?: string;
  /** Not a list, but it reads as much as one, and takes its turn among the lists of its caller. */
  readonly readsMuch?: true;
  /** The resource has an `ETag`: answers that contain the resource carry it, and writes honour `If-Match`. */
  readonly versioned?: true;
  /** Failure statuses beyond those that every operation of its kind has. */
  readonly failures?: readonly number[];
  /** Failure bodies by status, where the common form does not apply. */
  readonly failureBodies?: Readonly<Record<number, TSchema>>;
}

export function operation<const O extends Operation>(definition: O): O {
  return definition;
}

/** Whether the operation changes nothing. */
export const isReading = ({ method, upgrade }: Pick<Operation, "method" | "upgrade">): boolean =>
  method === "GET" && upgrade === undefined;

/** A POST that creates a resource accepts an `Idempotency-Key`. */
export const isCreation = ({ method, success, otherSuccess, credentials }: Operation): boolean =>
  method === "POST" && (success[0] === 201 || otherSuccess?.[0] === 201) && credentials !== "none";

export const honoursIfMatch = (operation: Operation): boolean =>
  operation.versioned === true && operation.method !== "GET" && !isCreation(operation);

const hasField = (schema: TSchema | null | undefined, field: string): boolean =>
  schema != null && "properties" in schema && Object.hasOwn(schema.properties as object, field);

const answers = ({ success: [, schema] }: Operation, field: string): boolean => hasField(schema, field);

/** Whether the operation reads a list, in pages or whole. */
export const isList = (operation: Operation): boolean =>
  isReading(operation) && operation.streamed === undefined && answers(operation, "total_count");

/** Whether it waits for the reads of its caller and of the caller's organization that are under way. */
export const takesTurns = (operation: Operation): boolean => isList(operation) || operation.readsMuch === true;

/** Whether an answer of the list may end early. */
export const isBounded = (operation: Operation): boolean => isList(operation) && answers(operation, "next_cursor");

/** Whether the list is read in pages, whose length the caller chooses, and not as far as an answer has room. */
export const isPaged = (operation: Operation): boolean =>
  isList(operation) && hasField(operation.query, "items_per_page");

type Given<S> = S extends TSchema ? Static<S> : unknown;

export type ParamsOf<O extends Operation> = Given<O["params"]>;
export type QueryOf<O extends Operation> = Given<O["query"]>;
export type CookiesOf<O extends Operation> = Given<O["cookies"]>;
export type BodyOf<O extends Operation> = Given<O["body"]>;
export type AnswerOf<O extends Operation> =
  | (O["success"][1] extends TSchema ? Static<O["success"][1]> : null)
  | (O["otherSuccess"] extends readonly [number, infer S extends TSchema] ? Static<S> : never);
