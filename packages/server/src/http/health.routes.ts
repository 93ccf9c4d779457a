import { appManifestSchema, CONTRACT, getVersion, MANIFEST_SCHEMA_PATH } from "@binnacle/contract";
import type { FastifyInstance } from "fastify";
import type pg from "pg";
import type { Bus } from "../bus/bus.ts";
import type { Ports } from "../ports.ts";
import { FOR_ANY_HOST, PROBE } from "./addressed-host.ts";
import { signedIn } from "./guard.ts";
import { refuseOtherMethods } from "./refusals.adapter.ts";
import type { Metrics } from "./request-metrics.adapter.ts";
import { type Route, route } from "./route.ts";

/** Where a process is between its start and its end. */
export type Phase = "starting" | "migrating" | "started" | "stopping";

interface Health {
  phase(): Phase;
  readonly pool: Pick<pg.Pool, "query">;
  readonly bus: Pick<Bus, "isUp" | "connected">;
  isOutOfRoom?(): boolean;
}

/** A probe that waits for longer is repeated anyway. */
const DATABASE_WITHIN_MS = 2_000;

/**
 * Registers the probes. `livez` says that the process answers, `startupz` that its start is over, and `readyz` that it should be
 * sent requests. A bus that is lost later does not make a process unready: it would make all of them unready at once, although
 * all that they lose is time.
 */
export function registerHealth(app: FastifyInstance, { phase, pool, bus, isOutOfRoom }: Health): void {
  let hasBus = false;
  void bus.connected.then(() => {
    hasBus = true;
  });
  const live = async () => ({ status: "ok" });
  app.get("/livez", PROBE, live);
  app.get("/healthz", PROBE, live);

  app.get("/startupz", PROBE, async (_request, reply) => {
    const now = phase();
    return isStarted(now) ? { status: "started" } : reply.code(503).send({ status: now });
  });

  app.get("/readyz", PROBE, async (request, reply) => {
    const now = phase();
    if (now !== "started") return reply.code(503).send({ status: now });
    if (!hasBus) return reply.code(503).send({ status: "bus not connected" });
    try {
      await answered(pool.query("select 1"));
    } catch (error) {
      request.log.warn({ request_id: request.id, err: error }, "not ready: the database cannot be reached");
      return reply.code(503).send({ status: isOutOfRoom?.() ? "database out of disk space" : "database unreachable" });
    }
    return { status: "ready", bus: bus.isUp() ? "connected" : "reconnecting" };
  });

  for (const path of ["/livez", "/healthz", "/startupz", "/readyz"]) refuseOtherMethods(app, path, ["GET"]);
}

const isStarted = (phase: Phase) => phase === "started" || phase === "stopping";

/** A connection to a machine that is gone stays silent for minutes. */
async function answered(query: Promise<unknown>): Promise<void> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error("The database did not answer in time.")), DATABASE_WITHIN_MS);
  await Promise.race([query, late.promise]).finally(() => clearTimeout(timer));
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
    reply.type(metrics.exposition.contentType).send(await metrics.exposition.metrics()),
  );
  refuseOtherMethods(app, "/metrics", ["GET"]);
}

export function versionRoutes({ build }: Ports<"build">): Route[] {
  return [route(getVersion, signedIn, async () => ({ contract: CONTRACT, build }))];
}
