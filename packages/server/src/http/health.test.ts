import { expect, test } from "vitest";
import { connect } from "../database/connection.adapter.ts";
import { type Edge, startEdge } from "./edge.fixture.ts";
import { registerHealth, registerMetrics } from "./health.routes.ts";

const nowhere = () => connect({ url: "postgres://nobody@127.0.0.1:1/none" }, { poolSize: 2, onError: () => undefined });

async function startWatched(): Promise<Edge> {
  const { pool } = nowhere();
  return startEdge((app, metrics) => {
    registerHealth(app, pool);
    registerMetrics(app, metrics);
    app.get("/things/:id", async () => ({}));
  });
}

test("[OP1] /healthz is fine as long as the process answers, also without a database", async () => {
  const edge = await startWatched();
  const answer = await fetch(`${edge.url}/healthz`);
  expect([answer.status, await answer.json()]).toEqual([200, { status: "ok" }]);
  await edge.app.close();
});

test("[OP2] /readyz is a 503 while the database cannot be reached", async () => {
  const edge = await startWatched();
  const answer = await fetch(`${edge.url}/readyz`);
  expect([answer.status, await answer.json()]).toEqual([503, { status: "database unreachable" }]);
  await edge.app.close();
});

test("[OP3] /metrics counts and times requests by route, never by what an address holds", async () => {
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

test.each(["/healthz", "/readyz", "/metrics"])("[ER3] %s is only read", async (path) => {
  const edge = await startWatched();
  const answer = await fetch(edge.url + path, { method: "POST" });
  expect([answer.status, answer.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  await edge.app.close();
});
