import type { Reports } from "@binnacle/contract";
import type { SpanOptions, Tracer } from "@binnacle/tracing";
import { describe, expect, test, vi } from "vitest";
import { createStatusOutbox } from "../link/outbox.ts";
import { createChangeTraces } from "./change-traces.ts";

const PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const READY = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01";
const KEY = "app/shop/web";
const subject = (generation: number, key = KEY) => ({ key, resource_id: "3f1c", generation });
const app = (phase: "deploying" | "running" | "failed" | "degraded", reason: string | null = null): Reports["app"] => ({
  phase,
  reason,
  message: null,
  components: [],
  drift: { state: "in_sync", summary: null, fields: [], detected_at: null },
});

/** Writes down the spans that are started, and how they end. */
function recorder() {
  const spans: { name: string; options: SpanOptions | undefined; failure?: string | null }[] = [];
  const tracer: Tracer = {
    start(name, options) {
      const span: (typeof spans)[number] = { name, options };
      spans.push(span);
      return {
        traceparent: READY,
        traceId: "0af7651916cd43dd8448eb211c80319c",
        set: () => undefined,
        child: tracer.start,
        end(failure = null) {
          span.failure = failure;
        },
      };
    },
    stop: async () => undefined,
  };
  return { spans, tracer };
}

function world({ isTracing = true } = {}) {
  const { spans, tracer } = recorder();
  const report = vi.fn();
  let nowMs = 1_000;
  const traces = createChangeTraces({ tracer: isTracing ? tracer : null, sink: { report }, nowMs: () => nowMs });
  const reported = () => report.mock.lastCall?.[1];
  return { traces, spans, reported, later: (ms: number) => (nowMs += ms) };
}

describe("the trace of a change", () => {
  test("[OP21] the trace of a change has a span for each run, and one from its arrival until the cluster is first ready", () => {
    const { traces, spans, reported, later } = world();
    traces.received({ key: KEY, generation: 2, traceparent: PARENT });
    traces.reconciling("app", subject(2))?.end();
    traces.sink.report("app", subject(2), app("deploying"));
    expect(reported()).toEqual({ ...subject(2), traceparent: PARENT });
    later(5_000);
    traces.reconciling("app", subject(2))?.end();
    traces.sink.report("app", subject(2), app("running"));
    expect(reported()).toEqual({ ...subject(2), traceparent: READY });
    expect(spans.map(({ name, options, failure }) => [name, options?.parent, failure])).toEqual([
      ["reconcile", PARENT, null],
      ["reconcile", PARENT, null],
      ["ready", PARENT, null],
    ]);
    expect(spans[2]?.options).toMatchObject({ startedAtMs: 1_000, attributes: { "binnacle.state": "running" } });
  });

  test("[OP21] the trace of a change ends with its outcome, and later runs belong to no change", () => {
    const { traces, reported } = world();
    traces.received({ key: KEY, generation: 2, traceparent: PARENT });
    traces.sink.report("app", subject(2), app("running"));
    expect(traces.reconciling("app", subject(2))).toBeNull();
    traces.sink.report("app", subject(2), app("degraded"));
    expect(reported()).toEqual(subject(2));
  });

  test.each<[string, Reports["app"] | Reports["project"], string | null]>([
    ["running", app("running"), null],
    ["failed", app("failed"), "The cluster has not reached the desired state."],
    ["degraded", app("degraded", "ImagePullBackOff"), "The cluster has not reached the desired state."],
    ["ready", { state: "ready", message: null }, null],
    ["gone", { state: "gone" }, null],
    [
      "namespace_conflict",
      { state: "namespace_conflict", message: null },
      "The cluster has not reached the desired state.",
    ],
  ])("[OP21] the trace of a change has the outcome %s", (state, report, failure) => {
    const { traces, spans } = world();
    traces.received({ key: KEY, generation: 1, traceparent: PARENT });
    traces.sink.report("app", subject(1), report as Reports["app"]);
    expect(spans).toMatchObject([{ name: "ready", failure, options: { attributes: { "binnacle.state": state } } }]);
  });

  test("[OP21] the trace of a change goes on while the state cannot be read, or the cluster still cleans up", () => {
    const { traces, spans } = world();
    traces.received({ key: KEY, generation: 1, traceparent: PARENT });
    traces.sink.report("app", subject(1), app("degraded", "StateUnknown"));
    traces.sink.report("project", subject(1), { state: "cleaning", message: null });
    expect(spans).toEqual([]);
  });

  test("[OP21] a trace belongs to its generation alone, also when a later one arrives before the outcome", () => {
    const { traces, spans, reported } = world();
    traces.received({ key: KEY, generation: 1, traceparent: PARENT });
    traces.received({ key: KEY, generation: 2 });
    traces.sink.report("app", subject(1), app("running"));
    traces.sink.report("app", subject(2), app("running"));
    expect(traces.reconciling("app", subject(2))).toBeNull();
    expect([spans, reported()]).toEqual([[], subject(2)]);
  });

  test("[OP21] the trace of a change does not begin anew when the hub sends the same generation again", () => {
    const { traces, spans, later } = world();
    traces.received({ key: KEY, generation: 1, traceparent: PARENT });
    later(700);
    traces.received({ key: KEY, generation: 1, traceparent: READY });
    traces.sink.report("app", subject(1), app("running"));
    expect(spans[0]?.options).toMatchObject({ parent: PARENT, startedAtMs: 1_000 });
  });

  test("[OP21] an operator that does not trace passes the trace of a change back to the hub", () => {
    const { traces, reported } = world({ isTracing: false });
    traces.received({ key: KEY, generation: 1, traceparent: PARENT });
    expect(traces.reconciling("app", subject(1))).toBeNull();
    traces.sink.report("app", subject(1), app("running"));
    expect(reported()).toEqual({ ...subject(1), traceparent: PARENT });
  });

  test("[OP24] the trace of a change has at most twenty runs, and at most a thousand changes are followed", () => {
    const { traces, spans } = world();
    for (let index = 0; index <= 1_000; index += 1) {
      traces.received({ key: `app/shop/x${index}`, generation: 1, traceparent: PARENT });
    }
    expect(traces.reconciling("app", subject(1, "app/shop/x0"))).toBeNull();
    for (let run = 0; run < 30; run += 1) traces.reconciling("app", subject(1, "app/shop/x1000"));
    expect(spans).toHaveLength(20);
  });
});

describe("a report", () => {
  let ids = 0;
  const outbox = () => createStatusOutbox(() => `frame ${++ids}`);

  test("[OP25] a report is sent with its trace, and is not sent again because of another trace", () => {
    const box = outbox();
    box.report("app", { ...subject(1), traceparent: PARENT }, app("running"));
    expect(box.next()).toMatchObject({ traceparent: PARENT, key: KEY });
    box.report("app", { ...subject(1), traceparent: READY }, app("running"));
    box.report("app", subject(1), app("running"));
    expect(box.next()).toBeNull();
  });

  test("[OP25] a lost report is sent again with its trace, and a recorded one is sent again without", () => {
    const box = outbox();
    box.report("app", { ...subject(1), traceparent: PARENT }, app("running"));
    box.next();
    box.lost();
    const again = box.next();
    expect(again).toMatchObject({ traceparent: PARENT });
    box.confirmed([again?.id ?? ""]);
    box.resync();
    expect(box.next()).not.toHaveProperty("traceparent");
  });
});
