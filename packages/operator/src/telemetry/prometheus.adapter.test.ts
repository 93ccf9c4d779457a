import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { ReleasePodsSource } from "../helm/release-pods.ts";
import { releaseOfComponent } from "../helm/revision.ts";
import { type Answerer as ApiAnswerer, type FakeApi, startFakeApi } from "../kube/fake-api.fixture.ts";
import { createMetrics } from "./metrics.adapter.ts";
import { createPrometheus } from "./prometheus.adapter.ts";

let api: FakeApi;
afterEach(() => api?.stop());

const PROXY = "/api/v1/namespaces/monitoring/services/prometheus-k8s:9090/proxy";
const service = (namespace: string) => ({
  metadata: { name: "prometheus-k8s", namespace },
  spec: { ports: [{ name: "web", port: 9090 }] },
});
const listed = (...items: object[]) => [200, { metadata: {}, items }] as const;
const success = (resultType: string, result: object[]) =>
  [200, { status: "success", data: { resultType, result } }] as const;
const MEASURED = success("vector", [{ metric: {}, value: [1, "1"] }]);
const UNMEASURED = success("vector", []);

let nowMs = Date.parse("2026-01-31T09:30:07Z");

interface Found {
  readonly url?: string | null;
  readonly services?: readonly object[];
  readonly answer?: ApiAnswerer;
}

/** Metrics of a cluster whose API server and Prometheus say what a test wants. */
async function metricsOf({ url = null, services = [service("monitoring")], answer }: Found) {
  api = await startFakeApi((asked, response) => {
    if (asked.path.includes("/proxy/") && answer) return answer(asked, response);
    return asked.path.endsWith("/services") ? listed(...services) : [404, {}];
  });
  const log = { info: vi.fn(), warn: vi.fn() };
  const isProjectNamespace = (namespace: string) => namespace === "shop";
  const prometheus = createPrometheus({ kube: api.client, url, isProjectNamespace, nowMs: () => nowMs, log });
  onTestFinished(() => prometheus.close());
  const componentsOf = (namespace: string, app: string) =>
    namespace === "shop" && app === "web"
      ? [
          { name: "front", release: null },
          { name: "back", release: releaseOfComponent("shop", "web", "back") },
          { name: "early", release: releaseOfComponent("shop", "web", "early") },
        ]
      : null;
  const makers = [{ kind: "StatefulSet", name: "web-back-pg", selector: null }];
  const known: ReleasePodsSource["known"] = ({ name }) => (name === "web-back" ? { release: name, makers } : null);
  const metrics = createMetrics({ prometheus, componentsOf, releasePods: { known }, nowMs: () => nowMs });
  return {
    metrics: (app: { namespace: string; name: string } | null = null, range_seconds = 3_600) =>
      metrics({ name: "metrics", app, range_seconds }),
    log,
  };
}

const measuring: ApiAnswerer = ({ path, query }) => {
  if (path === `${PROXY}/api/v1/query`) return MEASURED;
  const component = /"component", "(\w+)"/.exec(query["query"] ?? "")?.[1];
  const isCapacity = query["query"]?.includes("kube_node_status_capacity");
  const metric = component ? { component } : {};
  return success("matrix", isCapacity ? [] : [{ metric, values: [[Number(query["end"]), "2"]] }]);
};

