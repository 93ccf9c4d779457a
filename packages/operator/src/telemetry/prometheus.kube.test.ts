import { afterAll, beforeAll, describe, expect, inject, test, vi } from "vitest";
import { releaseOfComponent } from "../helm/revision.ts";
import { clusterClient, freshNamespace } from "../kube/cluster.fixture.ts";
import type { KubeClient } from "../kube/kube-client.ts";
import { PODS } from "../kube/resource-types.ts";
import { createMetrics } from "./metrics.adapter.ts";
import { createPrometheus } from "./prometheus.adapter.ts";
import { hasPrometheus, outerAddress, type Recorded, startRealPrometheus } from "./prometheus.fixture.ts";

const isThere = await hasPrometheus();
if (!isThere) {
  process.stderr.write(
    "\n*** METRICS ARE NOT TESTED: there is no Prometheus. Install the package `prometheus` of the distribution.\n\n",
  );
}
const address = outerAddress();
const MEBIBYTE = 2 ** 20;
const WITHIN = { timeout: 30_000, interval: 200 };

const container = (namespace: string, pod: string, name: string, cores: number, mebibytes: number): Recorded[] => {
  const labels = { namespace, pod, container: name, job: "kubelet" };
  return [
    { name: "container_cpu_usage_seconds", type: "counter", labels, value: (seconds) => cores * seconds },
    { name: "container_memory_working_set_bytes", type: "gauge", labels, value: () => mebibytes * MEBIBYTE },
  ];
};
const capacity = (node: string, resource: string, amount: number, replica: string): Recorded => ({
  name: "kube_node_status_capacity",
  type: "gauge",
  labels: { node, resource, instance: replica },
  value: () => amount,
});

const RECORDED: readonly Recorded[] = [
  ...container("shop-ns", "shop-web-678b5988b9-jnhp8", "web", 0.25, 64),
  ...container("shop-ns", "shop-web-678b5988b9-swd4g", "web", 0.5, 32),
  // The sum of a pod, and the container of its network, count for nothing.
  ...container("shop-ns", "shop-web-678b5988b9-swd4g", "", 0.5, 32),
  ...container("shop-ns", "shop-web-678b5988b9-swd4g", "POD", 0.1, 1),
  ...container("shop-ns", "shop-db-0", "db", 1, 256),
  ...container("shop-ns", "shop-web-api-0", "web", 4, 999),
  ...container("shop-ns", "shop-cache-valkey-0", "valkey", 0.125, 16),
  ...container("shop-ns", "shop-cache-exporter-678b5988b9-jnhp8", "exporter", 0.125, 16),
  ...container("other-ns", "shop-db-0", "db", 4, 999),
  // Two replicas of kube-state-metrics say the same.
  capacity("n1", "cpu", 4, "a"),
  capacity("n1", "cpu", 4, "b"),
  capacity("n2", "cpu", 8, "a"),
];

/**
 * A Service whose only pod, which no node runs, has the address of this machine: to an address that is not a pod's the API
 * server forwards nothing.
 */
async function serve(kube: KubeClient, namespace: string, port: number): Promise<void> {
  const name = "prometheus-k8s";
  const metadata = { name, namespace, labels: { "app.kubernetes.io/name": "prometheus" } };
  const ports = [{ name: "web", port }];
  const containers = [{ name: "prometheus", image: "prom/prometheus" }];
  const spec = { schedulerName: "nobody", containers };
  await vi.waitFor(() => kube.create({ apiVersion: "v1", kind: "Pod", metadata, spec }), WITHIN);
  await kube.patchStatus(PODS, name, namespace, { phase: "Running", podIP: address, podIPs: [{ ip: address }] });
  await kube.create({ apiVersion: "v1", kind: "Service", metadata, spec: { ports } });
  const targetRef = { kind: "Pod", namespace, name };
  const subsets = [{ addresses: [{ ip: address, targetRef }], ports }];
  await kube.create({ apiVersion: "v1", kind: "Endpoints", metadata, subsets });
}

