import type { FastifyReply, FastifyRequest } from "fastify";
import type { Logger } from "pino";
import { Counter, collectDefaultMetrics, Histogram, Registry } from "prom-client";

export interface Metrics {
  readonly exposition: Registry;
  answered(method: string, route: string, status: number, elapsedMs: number): void;
}

const BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export function createMetrics(): Metrics {
  const exposition = new Registry();
  const registers = [exposition];
  collectDefaultMetrics({ register: exposition });
  const requests = new Counter({
    name: "binnacle_http_requests_total",
    help: "Requests answered",
    labelNames: ["method", "route", "status"],
    registers,
  });
  const durations = new Histogram({
    name: "binnacle_http_request_duration_seconds",
    help: "Time from a request's arrival to the end of its answer",
    labelNames: ["method", "route"],
    buckets: BUCKETS_SECONDS,
    registers,
  });
  return {
    exposition,
    answered(method, route, status, elapsedMs) {
      requests.inc({ method, route, status });
      durations.observe({ method, route }, elapsedMs / 1000);
    },
  };
}

export type RecordAnswer = (request: FastifyRequest, reply: FastifyReply) => void;

/** Logs and measures each answer. Both have the route and not the address, because a query may contain secrets. */
export function answerRecorder(metrics: Metrics, log: Logger): RecordAnswer {
  // The names of these fields are known, and looking for secrets among them takes a sixth of the CPU of a read.
  const requests = log.child({}, { formatters: { log: (fields) => fields } });
  return (request, reply) => {
    const { id: request_id, method, ip: source, span } = request;
    const { elapsedTime, statusCode: status } = reply;
    const route = request.routePattern ?? request.routeOptions.url ?? null;
    metrics.answered(method, route ?? "(none)", status, elapsedTime);
    const ms = Math.round(elapsedTime * 10) / 10;
    // The address of a disconnected client is unknown; pino leaves out what is undefined.
    const user_id = request.userId ?? undefined;
    requests.info({ request_id, user_id, method, route, status, ms, source, trace_id: span?.traceId }, "request");
  };
}
