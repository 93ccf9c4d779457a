import type { Span, Tracer } from "@binnacle/tracing";
import type { FastifyInstance } from "fastify";

/** Machines ask for these every few seconds, and nobody looks for them in a trace. */
const UNTRACED = new Set(["/livez", "/healthz", "/startupz", "/readyz", "/metrics"]);

/**
 * A span for each request. It names the route and never the address, which may hold what nobody else is to read. A
 * `traceparent` that is missing or malformed begins a new trace.
 */
export function traceRequests(app: FastifyInstance, tracer: Tracer): void {
  app.decorateRequest("span", null);
  app.addHook("onRequest", (request, reply, next) => {
    const { method, headers } = request;
    const route = request.routeOptions.url;
    if (route !== undefined && UNTRACED.has(route)) return next();
    const parent = headers["traceparent"];
    const span = tracer.start(route === undefined ? method : `${method} ${route}`, {
      kind: "server",
      parent: typeof parent === "string" ? parent : null,
      attributes: {
        "http.request.method": method,
        ...(route === undefined ? {} : { "http.route": route }),
        "binnacle.request_id": request.id,
      },
    });
    request.span = span;
    // A client that leaves early gets no response that finishes, but its connection closes all the same.
    reply.raw.once("close", () => {
      span.set({ "http.response.status_code": reply.statusCode });
      span.end(reply.statusCode >= 500 ? "The request was answered with a server error." : null);
    });
    next();
  });
}

declare module "fastify" {
  interface FastifyRequest {
    /** Missing where tracing is off. */
    span?: Span | null;
  }
}
