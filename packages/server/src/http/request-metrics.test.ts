import { afterAll, beforeAll, expect, test } from "vitest";
import { type Edge, startEdge } from "./edge.fixture.ts";
import { createMetrics } from "./request-metrics.adapter.ts";

test("[OP3] requests are counted and timed by route and not by address", async () => {
  const { exposition, answered } = createMetrics();
  answered("GET", "/things/:id", 200, 2);
  answered("GET", "/things/:id", 200, 30_000);
  answered("GET", "/things/:id", 404, 2);
  const text = await exposition.metrics();
  expect(text).toContain('binnacle_http_requests_total{method="GET",route="/things/:id",status="200"} 2\n');
  expect(text).toContain('binnacle_http_requests_total{method="GET",route="/things/:id",status="404"} 1\n');
  const durations = "binnacle_http_request_duration_seconds";
  expect(text).toContain(`${durations}_bucket{le="0.0025",method="GET",route="/things/:id"} 2\n`);
  expect(text).toContain(`${durations}_bucket{le="10",method="GET",route="/things/:id"} 2\n`);
  expect(text).toContain(`${durations}_count{method="GET",route="/things/:id"} 3\n`);
});

let edge: Edge;
beforeAll(async () => {
  edge = await startEdge((app) => {
    app.post("/things/:id", async () => ({ secret: "hush-answer" }));
  });
});
afterAll(() => edge.app.close());

test("[OP5] a request leaves one log line, under the id of its answer", async () => {
  const answer = await fetch(`${edge.url}/things/1`, { method: "POST" });
  const id = answer.headers.get("x-request-id");
  await edge.lineOf(answer);
  expect(edge.logged.filter(({ request_id }) => request_id === id)).toEqual([
    {
      level: "info",
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      request_id: id,
      method: "POST",
      route: "/things/:id",
      status: 200,
      ms: expect.any(Number),
      source: "127.0.0.1",
      msg: "request",
    },
  ]);
});

test.each([
  ["/things/hush-parameter?token=hush-query", '{"password":"hush-body"}', "application/json"],
  ["/things/hush-parameter?token=hush-query", '{"password":"hush-body', "application/json"],
  ["/hush-nowhere?token=hush-query", "hush-body", "text/hush"],
  ["/things/1", "hush-body".repeat(1000), "application/json"],
])("[OP5] nothing that a request to %s carries is logged", async (path, body, type) => {
  const headers = {
    authorization: "Bearer hush-token",
    cookie: "refresh_token=hush-cookie",
    "content-type": type,
    "idempotency-key": "hush-key",
    "user-agent": "hush-agent",
  };
  await edge.lineOf(await fetch(edge.url + path, { method: "POST", headers, body }));
  expect(JSON.stringify(edge.logged)).not.toContain("hush");
});

test("[OP5] an address that a proxy reports stays within its log field, whatever it holds", async () => {
  const behind = await startEdge((app) => app.get("/things", async () => ({})), { trustedProxies: ["127.0.0.1"] });
  const source = 'x" \\ {}';
  const line = await behind.lineOf(await fetch(`${behind.url}/things`, { headers: { "x-forwarded-for": source } }));
  expect(line).toMatchObject({ level: "info", source });
  await behind.app.close();
});