describe.skipIf(!isThere)("a real Prometheus", () => {
  const nowMs = Date.now();
  let server: Awaited<ReturnType<typeof startRealPrometheus>>;
  let kube: KubeClient;
  beforeAll(async () => {
    kube = await clusterClient();
    server = await startRealPrometheus(address ?? "127.0.0.1", RECORDED, nowMs);
  });
  afterAll(async () => {
    await server?.stop();
    await kube?.close();
  });

  function metricsFrom(url: string | null) {
    const prometheus = createPrometheus({
      kube,
      url,
      isProjectNamespace: () => false,
      nowMs: () => nowMs,
      log: { info: vi.fn(), warn: vi.fn() },
    });
    const release = releaseOfComponent("shop-ns", "shop", "cache");
    const makers = [
      { kind: "StatefulSet", name: "shop-cache-valkey", selector: null },
      { kind: "Deployment", name: "shop-cache-exporter", selector: null },
    ];
    const metrics = createMetrics({
      prometheus,
      componentsOf: () => [
        ...["db", "idle", "web"].map((name) => ({ name, release: null })),
        { name: "cache", release },
      ],
      releasePods: { known: ({ name }) => (name === release.name ? { release: name, makers } : null) },
      nowMs: () => nowMs,
    });
    return { metrics, close: prometheus.close };
  }

  /** The last value of each series, to a thousandth. */
  const lastOf = (series: readonly { name: string; labels: object; points: number[][] }[]) =>
    series.map(({ name, labels, points }) => [
      name,
      Object.values(labels).join("/"),
      Math.round((points.at(-1)?.[1] ?? 0) * 1_000) / 1_000,
    ]);

  test("[TE26] [TE27] a real Prometheus returns the usage of an app and its components, including releases", async () => {
    const { metrics, close } = metricsFrom(server.url);
    const app = { namespace: "shop-ns", name: "shop" };
    const found = await metrics({ name: "metrics", app, range_seconds: 3_600 });
    expect(found?.step).toBe("15s");
    expect(lastOf(found?.series ?? [])).toEqual([
      ["cpu_used", "shop", 2],
      ["cpu_used", "shop/cache", 0.25],
      ["cpu_used", "shop/db", 1],
      ["cpu_used", "shop/web", 0.75],
      ["memory_used", "shop", 384 * MEBIBYTE],
      ["memory_used", "shop/cache", 32 * MEBIBYTE],
      ["memory_used", "shop/db", 256 * MEBIBYTE],
      ["memory_used", "shop/web", 96 * MEBIBYTE],
      ["cpu_capacity", "", 12],
    ]);
    const [first] = found?.series ?? [];
    expect(first?.points).toHaveLength(241);
    expect(first?.points.every(([, value]) => Math.abs((value ?? 0) - 2) < 0.01)).toBe(true);
    await close();
  });

  test("[TE26] a real Prometheus returns the measured usage of the cluster", async () => {
    const { metrics, close } = metricsFrom(server.url);
    const found = await metrics({ name: "metrics", app: null, range_seconds: 60 });
    expect(lastOf(found?.series ?? [])).toEqual([
      ["cpu_used", "", 10],
      ["memory_used", "", (64 + 32 + 256 + 999 + 999 + 16 + 16) * MEBIBYTE],
      ["cpu_capacity", "", 12],
    ]);
    await close();
  });

  test.skipIf(address === null || !inject("isSimulated"))(
    "[TE23] a real Prometheus is found in a real cluster, and asked through its API server",
    async () => {
      const namespace = await freshNamespace(kube);
      await serve(kube, namespace.name, server.port);
      const { metrics, close } = metricsFrom(null);
      // Kubernetes takes a moment to know the way.
      const found = await vi.waitFor(() => metrics({ name: "metrics", app: null, range_seconds: 3_600 }), WITHIN);
      expect(found?.series.map(({ name }) => name)).toEqual(["cpu_used", "memory_used", "cpu_capacity"]);
      await close();
      await namespace.remove();
    },
  );
});
