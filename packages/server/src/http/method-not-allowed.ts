import type { FastifyInstance, HTTPMethods } from "fastify";
import { fastifyPath } from "./register.ts";
import type { Route } from "./route.ts";

const METHODS: readonly HTTPMethods[] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/** A known path under another method is a 405 that says which methods there are. */
export function registerMethodNotAllowed(app: FastifyInstance, base: string, routes: readonly Route[]): void {
  const methodsOf = new Map<string, Set<HTTPMethods>>();
  for (const { operation } of routes) {
    // Paths that differ only in their parameters' names are one path.
    const path = operation.path.replace(/\{\w+\}/g, "{_}");
    methodsOf.set(path, (methodsOf.get(path) ?? new Set()).add(operation.method));
  }
  for (const [path, methods] of methodsOf) {
    const allow = [...methods].flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method])).join(", ");
    app.route({
      method: METHODS.filter((method) => !methods.has(method)),
      url: base + fastifyPath(path),
      exposeHeadRoute: false,
      bodyLimit: 1,
      onRequest: async (_request, reply) =>
        reply.code(405).header("allow", allow).send({ detail: "Method Not Allowed" }),
      handler: () => undefined,
    });
  }
}
