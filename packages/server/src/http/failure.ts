import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { isUnreachable } from "../database/violation.ts";
import { Fault, type FaultKind } from "../fault.ts";

/** The one place that knows which status a fault is. */
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
  invalid: 422,
  rate_limited: 429,
  bad_gateway: 502,
  unavailable: 503,
  timed_out: 504,
};

export function sendFailure(error: Error, request: FastifyRequest, reply: FastifyReply): void {
  const fault = faultOf(error);
  if (!fault) {
    request.log.error({ err: error }, "request failed");
    reply.code(500).send({ detail: "Internal Server Error", request_id: request.id });
    return;
  }
  if (fault.kind === "unavailable") request.log.warn({ err: error }, "request failed for now");
  if (fault.kind === "unauthenticated") reply.header("www-authenticate", "Bearer");
  if (fault.retryAfterSeconds !== undefined) reply.header("retry-after", String(fault.retryAfterSeconds));
  reply.code(STATUS_OF[fault.kind]).send(fault.body ?? { detail: fault.detail });
}

/** Null is a fault of ours. */
export function faultOf(error: Error): Fault | null {
  if (error instanceof Fault) return error;
  if (isUnreachable(error)) {
    return new Fault("unavailable", "The database cannot be reached. Try again in a moment.", { retryAfterSeconds: 1 });
  }
  switch ((error as Partial<FastifyError>).code) {
    case "FST_ERR_CTP_BODY_TOO_LARGE":
      return new Fault("payload_too_large", "The request body is too large.");
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
    case "FST_ERR_CTP_INVALID_TYPE":
      return new Fault("unsupported_media_type", "The media type of the request body is not supported.");
    case "FST_ERR_CTP_INVALID_CONTENT_LENGTH":
      return new Fault("invalid", "The request is not valid.", {
        detail: [{ loc: ["body"], msg: "The body ended early", type: "value_error" }],
      });
    default:
      return null;
  }
}
