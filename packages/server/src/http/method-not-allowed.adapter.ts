import type { FastifyInstance, HTTPMethods } from "fastify";
import { fastifyPath } from "./register.adapter.ts";
import type { Route } from "./route.ts";

/** A known path under another method is a 405 that says which methods there are. */
export function registerMethodNotAllowed(app: FastifyInstance, base: string, routes: readonly Route[]): void {
  // Paths that differ only in their parameters' names are one path.
  const byShape = Map.groupBy(routes, ({ operation }) => operation.path.replace(/\{\w+\}/g, "{}"));
  for (const [first, ...others] of byShape.values()) {
    if (!first) continue;
    const methods = [first, ...others].map(({ operation }) => operation.method);
    refuseOtherMethods(app, base + fastifyPath(first.operation.path), methods);
  }
}

export function refuseOtherMethods(app: FastifyInstance, url: string, methods: readonly string[]): void {
  const allowed = methods.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]));
  app.route({
    method: app.supportedMethods.filter((method) => !allowed.includes(method)) as HTTPMethods[],
    url,
    // Before the body is read: nothing in it could make the method right.
    onRequest: async (_request, reply) =>
      reply.code(405).header("allow", allowed.join(", ")).send({ detail: "Method Not Allowed" }),
    handler: async () => undefined,
  });
}
