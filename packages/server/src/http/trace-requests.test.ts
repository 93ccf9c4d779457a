import { openTracer, type Tracer } from "@binnacle/tracing";
import { type ReceivedSpan, startFakeCollector } from "@binnacle/tracing/fixture";
import { startWorld } from "@binnacle/world";
import { afterAll, describe, expect, test, vi } from "vitest";
import { startEdge } from "./edge.fixture.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";
const SOON = { timeout: 20_000, interval: 20 };

const collector = await startFakeCollector();
vi.stubEnv("OTEL_BSP_SCHEDULE_DELAY", "10");
const world = await startWorld({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } });
afterAll(async () => {
  await world.stop();
  await collector.stop();
  vi.unstubAllEnvs();
});

const traced = (traceparent: string) => world.admin.api.with({ traceparent });
/** The span of the request with this answer. */
async function spanOf(answer: { readonly headers: Headers }): Promise<ReceivedSpan> {
  const id = answer.headers.get("x-request-id");
  return vi.waitUntil(() => collector.spans.find(({ attributes }) => attributes["binnacle.request_id"] === id), SOON);
}

describe("a request", () => {
  test("[OP21] a request is a span with its method, route and status, and its change is a span within it", async () => {
    const answer = await world.admin.api.post("/orgs", { name: "traced" });
    expect(answer.status).toBe(201);
    const request = await spanOf(answer);
    expect(request).toMatchObject({
      name: "POST /api/v1/orgs",
      kind: 2,
      status: { code: 0 },
      attributes: { "http.request.method": "POST", "http.route": "/api/v1/orgs", "http.response.status_code": 201 },
      resource: { "service.name": "binnacle" },
    });
    const transaction = await vi.waitUntil(
      () => collector.spans.find(({ name, traceId }) => name === "transaction" && traceId === request.traceId),
      SOON,
    );
    expect(transaction).toMatchObject({ parentSpanId: request.spanId, status: { code: 0 } });
  });

  test("[OP21] a request whose change is rolled back has a transaction span that failed", async () => {
    await world.admin.api.post("/orgs", { name: "taken twice" });
    const answer = await world.admin.api.post("/orgs", { name: "taken twice" });
    expect(answer.status).toBe(409);
    const { traceId, status } = await spanOf(answer);
    expect(status).toEqual({ code: 0 });
    const transaction = await vi.waitUntil(
      () => collector.spans.find((span) => span.name === "transaction" && span.traceId === traceId),
      SOON,
    );
    expect(transaction.status).toEqual({ code: 2, message: "The transaction was rolled back." });
  });

  test("[OP22] a request continues the trace that it brings", async () => {
    const answer = await traced(`00-${TRACE}-${SPAN}-01`).get("/user/me");
    expect(answer.status).toBe(200);
    expect(await spanOf(answer)).toMatchObject({ traceId: TRACE, parentSpanId: SPAN, name: "GET /api/v1/user/me" });
  });

  test.each([
    ["malformed", "nonsense"],
    ["one without a trace", `00-${"0".repeat(32)}-${SPAN}-01`],
    ["cut off", `00-${TRACE}-${SPAN}`],
    ["endless", "x".repeat(4_000)],
  ])("[OP22] a request whose traceparent is %s is answered normally, in a trace of its own", async (_, traceparent) => {
    const answer = await traced(traceparent).get("/user/me");
    expect(answer.status).toBe(200);
    const span = await spanOf(answer);
    expect(span.traceId).not.toBe(TRACE);
    expect(span).not.toHaveProperty("parentSpanId");
  });

  test("[OP23] the span of a request holds nothing of its address, its credentials and its body", async () => {
    const { id } = (await world.admin.api.post("/orgs", { name: "hush-in-the-body" })).body;
    await world.admin.api.get(`/orgs/${id}?hush-in-the-query=1`);
    const nowhere = await world.anyone.get("/hush-in-the-path", { headers: { "x-secret": "hush-in-a-header" } });
    expect(await spanOf(nowhere)).toMatchObject({ name: "GET", attributes: { "http.response.status_code": 404 } });
    const sent = collector.texts.join();
    for (const secret of ["hush", id, world.admin.token, "127.0.0.1"]) {
      expect(sent).not.toContain(secret);
    }
  });

  test("[OP23] the log line of a request has the id of its trace", async () => {
    const answer = await world.admin.api.get("/user/me");
    const { traceId } = await spanOf(answer);
    const id = answer.headers.get("x-request-id") ?? "";
    const line = await vi.waitUntil(() => world.logged.find((text) => text.includes(id)), SOON);
    expect(JSON.parse(line)).toMatchObject({ trace_id: traceId, route: "/api/v1/user/me", msg: "request" });
  });

  test("[OP23] a probe is in no trace", async () => {
    for (const path of ["/healthz", "/readyz", "/metrics"]) expect((await fetch(world.url + path)).status).toBe(200);
    await spanOf(await world.admin.api.get("/user/me"));
    expect(collector.spans.filter(({ name }) => /healthz|readyz|metrics/.test(name))).toEqual([]);
  });
});

