import { Failure, honoursIfMatch, isCreation, type Operation, takesTurns, ValidationFailure } from "@binnacle/contract";
import Type, { type TSchema } from "typebox";
import type { Components, Json } from "./openapi.ts";

export const HEADERS = {
  RequestId: { description: "Names the request in the logs.", schema: { type: "string", format: "uuid" } },
  Challenge: { description: "`Bearer`.", schema: { type: "string" } },
  ETag: { description: "Names this state of the resource, for `If-Match`.", schema: { type: "string" } },
  RetryAfter: { description: "Seconds to wait.", schema: { type: "integer", minimum: 1 } },
};
const refer = (header: keyof typeof HEADERS) => ({ $ref: `#/components/headers/${header}` });

export const REQUEST_ID = { "X-Request-Id": refer("RequestId") };
export const ETAG = { ETag: refer("ETag") };
const CHALLENGE = { "WWW-Authenticate": refer("Challenge") };
const RETRY_AFTER = { "Retry-After": refer("RetryAfter") };

const UnexpectedFailure = Type.Object(
  { detail: Type.Literal("Internal Server Error"), request_id: Type.String({ format: "uuid" }) },
  { title: "UnexpectedFailure", description: "A fault of ours; the request id finds it in the logs." },
);

interface CommonFailure {
  readonly name: string;
  readonly description: string;
  readonly example: unknown;
  readonly schema?: TSchema;
  readonly headers?: Json;
}

const sentence = (name: string, description: string, detail: string, headers?: Json): CommonFailure => ({
  name,
  description,
  example: { detail },
  ...(headers ? { headers } : {}),
});

const COMMON: Record<number, CommonFailure> = {
  400: sentence("BadRequest", "The request cannot be understood", "The request is not valid."),
  401: sentence(
    "Unauthenticated",
    "The credential is missing or no longer counts",
    "User not authenticated.",
    CHALLENGE,
  ),
  403: sentence(
    "Forbidden",
    "The caller may see this but not do it, or a CLI token lacks the scope",
    "This needs the role editor on the project, or an administrator of the organization.",
  ),
  404: sentence("NotFound", "Not there, or not for this caller to see", "Organization not found."),
  408: sentence("RequestTimeout", "The request took too long to arrive", "The request took too long to arrive."),
  409: sentence("Conflict", "In conflict with what there is", "An organization of this name already exists."),
  410: sentence("Gone", "Gone for good", "This was removed."),
  412: sentence("PreconditionFailed", "The resource has changed since it was read", "The resource has changed."),
  413: sentence("PayloadTooLarge", "The request body is too large", "The request body is too large."),
  415: sentence(
    "UnsupportedMediaType",
    "The media type of the request body is not supported",
    "The request body must be application/json.",
  ),
  421: sentence(
    "Misdirected",
    "Only in local: the Host header names another server. `BINNACLE_PUBLIC_URL` sets the name that people use",
    "Where BINNACLE_ENVIRONMENT is local, Binnacle answers only to localhost, to the address that it listens on and to the host of BINNACLE_PUBLIC_URL.",
  ),
  422: {
    name: "Invalid",
    description: "Invalid fields, all of them",
    schema: ValidationFailure,
    example: { detail: [{ loc: ["body", "name"], msg: "Field required", type: "missing" }] },
  },
  426: sentence(
    "UpgradeRequired",
    "Everything is right, but this is a WebSocket",
    "Connect with a WebSocket and its subprotocol binnacle.exec.v1.",
  ),
  429: sentence("RateLimited", "Too many requests", "Rate limit exceeded.", RETRY_AFTER),
  431: sentence("HeadersTooLarge", "Headers or URL are too large", "The request's headers are too large."),
  500: {
    name: "Unexpected",
    description: "A fault of ours",
    schema: UnexpectedFailure,
    example: { detail: "Internal Server Error", request_id: "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11" },
  },
  502: sentence("BadGateway", "The cluster answered with a failure", "The cluster answered with a failure."),
  503: sentence("Unavailable", "Not available for now", "The database cannot be reached.", RETRY_AFTER),
  504: sentence("TimedOut", "No answer in time", "The cluster did not answer in time."),
};

/** Returns every failure status of an operation, for any caller and any input. */
export function failuresOf(operation: Operation): number[] {
  const { method, credentials, failures = [], failureBodies = {} } = operation;
  const statuses = [
    ...(credentials === "none" ? [] : [401, 403]),
    // Every operation refuses unknown query parameters and unexpected bodies.
    422,
    // An unexpected body is read too.
    ...(method === "GET" ? [] : [413, 415]),
    // On every path: malformed HTTP and malformed headers, a request that does not arrive, in local the name of another server, and
    // headers or a URL that are too large.
    400,
    408,
    421,
    431,
    ...(isCreation(operation) ? [409] : []),
    ...(honoursIfMatch(operation) ? [412] : []),
    ...(takesTurns(operation) ? [429] : []),
    500,
    503,
    ...failures,
    ...Object.keys(failureBodies).map(Number),
  ];
  return [...new Set(statuses)].sort((a, b) => a - b);
}

export function describeFailure(operation: Operation, status: number, components: Components): Json {
  const common = COMMON[status];
  if (!common) throw new Error(`${operation.id} fails with ${status}, which has no description.`);
  const { name, description, example, schema = Failure, headers = {} } = common;
  const own = operation.failureBodies?.[status];
  const answer = { description, headers: { ...REQUEST_ID, ...headers } };
  if (own) return components.answer(answer, own);
  return components.response(name, { ...answer, content: components.content("application/json", schema, example) });
}
