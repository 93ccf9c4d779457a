import type { FastifyReply, FastifyRequest } from "fastify";
import type { Logger } from "pino";
import { infoLines } from "../log.adapter.ts";
import type { Metrics } from "./metrics.ts";

export type NoteAnswer = (request: FastifyRequest, reply: FastifyReply) => void;

/** One line and one measurement for each answer. Both name the route and not the address: a query may hold what neither must. */
export function answerNotes(metrics: Metrics, log: Logger): NoteAnswer {
  const write = infoLines(log, "request");
  // There are only as many as routes, methods and statuses.
  const known = new Map<string, string>();

  function fieldsOf(method: string, route: string | null, status: number): string {
    const key = `${status} ${method} ${route}`;
    const fields =
      known.get(key) ?? `"method":${JSON.stringify(method)},"route":${JSON.stringify(route)},"status":${status}`;
    known.set(key, fields);
    return fields;
  }

  return (request, reply) => {
    const { method, routePattern } = request;
    const { elapsedTime, statusCode } = reply;
    const route = routePattern ?? request.routeOptions.url ?? null;
    metrics.answered(method, route ?? "(none)", statusCode, elapsedTime);
    const ms = Math.round(elapsedTime * 10) / 10;
    write(`"request_id":"${request.id}",${fieldsOf(method, route, statusCode)},"ms":${ms}${sourceField(request.ip)}`);
  };
}

/** None is known of a client that has gone. A proxy may have taken it from a header: anything could stand there. */
const sourceField = (source: string | undefined) => (source === undefined ? "" : `,"source":${JSON.stringify(source)}`);
