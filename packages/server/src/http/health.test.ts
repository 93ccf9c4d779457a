import type pg from "pg";
import { expect, test } from "vitest";
import { connect } from "../database/connection.adapter.ts";
import { type Edge, startEdge } from "./edge.fixture.ts";
import { type Phase, registerHealth, registerMetrics } from "./health.routes.ts";

const nowhere = () => connect({ url: "postgres://nobody@127.0.0.1:1/none" }, { poolSize: 2, onError: () => undefined });
const answering = { query: async () => ({ rows: [] }) } as unknown as pg.Pool;
const up = { isUp: () => true, connected: Promise.resolve() };

async function startWatched(health: Partial<Parameters<typeof registerHealth>[1]> = {}): Promise<Edge> {
  const { pool } = nowhere();
  return startEdge((app, metrics) => {
    registerHealth(app, { phase: () => "started", pool, bus: up, ...health });
    registerMetrics(app, metrics);
    app.get("/things/:id", async () => ({}));
  });
}

async function probed(edge: Edge, path: string): Promise<[number, unknown]> {
  const answer = await fetch(edge.url + path);
  return [answer.status, await answer.json()];
}

test.each(["/healthz", "/livez"])(
  "[OP1] GET %s is a 200 as long as the process answers, also without a database",
  async (path) => {
    const edge = await startWatched({ phase: () => "migrating" });
    expect(await probed(edge, path)).toEqual([200, { status: "ok" }]);
    await edge.app.close();
  },
);

test("[OP2] GET /readyz is a 503 while the database cannot be reached, or does not answer within two seconds", async () => {
  const unreachable = await startWatched();
  expect(await probed(unreachable, "/readyz")).toEqual([503, { status: "database unreachable" }]);
  await unreachable.app.close();
  const silent = { query: () => new Promise<never>(() => undefined) } as unknown as pg.Pool;
  const hanging = await startWatched({ pool: silent });
  expect(await probed(hanging, "/readyz")).toEqual([503, { status: "database unreachable" }]);
  await hanging.app.close();
});

test("[OP1567] GET /startupz and /readyz are a 503 that names the phase until the start is over, and /readyz again when it stops", async () => {
  let phase: Phase = "starting";
  const edge = await startWatched({ phase: () => phase, pool: answering });
  const answers: unknown[] = [];
  for (phase of ["starting", "migrating", "started", "stopping"] as const) {
    const [startup, ready] = [await probed(edge, "/startupz"), await probed(edge, "/readyz")];
    answers.push([phase, startup, ready]);
  }
  expect(answers).toEqual([
    ["starting", [503, { status: "starting" }], [503, { status: "starting" }]],
    ["migrating", [503, { status: "migrating" }], [503, { status: "migrating" }]],
    ["started", [200, { status: "started" }], [200, { status: "ready", bus: "connected" }]],
    ["stopping", [200, { status: "started" }], [503, { status: "stopping" }]],
  ]);
  await edge.app.close();
});

test("[OP1568] GET /readyz is a 503 until the bus was connected once; a bus that is lost later is named and harms no readiness", async () => {
  const connected = Promise.withResolvers<void>();
  let isUp = false;
  const edge = await startWatched({ pool: answering, bus: { isUp: () => isUp, connected: connected.promise } });
  expect(await probed(edge, "/readyz")).toEqual([503, { status: "bus not connected" }]);
  connected.resolve();
  isUp = true;
  expect(await probed(edge, "/readyz")).toEqual([200, { status: "ready", bus: "connected" }]);
  isUp = false;
  expect(await probed(edge, "/readyz")).toEqual([200, { status: "ready", bus: "reconnecting" }]);
  await edge.app.close();
});

test("[OP1570] until the start is over, every request but probes is a 503 that says when to try again", async () => {
  let hasStarted = false;
  const edge = await startEdge(
    (app) => {
      registerHealth(app, { phase: () => "migrating", pool: answering, bus: up });
      app.get("/things", async () => ({}));
    },
    { isStarted: () => hasStarted },
  );
  const early = await fetch(`${edge.url}/things`);
  expect([early.status, early.headers.get("retry-after")]).toEqual([503, "1"]);
  expect(await probed(edge, "/livez")).toEqual([200, { status: "ok" }]);
  hasStarted = true;
  expect((await fetch(`${edge.url}/things`)).status).toBe(200);
  await edge.app.close();
});

test("[OP3] GET /metrics counts and times requests by route, never by what an address holds", async () => {
  const edge = await startWatched();
  for (const path of ["/things/secret-1", "/things/secret-2?token=hush", "/nowhere/secret-3", "/%ff-secret-4"]) {
    await edge.lineOf(await fetch(edge.url + path));
  }
  const answer = await fetch(`${edge.url}/metrics`);
  const text = await answer.text();
  expect(answer.headers.get("content-type")).toMatch(/^text\/plain/);
  expect(text).toContain('binnacle_http_requests_total{method="GET",route="/things/:id",status="200"} 2');
  expect(text).toContain('binnacle_http_requests_total{method="GET",route="(none)",status="404"} 1');
  expect(text).toContain('binnacle_http_requests_total{method="GET",route="(none)",status="400"} 1');
  expect(text).toContain('binnacle_http_request_duration_seconds_count{method="GET",route="/things/:id"} 2');
  expect(text).toMatch(/^nodejs_heap_size_used_bytes /m);
  expect(text).not.toMatch(/secret|hush/);
  await edge.app.close();
});

test.each(["/healthz", "/livez", "/startupz", "/readyz", "/metrics"])("[ER3] a POST to %s is a 405", async (path) => {
  const edge = await startWatched();
  const answer = await fetch(edge.url + path, { method: "POST" });
  expect([answer.status, answer.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  await edge.app.close();
});
