import { createServer } from "node:net";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type FakeCollector, startFakeCollector } from "./collector.fixture.ts";
import { openTracer } from "./otlp.adapter.ts";
import type { Tracer } from "./tracer.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";

let collector: FakeCollector;
const log = { info: vi.fn(), warn: vi.fn() };
beforeEach(async () => {
  collector = await startFakeCollector();
});
afterEach(async () => {
  await collector.stop();
  vi.unstubAllEnvs();
  vi.useRealTimers();
  log.info.mockReset();
  log.warn.mockReset();
});

async function open(env: Record<string, string> = {}, endpoint: string | null = collector.url): Promise<Tracer> {
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  const tracer = await openTracer({ endpoint, service: "ferry", version: "1.2.3", attributes: { pier: 7 }, log });
  if (!tracer) throw new Error("There is no tracer.");
  return tracer;
}

const named = (name: string) => collector.spans.find((span) => span.name === name);

describe("a span", () => {
  test("[OP21] a span reaches the collector with its parent, its time and the attributes of its process", async () => {
    const tracer = await open();
    const request = tracer.start("request", { kind: "server", startedAtMs: 1_700_000_000_000 });
    const child = request.child("work", { attributes: { rows: 3, isNew: true, kind: "app" } });
    child.set({ state: "done" });
    child.end();
    request.end("It has failed.");
    await tracer.stop();
    expect(request.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    expect(request.traceparent).toContain(request.traceId);
    expect(named("request")).toMatchObject({
      traceId: request.traceId,
      startTimeUnixNano: "1700000000000000000",
      status: { code: 2, message: "It has failed." },
      resource: { "service.name": "ferry", "service.version": "1.2.3", pier: 7 },
    });
    expect(named("request")).not.toHaveProperty("parentSpanId");
    expect(named("work")).toMatchObject({
      traceId: request.traceId,
      parentSpanId: named("request")?.spanId,
      attributes: { rows: 3, isNew: true, kind: "app", state: "done" },
    });
  });

  test("[OP22] a span continues the trace of its parent, also of one that another process has begun", async () => {
    const tracer = await open();
    tracer.start("here", { parent: `00-${TRACE}-${SPAN}-01` }).end();
    await tracer.stop();
    expect(named("here")).toMatchObject({ traceId: TRACE, parentSpanId: SPAN });
  });

  test.each([
    null,
    "",
    "hello",
    `00-${"0".repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${"0".repeat(16)}-01`,
    `ff-${TRACE}-${SPAN}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}`,
    `00-${TRACE}-${SPAN}-01-more`,
    `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`,
    "x".repeat(16_000),
  ])("[OP22] a span begins a new trace where its parent is %s", async (parent) => {
    const tracer = await open();
    tracer.start("here", { parent }).end();
    await tracer.stop();
    expect(named("here")?.traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(named("here")?.traceId).not.toBe(TRACE);
    expect(named("here")).not.toHaveProperty("parentSpanId");
  });
});

describe("OpenTelemetry's own variables", () => {
  test("[OP26] OTEL_SERVICE_NAME names the service, and OTEL_EXPORTER_OTLP_HEADERS adds headers", async () => {
    const tracer = await open({ OTEL_SERVICE_NAME: "liner", OTEL_EXPORTER_OTLP_HEADERS: "x-key=hush" });
    tracer.start("here").end();
    await tracer.stop();
    expect(named("here")?.resource).toMatchObject({ "service.name": "liner", "service.version": "1.2.3" });
    expect(collector.headers[0]).toMatchObject({ "x-key": "hush" });
  });

  test("[OP26] OTEL_TRACES_SAMPLER chooses what is recorded, and an unrecorded span says so in its traceparent", async () => {
    const tracer = await open({ OTEL_TRACES_SAMPLER: "parentbased_always_off" });
    const unrecorded = tracer.start("unrecorded");
    unrecorded.child("within it").end();
    unrecorded.end();
    tracer.start("asked for", { parent: `00-${TRACE}-${SPAN}-01` }).end();
    await tracer.stop();
    expect(unrecorded.traceparent).toMatch(/-00$/);
    expect(collector.spans.map(({ name }) => name)).toEqual(["asked for"]);
  });

  test.each([
    ["grpc", 1],
    ["http/protobuf", 0],
    ["http/json", 0],
  ])("[OP26] the protocol %s leads to %i warnings that it is not offered", async (protocol, warnings) => {
    await (await open({ OTEL_EXPORTER_OTLP_PROTOCOL: protocol })).stop();
    expect(log.warn).toHaveBeenCalledTimes(warnings);
  });

  test.each([{ OTEL_SDK_DISABLED: "true" }, { OTEL_TRACES_EXPORTER: "none" }])(
    "[OP20] the variables %o leave no tracer",
    async (env) => {
      expect(await openTracer({ endpoint: collector.url, service: "ferry", version: null, log, env })).toBeNull();
    },
  );
});

/** A port at which nobody listens. */
async function deadEnd(): Promise<string> {
  const server = createServer();
  const port = await new Promise<number>((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve((server.address() as { port: number }).port));
  });
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
}

describe("a collector that does not take spans", () => {
  test("[OP24] a collector that refuses spans is logged once, without header values, and once when it accepts them again", async () => {
    collector.answerWith(403);
    const tracer = await open({ OTEL_EXPORTER_OTLP_HEADERS: "x-key=hush", OTEL_BSP_SCHEDULE_DELAY: "10" });
    for (const round of [1, 2]) {
      tracer.start(`lost ${round}`).end();
      await vi.waitFor(() => expect(collector.headers).toHaveLength(round), { timeout: 10_000 });
    }
    collector.answerWith(200);
    tracer.start("taken").end();
    await tracer.stop();
    expect(collector.spans.map(({ name }) => name)).toEqual(["taken"]);
    expect(log.warn.mock.calls).toEqual([
      [{ code: 403 }, "the collector does not take traces; they are dropped until it does"],
    ]);
    expect(log.info).toHaveBeenLastCalledWith({}, "the collector takes traces again");
    expect(JSON.stringify([log.warn.mock.calls, log.info.mock.calls])).not.toContain("hush");
  });

  test("[OP24] a collector that does not answer holds up a stop for two seconds at most", async () => {
    const tracer = await open({}, await deadEnd());
    tracer.start("lost").end();
    // The exporter waits on the same timers before it tries again: nothing but the deadline can end this.
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const stopped = tracer.stop();
    vi.advanceTimersByTime(2_000);
    await stopped;
  });

  test("[OP24] at most 2,048 spans wait for the collector", async () => {
    const tracer = await open();
    // All within one turn of the event loop, in which nothing can be sent. The first batch has left the queue by then.
    for (let index = 0; index < 5_000; index += 1) tracer.start("one").end();
    await tracer.stop();
    expect(collector.spans).toHaveLength(512 + 2_048);
  });
});
