import type { answerRecorder as notesByHand } from "../../packages/server/src/http/request-metrics.adapter.ts";

export { createMetrics } from "../../packages/server/src/http/request-metrics.adapter.ts";

/** One line by the logger's public method. */
export const answerRecorder: typeof notesByHand = (metrics, log) => {
  return (request, reply) => {
    const { elapsedTime } = reply;
    const { id: request_id, method, ip: source } = request;
    const route = request.routePattern ?? request.routeOptions.url ?? null;
    metrics.answered(method, route ?? "(none)", reply.statusCode, elapsedTime);
    const ms = Math.round(elapsedTime * 10) / 10;
    log.info({ request_id, method, route, status: reply.statusCode, ms, ...(source && { source }) }, "request");
  };
};