describe("a Prometheus in the cluster", () => {
  test("[TE23] a Prometheus in the cluster is found by its Service and asked through the API server", async () => {
    const { metrics, log } = await metricsOf({ answer: measuring });
    const end = Date.parse("2026-01-31T09:30:00Z") / 1_000;
    expect(await metrics()).toEqual({
      step: "15s",
      series: [
        { name: "cpu_used", unit: "cores", labels: {}, points: [[end, 2]] },
        { name: "memory_used", unit: "bytes", labels: {}, points: [[end, 2]] },
      ],
    });
    expect(log.info).toHaveBeenCalledExactlyOnceWith({ path: PROXY }, expect.any(String));
    const asked = api.asked.find(({ path }) => path === `${PROXY}/api/v1/query_range`);
    expect(asked?.query).toMatchObject({ start: String(end - 3_600), end: String(end), step: "15" });
    const timers = api.asked.length;
    await metrics();
    expect(api.asked.slice(timers).filter(({ path }) => !path.endsWith("/query_range"))).toEqual([]);
  });

  test("[TE20] metrics are returned for an app, its components and the capacity of the cluster", async () => {
    const { metrics } = await metricsOf({ answer: measuring });
    const found = await metrics({ namespace: "shop", name: "web" });
    expect(found?.series.map(({ name, labels }) => [name, labels])).toEqual([
      ["cpu_used", { app: "web" }],
      ["cpu_used", { app: "web", component: "front" }],
      ["memory_used", { app: "web" }],
      ["memory_used", { app: "web", component: "front" }],
    ]);
    await expect(metrics({ namespace: "shop", name: "other" })).rejects.toMatchObject({ code: "not_found" });
  });

  test("[TE27] Prometheus is asked about the pods of releases by the names of what makes them, once that is known", async () => {
    const { metrics } = await metricsOf({ answer: measuring });
    await metrics({ namespace: "shop", name: "web" });
    const asked = api.asked.map(({ query }) => query["query"] ?? "").find((query) => query.includes(`"front"`));
    expect(asked).toContain('pod=~"web-back-pg-[0-9]+"');
    expect(asked).not.toContain("early");
  });

  test("[TE25] Prometheus is not asked about an app that the cluster does not hold", async () => {
    const { metrics } = await metricsOf({ answer: measuring });
    await expect(metrics({ namespace: "shop", name: "other" })).rejects.toMatchObject({ code: "not_found" });
    expect(api.asked).toEqual([]);
  });

  test.each([
    ["there is none", { services: [] }],
    ["it is of a project", { services: [service("shop")], answer: measuring }],
    ["it measures other things", { answer: () => UNMEASURED }],
    ["the operator may not ask it", { answer: () => [403, { kind: "Status", code: 403 }] as const }],
  ])("[TE23] no Prometheus is found where %s", async (_, found) => {
    const { metrics } = await metricsOf(found);
    expect(await metrics()).toBeNull();
    const timers = api.asked.length;
    expect(await metrics()).toBeNull();
    expect(api.asked).toHaveLength(timers);
    nowMs += 121_000;
    expect(await metrics()).toBeNull();
    expect(api.asked.length).toBeGreaterThan(timers);
  });

  test.each<[string, ApiAnswerer, string]>([
    ["has no endpoints", () => [503, { kind: "Status", code: 503, message: "no endpoints available" }], "unavailable"],
    [
      "is interrupted",
      (_, response) => {
        response.destroy();
        return null;
      },
      "unavailable",
    ],
    ["is none", () => [200, { hello: "world" }], "failed"],
    [
      "refuses the question",
      ({ path }) => (path.endsWith("/query") ? MEASURED : [422, { status: "error", error: "too many samples" }]),
      "failed",
    ],
  ])("[TE24] a Prometheus that %s is reported as such", async (_, answer, code) => {
    const { metrics } = await metricsOf({ answer });
    await expect(metrics()).rejects.toMatchObject({ name: "Unanswerable", code });
  });

  test("[TE24] a Prometheus is searched again once it failed", async () => {
    let isBroken = false;
    const { metrics, log } = await metricsOf({
      answer: (asked, response) => (isBroken ? [502, {}] : measuring(asked, response)),
    });
    await metrics();
    isBroken = true;
    await expect(metrics()).rejects.toMatchObject({ code: "unavailable" });
    await expect(metrics()).rejects.toMatchObject({ code: "unavailable" });
    expect(log.warn).toHaveBeenCalledOnce();
    isBroken = false;
    expect(await metrics()).not.toBeNull();
  });
});

describe("a Prometheus that is configured", () => {
  async function serving(answer: () => readonly [number, string]) {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url ?? "");
      const [status, body] = answer();
      response.writeHead(status).end(body);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/prefix` };
  }

  test("[TE23] a configured Prometheus is asked directly, and the cluster's Services are not read", async () => {
    const { asked, url } = await serving(() => [200, JSON.stringify(MEASURED[1])]);
    const { metrics } = await metricsOf({ url });
    expect((await metrics())?.series).toHaveLength(4);
    expect(asked).toHaveLength(5);
    expect(asked[0]).toMatch(/^\/prefix\/api\/v1\/query\?query=count/);
    expect(api.asked).toEqual([]);
  });

  test.each([
    [500, "oops", "unavailable"],
    [200, "<html>", "failed"],
    [400, JSON.stringify({ status: "error", error: "bad query" }), "failed"],
  ])("[TE24] a configured Prometheus that answers %d is reported, without its address", async (status, body, code) => {
    const { url } = await serving(() => [status, body]);
    const { metrics } = await metricsOf({ url });
    const failure = (await metrics().catch((error: unknown) => error)) as Error;
    expect(failure).toMatchObject({ name: "Unanswerable", code });
    expect(failure.message).not.toContain("127.0.0.1");
  });

  test("[TE24] a configured Prometheus that does not answer is unavailable", async () => {
    const { metrics } = await metricsOf({ url: "http://127.0.0.1:9" });
    await expect(metrics()).rejects.toMatchObject({ code: "unavailable", message: "Prometheus does not answer." });
  });
});
