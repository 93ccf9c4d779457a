import { appManifestSchema, CONTRACT, getVersion, MANIFEST_SCHEMA_PATH } from "@binnacle/contract";
import type { FastifyInstance } from "fastify";
import type pg from "pg";
import { FOR_ANY_HOST } from "./addressed-host.ts";
import { signedIn } from "./guard.ts";
import { refuseOtherMethods } from "./refusals.adapter.ts";
import type { Metrics } from "./request-metrics.adapter.ts";
import { type Route, route } from "./route.ts";

/** Registers the liveness and readiness probes. */
export function registerHealth(app: FastifyInstance, pool: pg.Pool): void {
  app.get("/healthz", FOR_ANY_HOST, async () => ({ status: "ok" }));

  app.get("/readyz", FOR_ANY_HOST, async (request, reply) => {
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

/** Registers the schema of `binnacle.yaml`. Editors read it without credentials; it holds nothing of the installation. */
export function registerSchemas(app: FastifyInstance): void {
  const text = JSON.stringify(appManifestSchema());
  app.get(MANIFEST_SCHEMA_PATH, FOR_ANY_HOST, async (_request, reply) =>
    reply.type("application/schema+json").header("cache-control", "public, max-age=3600").send(text),
  );
  refuseOtherMethods(app, MANIFEST_SCHEMA_PATH, ["GET"]);
}

/** The counters reveal how the installation is used, so they are not public. */
export function registerMetrics(app: FastifyInstance, metrics: Metrics): void {
  app.get("/metrics", async (_request, reply) =>
    reply.type(metrics.registry.contentType).send(await metrics.registry.metrics()),
  );
  refuseOtherMethods(app, "/metrics", ["GET"]);
}

export function versionRoutes(build: string | null): Route[] {
  return [route(getVersion, signedIn, async () => ({ contract: CONTRACT, build }))];
}
