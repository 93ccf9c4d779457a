import type { FastifyReply, FastifyRequest } from "fastify";
import type { Metrics } from "./metrics.ts";

/** One line and one measurement for each answer. Both name the route and not the address: a query may hold what neither must. */
export function noteAnswer(metrics: Metrics, request: FastifyRequest, reply: FastifyReply): void {
  const { method, ip: source } = request;
  const { statusCode: status, elapsedTime } = reply;
  const route = request.routePattern ?? request.routeOptions.url ?? null;
  metrics.observe(method, route ?? "(none)", status, elapsedTime);
  request.log.info(
    { request_id: request.id, method, route, status, ms: Math.round(elapsedTime * 10) / 10, source },
    "request",
  );
}
