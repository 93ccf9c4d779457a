import type { FastifyReply, FastifyRequest } from "fastify";
import type { Logger } from "pino";
import { infoLines } from "../log.adapter.ts";
import type { Metrics } from "./metrics.ts";

export type NoteAnswer = (request: FastifyRequest, reply: FastifyReply) => void;

/** What the answers of one route, method and status have in common. */
interface Kind {
  readonly count: (elapsedMs: number) => void;
  /** Part of a log line. */
  readonly fields: string;
}

/** One line and one measurement for each answer. Both name the route and not the address: a query may hold what neither must. */
export function answerNotes(metrics: Metrics, log: Logger): NoteAnswer {
  const write = infoLines(log, "request");
  // There are only as many as routes, methods and statuses.
  const kinds = new Map<string | null, Map<string, Map<number, Kind>>>();

  function kindOf(route: string | null, method: string, status: number): Kind {
    const known = kinds.get(route)?.get(method)?.get(status);
    if (known) return known;
    const kind = {
      count: metrics.counterOf(method, route ?? "(none)", status),
      fields: `"method":${JSON.stringify(method)},"route":${JSON.stringify(route)},"status":${status}`,
    };
    const ofRoute = kinds.get(route) ?? new Map<string, Map<number, Kind>>();
    const ofMethod = ofRoute.get(method) ?? new Map<number, Kind>();
    kinds.set(route, ofRoute.set(method, ofMethod.set(status, kind)));
    return kind;
  }

  return (request, reply) => {
    const { elapsedTime } = reply;
    const route = request.routePattern ?? request.routeOptions.url ?? null;
    const { count, fields } = kindOf(route, request.method, reply.statusCode);
    count(elapsedTime);
    const ms = Math.round(elapsedTime * 10) / 10;
    write(`"request_id":"${request.id}",${fields},"ms":${ms}${sourceField(request.ip)}`);
  };
}

/** None is known of a client that has gone. A proxy may have taken it from a header: anything could stand there. */
const sourceField = (source: string | undefined) => (source === undefined ? "" : `,"source":${JSON.stringify(source)}`);
