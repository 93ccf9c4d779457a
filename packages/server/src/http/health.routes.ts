import { CONTRACT, getVersion } from "@binnacle/contract";
import type { FastifyInstance } from "fastify";
import type pg from "pg";
import { signedIn } from "./guard.ts";
import { refuseOtherMethods } from "./refusals.adapter.ts";
import type { Metrics } from "./request-metrics.adapter.ts";
import { type Route, route } from "./route.ts";

/** For the machines that watch over this one: alive, and ready to serve. */
export function registerHealth(app: FastifyInstance, pool: pg.Pool): void {
  app.get("/healthz", async () => ({ status: "ok" }));

  app.get("/readyz", async (request, reply) => {
    try {
      await pool.query("select 1");
      return { status: "ready" };
    } catch (error) {
      request.log.warn({ request_id: request.id, err: error }, "not ready: the database cannot be reached");
      return reply.code(503).send({ status: "database unreachable" });
    }
  });

  for (const path of ["/healthz", "/readyz"]) refuseOtherMethods(app, path, ["GET"]);
}

/** What is counted tells how much is used, by how many and when, so it is not for everybody who reaches the API. */
export function registerMetrics(app: FastifyInstance, metrics: Metrics): void {
  app.get("/metrics", async (_request, reply) =>
    reply.type(metrics.registry.contentType).send(await metrics.registry.metrics()),
  );
  refuseOtherMethods(app, "/metrics", ["GET"]);
}

export function versionRoutes(build: string | null): Route[] {
  return [route(getVersion, signedIn, async () => ({ contract: CONTRACT, build }))];
}
