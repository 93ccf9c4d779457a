import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { isOutOfRoom, isTooSlow, isUnreachable } from "../database/transaction.ts";
import { Fault, type FaultKind } from "../fault.ts";

/** The status of each kind of fault. */
export const STATUS_OF: Record<FaultKind, number> = {
  bad_request: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  gone: 410,
  precondition_failed: 412,
  payload_too_large: 413,
  unsupported_media_type: 415,
  misdirected: 421,
  invalid: 422,
  upgrade_required: 426,
  rate_limited: 429,
  bad_gateway: 502,
  unavailable: 503,
  timed_out: 504,
};

/** What answers need to know of the database that its errors do not say. */
export interface DatabaseState {
  /** The built-in database has ended because its disk is full. */
  readonly isOutOfRoom?: boolean | undefined;
}

export function sendFailure(
  error: Error,
  request: FastifyRequest,
  reply: FastifyReply,
  state: DatabaseState = {},
): void {
  const fault = faultOf(error, state);
  if (!fault) {
    request.log.error({ request_id: request.id, err: error }, "request failed");
    reply.code(500).send({ detail: "Internal Server Error", request_id: request.id });
    return;
  }
  if (fault.kind === "unavailable")
    request.log.warn({ request_id: request.id, err: error }, "request failed: temporarily unavailable");
  // The cause of another system's failure is logged and not shown to the caller.
  if (fault.kind === "bad_gateway" && fault.cause instanceof Error) {
    request.log.warn({ request_id: request.id, reason: fault.cause.message }, "another system failed");
  }
  if (fault.kind === "unauthenticated") reply.header("www-authenticate", "Bearer");
  if (fault.kind === "upgrade_required") reply.headers({ upgrade: "websocket", connection: "upgrade" });
  if (fault.retryAfterSeconds !== undefined) reply.header("retry-after", String(fault.retryAfterSeconds));
  reply.code(STATUS_OF[fault.kind]).send(fault.body ?? { detail: fault.detail });
}

/** Returns null for an internal error. */
export function faultOf(error: Error, { isOutOfRoom: isDown = false }: DatabaseState = {}): Fault | null {
  if (error instanceof Fault) return error;
  const refusal = refusalOf(error);
  if (refusal) return refusal;
  if (isUnreachable(error)) {
    if (isDown) return new Fault("unavailable", DOWN_FOR_ROOM, { retryAfterSeconds: 5 });
    return new Fault("unavailable", "The database cannot be reached. Try again in a moment.", { retryAfterSeconds: 1 });
  }
  if (isTooSlow(error)) return new Fault("unavailable", TOO_SLOW, { retryAfterSeconds: 5 });
  if (isOutOfRoom(error)) return new Fault("unavailable", OUT_OF_ROOM);
  return null;
}

const TOO_SLOW =
  "The database took too long, and nothing was changed. Ask for less, as by a filter, or try again later.";

const DOWN_FOR_ROOM =
  "The disk of the database is full, and it does not run until there is room. Whoever runs this installation has to make room.";

const OUT_OF_ROOM =
  "The change was not stored, because the disk of the database is full. Whoever runs this installation has to make room.";

/**
 * Maps the errors of Fastify itself. A connection that is aborted while the body arrives has a status too; without this
 * check it would look like a lost database.
 */
function refusalOf({ code = "", statusCode = 500 }: Partial<FastifyError>): Fault | null {
  if (statusCode >= 500 || !/^(FST_|ECONNRESET$)/.test(code)) return null;
  if (statusCode === 413) return new Fault("payload_too_large", "The request body is too large.");
  if (statusCode === 415) {
    return new Fault("unsupported_media_type", "The media type of the request body is not supported.");
  }
  if (code === "FST_ERR_BAD_URL") return new Fault("bad_request", "The URL is not well-formed.");
  return new Fault("bad_request", "The request is not valid.");
}
