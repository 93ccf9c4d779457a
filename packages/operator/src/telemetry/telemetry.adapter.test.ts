import { afterEach, expect, test, vi } from "vitest";
import type { ReleasePodsSource } from "../helm/release-pods.ts";
import { type FakeApi, startFakeApi } from "../kube/fake-api.fixture.ts";
import type { KubeObject } from "../kube/kube-client.ts";
import { realClock } from "../kube/real-clock.adapter.ts";
import { FACTS } from "../link/link.fixture.ts";
import { createEventOutbox } from "../link/outbox.ts";
import { startTelemetry } from "./telemetry.adapter.ts";

let api: FakeApi;
afterEach(() => api?.stop());

const METRICS = "/apis/metrics.k8s.io/v1beta1";
const VALKEY = {
  metadata: { name: "valkey", namespace: "shop" },
  containers: [{ name: "valkey", usage: { cpu: "1", memory: "1Ki" } }],
};

/** A cluster with one app in one project, and a builder. */
async function started() {
  const build = (namespace: string) => ({
    metadata: { name: "web-1", namespace, uid: namespace, resourceVersion: "1", creationTimestamp: new Date() },
  });
  api = await startFakeApi(({ path, query }, response) => {
    if (query["watch"]) {
      response.flushHeaders();
      return null;
    }
    if (path === "/apis/kpack.io/v1alpha2") {
      return [200, { resources: [{ name: "builds", kind: "Build", namespaced: true }] }];
    }
    if (path.endsWith("/builds")) return [200, { metadata: {}, items: [build("elsewhere"), build("shop")] }];
    if (path === `${METRICS}/nodes`) return [200, { metadata: {}, items: [] }];
    if (path === `${METRICS}/namespaces/shop/pods`) return [200, { metadata: {}, items: [VALKEY] }];
    if (path.endsWith("/pods") || path.endsWith("/services")) return [200, { metadata: {}, items: [] }];
    return [404, { kind: "Status", code: 404 }];
  });
  const app: KubeObject = {
    apiVersion: "binnacle.dev/v1alpha1",
    kind: "App",
    metadata: { name: "web", namespace: "shop" },
    spec: { components: [{ name: "front" }, { name: "cache", release: {} }] },
  };
  const holders = new Map<string, KubeObject>([
    ["project/shop", app],
    ["app/shop/web", app],
  ]);
  const events = createEventOutbox();
  const makers = [{ kind: "Pod", name: "valkey", selector: null }];
  const known = vi.fn<ReleasePodsSource["known"]>(() => ({ release: "web-cache", makers }));
  const releasePods = { known, read: vi.fn<ReleasePodsSource["read"]>(async (id) => known(id)) };
  const telemetry = startTelemetry({
    kube: api.client,
    clusterId: "0190e5e0-0000-7000-8000-0000000000c1",
    prometheusUrl: null,
    view: {
      get: () => null,
      holder: (_, key) => holders.get(key) ?? null,
      list: () => [{ key: "app/shop/web" }] as never,
    },
    helmReleases: { objects: async () => [] },
    pods: { in: () => [] },
    releasePods,
    facts: { current: () => FACTS },
    events,
    clock: realClock,
    nowMs: Date.now,
    random: () => 0,
    log: { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() },
  });
  return { telemetry, events, releasePods };
}

test("[TE25] [TE11] an app is known by the desired state of the cluster", async () => {
  const { telemetry, releasePods } = await started();
  const ask = (name: string) =>
    telemetry.answerer.metrics({ name: "metrics", app: { namespace: "shop", name }, range_seconds: 60 });
  expect(await ask("web")).toBeNull();
  await expect(ask("other")).rejects.toMatchObject({ code: "not_found" });
  const read = async (component: string) => {
    const stream = { namespace: "shop", app: "web", component, tail_lines: 1, since_seconds: null, follow: false };
    const items: unknown[] = [];
    const logs = telemetry.answerer.logs({ name: "logs", ...stream }, new AbortController().signal);
    for await (const item of logs) items.push(item);
    return items;
  };
  expect(await read("front")).toEqual([{ dropped: 0 }]);
  expect(await read("cache")).toEqual([{ dropped: 0 }]);
  const cache = { namespace: "shop", name: "web-cache", owner: "app.web.cache" };
  expect(releasePods.read).toHaveBeenCalledExactlyOnceWith(cache);
  await expect(read("back")).rejects.toMatchObject({ code: "not_found" });
  await telemetry.stop();
});

test("[TE40] [TE34] builds of projects alone and a first sample are sent without a request", async () => {
  const { telemetry, events } = await started();
  const sentFrames: unknown[] = [];
  const next = () => {
    const frame = events.next();
    if (frame) sentFrames.push(frame);
    return sentFrames;
  };
  await vi.waitFor(() => expect(next()).toHaveLength(2), { timeout: 10_000, interval: 20 });
  expect(sentFrames).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        type: "samples",
        components: [{ namespace: "shop", app: "web", component: "cache", cpu_cores: 1, memory_bytes: 1_024 }],
      }),
      expect.objectContaining({ type: "build", namespace: "shop", source: "kpack", state: "pending" }),
    ]),
  );
  await telemetry.stop();
});
