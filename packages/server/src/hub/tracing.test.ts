import type { HubFrames } from "@binnacle/contract";
import { openTracer, type Tracer } from "@binnacle/tracing";
import { type FakeCollector, startFakeCollector } from "@binnacle/tracing/fixture";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { dispatchResources, reissueResources } from "../dispatch/dispatch.store.ts";
import { DISPATCH_TOPIC } from "../dispatch/dispatch.ts";
import { newId } from "../id.adapter.ts";
import { SOON } from "../jobs/jobs.fixture.ts";
import { type HubWorld, hubWorld, type RunningHub } from "./hub.fixture.ts";
import { hashOf, type TestOperator } from "./operator.fixture.ts";
import { createReportSink } from "./reports.store.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";
const CHANGE = `00-${TRACE}-${SPAN}-01`;
const KEY = "app/shop/web";

let world: HubWorld;
let collector: FakeCollector;
let tracer: Tracer;
let hub: RunningHub;
let cluster: { readonly id: string; readonly token: string };
beforeAll(async () => {
  world = await hubWorld();
});
afterAll(() => world?.close());
beforeEach(async () => {
  collector = await startFakeCollector();
  tracer = (await openTracer({ endpoint: collector.url, service: "hub", version: null, log: world.log })) as Tracer;
  hub = await world.start({ tracer, sweepMs: 50 });
  cluster = await world.cluster();
});
afterEach(async () => {
  await hub.stop();
  await tracer.stop();
  await collector.stop();
});

async function change(traceparent: string | null, resourceId = newId(), isRemoved = false): Promise<string> {
  const resource = { kind: "app", resourceId, key: KEY, isRemoved } as const;
  await world.db
    .transaction()
    .execute((tx) => dispatchResources(tx, cluster.id, [resource], world.clock.now(), traceparent));
  world.bus.publish(DISPATCH_TOPIC, { cluster_id: cluster.id });
  return resourceId;
}

async function connected(): Promise<TestOperator> {
  const operator = hub.connect(cluster.token);
  await operator.greet();
  return operator;
}

const rowOf = () =>
  world.db.selectFrom("desired_resources").selectAll().where("cluster_id", "=", cluster.id).executeTakeFirstOrThrow();

/** The spans that have ended until now. */
async function deliveries() {
  await tracer.stop();
  return collector.spans.filter(({ name }) => name === "deliver");
}

test("[OP21] a delivery is a span in the trace of its change, until the operator confirms it", async () => {
  const operator = await connected();
  const resourceId = await change(CHANGE);
  const frame = await operator.next("apply");
  operator.ack(frame);
  await vi.waitUntil(async () => (await rowOf()).acked_generation === 1, SOON);
  const [span, ...others] = await deliveries();
  expect(others).toEqual([]);
  expect(span).toMatchObject({
    traceId: TRACE,
    parentSpanId: SPAN,
    status: { code: 0 },
    attributes: {
      "binnacle.cluster_id": cluster.id,
      "binnacle.kind": "app",
      "binnacle.resource_id": resourceId,
      "binnacle.generation": 1,
    },
  });
  expect(frame.traceparent).toBe(`00-${TRACE}-${span?.spanId}-01`);
});

test("[OP21] a removal carries its trace too, and a refusal by the operator is a span that failed", async () => {
  const operator = await connected();
  await change(CHANGE, newId(), true);
  const frame = await operator.next("remove");
  expect(frame.traceparent).toContain(TRACE);
  operator.nack(frame, "unable", "hush");
  await vi.waitUntil(() => operator.all("remove").length > 1, SOON);
  operator.ack(operator.all("remove").at(-1) as HubFrames["remove"]);
  await vi.waitUntil(async () => (await rowOf()).acked_generation === 1, SOON);
  expect((await deliveries())[0]?.status).toEqual({ code: 2, message: "The operator has refused it: unable." });
  expect(collector.texts.join()).not.toContain("hush");
});

test("[OP21] a delivery whose session ends is a span that failed, and the next session delivers in the same trace", async () => {
  const operator = await connected();
  await change(CHANGE);
  await operator.next("apply");
  await operator.leave();
  const again = await connected();
  again.ack(await again.next("apply"));
  await vi.waitUntil(async () => (await rowOf()).acked_generation === 1, SOON);
  const spans = await deliveries();
  expect(spans.map(({ traceId, status }) => [traceId, status.message])).toEqual([
    [TRACE, "The session of the operator has ended."],
    [TRACE, undefined],
  ]);
});

test("[OP21] a hub that does not trace passes the trace of the change on", async () => {
  await hub.stop();
  hub = await world.start();
  const operator = await connected();
  await change(CHANGE);
  expect((await operator.next("apply")).traceparent).toBe(CHANGE);
});

test("[OP25] the trace of a change is not part of its content, and is deleted once the change is confirmed", async () => {
  const operator = await connected();
  const resourceId = await change(CHANGE);
  const first = await operator.next("apply");
  expect(first.hash).toBe(hashOf(first.body));
  expect(JSON.stringify(first.body)).not.toContain(TRACE);
  operator.ack(first);
  await vi.waitUntil(async () => (await rowOf()).acked_generation === 1, SOON);
  expect((await rowOf()).traceparent).toBeNull();
  await change(null, resourceId);
  const second = await operator.next("apply", ({ generation }) => generation === 2);
  expect(second).not.toHaveProperty("traceparent");
  operator.ack(second);
  await vi.waitUntil(async () => (await rowOf()).acked_generation === 2, SOON);
  expect(operator.all("apply").map(({ generation }) => generation)).toEqual([1, 2]);
});

test("[OP25] a resource that is issued again after a restore has no trace, and an untraced change ends an earlier trace", async () => {
  const resourceId = await change(CHANGE);
  expect(await rowOf()).toMatchObject({ traceparent: CHANGE, generation: 1 });
  await reissueResources(world.db, [], cluster.id, [{ kind: "app", resourceId, above: 7 }], world.clock.now());
  expect(await rowOf()).toMatchObject({ traceparent: null, generation: 8 });
  await change(CHANGE, resourceId);
  await change(null, resourceId);
  expect(await rowOf()).toMatchObject({ traceparent: null, generation: 10 });
});

test("[OP21] storing a report is a span of the trace that the report names", async () => {
  const { db, bus, clock } = world;
  const sink = createReportSink({ db, bus, clock: clock.now, kinds: [], tracer });
  const status = { type: "status", id: newId(), session: newId(), key: KEY, generation: 3 } as const;
  const report = { state: "gone" } as const;
  const resource_id = newId();
  await sink.storeStatuses({ clusterId: cluster.id, hubId: "h", epoch: 1 }, [
    { ...status, resource_id, report, traceparent: CHANGE },
    { ...status, resource_id: newId(), report },
  ]);
  await tracer.stop();
  expect(
    collector.spans.map(({ name, traceId, parentSpanId, attributes }) => [name, traceId, parentSpanId, attributes]),
  ).toEqual([
    [
      "store report",
      TRACE,
      SPAN,
      { "binnacle.cluster_id": cluster.id, "binnacle.resource_id": resource_id, "binnacle.generation": 3 },
    ],
  ]);
});
