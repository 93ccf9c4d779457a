import type { FastifyInstance } from "fastify";
import type pg from "pg";
import type { Metrics } from "./metrics.ts";

/** For the machines that watch over this one: alive, ready to serve, and numbers. */
export function registerHealth(app: FastifyInstance, metrics: Metrics, pool: pg.Pool, isDraining: () => boolean): void {
  app.get("/healthz", () => ({ status: "ok" }));

  app.get("/readyz", async (_request, reply) => {
    if (isDraining()) return reply.code(503).send({ status: "draining" });
    try {
      await pool.query("select 1");
      return { status: "ready" };
    } catch {
      return reply.code(503).send({ status: "database unreachable" });
    }
  });

  app.get("/metrics", async (_request, reply) =>
    reply.type(metrics.registry.contentType).send(await metrics.registry.metrics()),
  );
}