describe("the edge", () => {
  test("[OP20] the HTTP server has no part that traces where tracing is off", async () => {
    const [off, on] = [await startEdge(), await startEdge(() => undefined, { tracer: {} as Tracer })];
    expect([off, on].map(({ app }) => app.hasRequestDecorator("span"))).toEqual([false, true]);
    await Promise.all([off.app.close(), on.app.close()]);
  });

  test("[OP21] the span of a request ends when the request fails, and when its client leaves before the answer", async () => {
    const log = { info: () => undefined, warn: () => undefined };
    const tracer = (await openTracer({ endpoint: collector.url, service: "edge", version: null, log })) as Tracer;
    const arrived = Promise.withResolvers<void>();
    const left = Promise.withResolvers<void>();
    const edge = await startEdge(
      (app) => {
        app.get("/broken", async () => {
          throw new Error("hush");
        });
        app.get("/slow", async (_, reply) => {
          reply.raw.once("close", left.resolve);
          arrived.resolve();
          await left.promise;
          return {};
        });
      },
      { tracer },
    );
    expect((await fetch(`${edge.url}/broken`)).status).toBe(500);
    const client = edge.dial();
    client.write("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n");
    await arrived.promise;
    client.destroy();
    await left.promise;
    await edge.app.close();
    await tracer.stop();
    const ended = collector.spans.filter(({ resource }) => resource["service.name"] === "edge");
    expect(ended.map(({ name, status }) => [name, status.message])).toEqual([
      ["GET /broken", "The request was answered with a server error."],
      ["GET /slow", undefined],
    ]);
    expect(collector.texts.join()).not.toContain("hush");
  });
});

test("[OP24] requests are answered while no collector listens, and the log says so once, without headers", async () => {
  const gone = await startFakeCollector();
  await gone.stop();
  vi.stubEnv("OTEL_EXPORTER_OTLP_HEADERS", "x-key=hush");
  vi.stubEnv("OTEL_EXPORTER_OTLP_TIMEOUT", "200");
  const alone = await startWorld({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: gone.url } });
  const lost = () => alone.logged.filter((line) => line.includes("the collector does not take traces"));
  await vi.waitUntil(() => lost().length > 0, SOON);
  for (let index = 0; index < 20; index += 1) {
    expect((await alone.admin.api.post("/orgs", { name: `org ${index}` })).status).toBe(201);
  }
  await alone.stop();
  expect(lost()).toHaveLength(1);
  expect(JSON.parse(lost()[0] ?? "")).toMatchObject({ level: "warn", code: "ECONNREFUSED" });
  expect(alone.logged.join()).not.toContain("hush");
});

test("[OP20] without a collector there is no trace in a log line, and none is stored with a change", async () => {
  const plain = await startWorld();
  const answer = await plain.admin.api.with({ traceparent: `00-${TRACE}-${SPAN}-01` }).post("/orgs", { name: "plain" });
  expect(answer.status).toBe(201);
  const id = answer.headers.get("x-request-id") ?? "";
  const line = await vi.waitUntil(() => plain.logged.find((text) => text.includes(id)), SOON);
  expect(JSON.parse(line)).not.toHaveProperty("trace_id");
  await plain.stop();
  expect(plain.logged.join()).not.toContain(TRACE);
});
