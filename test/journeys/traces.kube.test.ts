import { afterAll, beforeAll, expect, test, vi } from "vitest";
import {
  type FakeCollector,
  type ReceivedSpan,
  startFakeCollector,
} from "../../packages/tracing/src/collector.fixture.ts";
import { openStage, type RegisteredCluster, SOON, type Stage } from "./stage.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";

let collector: FakeCollector;
let stage: Stage;
let cluster: RegisteredCluster;
beforeAll(async () => {
  collector = await startFakeCollector();
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: "100" };
  stage = await openStage(env);
  cluster = await stage.register();
  await stage.connect(cluster, env);
});
afterAll(async () => {
  await stage?.close();
  await collector?.stop();
});

test("[OP21] the creation of an app is one trace from the request to the running app, across server and operator", async () => {
  const project = await stage.readyProject(cluster.id);
  const web = { name: "web", workload_spec: { image: "nginx:1.29", ports: [{ name: "http", port: 80 }] } };
  const api = stage.admin.with({ traceparent: `00-${TRACE}-${SPAN}-01` });
  const made = await api.post("/apps", { name: "shop", project_id: project.id, components: [web] });
  expect(made.status, JSON.stringify(made.body)).toBe(201);

  const trace = () => collector.spans.filter(({ traceId }) => traceId === TRACE);
  const find = (name: string, isIt: (span: ReceivedSpan) => boolean = () => true) =>
    trace().find((span) => span.name === name && isIt(span));
  // The report of the running app is stored last, and its span is sent by the server.
  const ready = await vi.waitUntil(() => find("ready"), SOON);
  const stored = await vi.waitUntil(
    () => find("store report", ({ parentSpanId }) => parentSpanId === ready.spanId),
    SOON,
  );

  const request = find("POST /api/v1/apps");
  const transaction = find("transaction");
  const deliver = find("deliver");
  expect(request).toMatchObject({ parentSpanId: SPAN, attributes: { "http.response.status_code": 201 } });
  expect(transaction).toMatchObject({ parentSpanId: request?.spanId });
  expect(deliver).toMatchObject({ parentSpanId: transaction?.spanId, attributes: { "binnacle.kind": "app" } });
  expect(find("reconcile")).toMatchObject({ parentSpanId: deliver?.spanId });
  expect(ready).toMatchObject({
    parentSpanId: deliver?.spanId,
    status: { code: 0 },
    attributes: { "binnacle.key": `app/${project.namespace}/shop`, "binnacle.state": "running" },
  });
  const services = [request, transaction, deliver, stored].map((span) => span?.resource["service.name"]);
  expect(new Set(services)).toEqual(new Set(["binnacle"]));
  expect(ready.resource).toMatchObject({ "service.name": "binnacle-operator", "binnacle.cluster_id": cluster.id });
  expect(find("reconcile")?.resource).toMatchObject({ "service.name": "binnacle-operator" });

  // Of the five spans that a person looks for, none ends before it begins, and each begins after its cause.
  for (const span of trace()) {
    expect(BigInt(span.endTimeUnixNano), span.name).toBeGreaterThanOrEqual(BigInt(span.startTimeUnixNano));
    expect(BigInt(span.startTimeUnixNano), span.name).toBeGreaterThanOrEqual(BigInt(request?.startTimeUnixNano ?? 0));
  }
});
