import { randomUUID } from "node:crypto";
import { LABELS } from "@binnacle/contract";
import { afterAll, beforeAll, describe, expect, inject, test, vi } from "vitest";
import { ownLabels } from "../desired/ownership.ts";
import { clusterClient, freshNamespace } from "../kube/cluster.fixture.ts";
import type { KubeClient } from "../kube/kube-client.ts";
import { realClock } from "../kube/real-clock.adapter.ts";
import type { SampleEvent } from "../link/ports.ts";
import { startFacts } from "./facts.adapter.ts";
import { startSamples } from "./samples.adapter.ts";

const clusterId = randomUUID();
const MEBIBYTE = 2 ** 20;
/** Measurements take up to half a minute to appear. */
const WITHIN = { timeout: 100_000, interval: 500 };

let client: KubeClient;
let namespace: Awaited<ReturnType<typeof freshNamespace>>;
beforeAll(async () => {
  client = await clusterClient();
  namespace = await freshNamespace(client);
});
afterAll(async () => {
  await namespace?.remove();
  await client?.close();
});

async function runPod(component: string, name: string, owner: string): Promise<void> {
  const labels = { ...ownLabels(owner), [LABELS.app]: "shop", [LABELS.component]: component };
  const annotations = { "kwok.x-k8s.io/usage-cpu": "250m", "kwok.x-k8s.io/usage-memory": "64Mi" };
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: namespace.name, labels, annotations },
    spec: { terminationGracePeriodSeconds: 0, containers: [{ name: "main", image: "nginx:1" }] },
  };
  await vi.waitFor(() => client.create(pod), WITHIN);
}

describe("on a real cluster", () => {
  test("[TE31] usage is added up by component, of the pods of this cluster's operator alone", async (context) => {
    const services = await client.resourceTypeOf("apiregistration.k8s.io/v1", "APIService");
    if ((await client.get(services, "v1beta1.metrics.k8s.io")) === null) context.skip();
    await runPod("web", "web-1", clusterId);
    await runPod("web", "web-2", clusterId);
    await runPod("db", "db-1", clusterId);
    await runPod("web", "foreign", randomUUID());

    const log = { info: vi.fn(), warn: vi.fn() };
    const facts = await startFacts({ kube: client, clock: realClock, log });
    const seen: SampleEvent[] = [];
    const samples = startSamples({
      kube: client,
      clusterId,
      capacity: () => facts.current().capacity,
      releases: () => [],
      prometheus: { find: async () => null },
      events: { samples: (events) => void seen.push(events) },
      // A minute is a second here.
      clock: { now: () => realClock.now() * 60, after: (ms, callback) => realClock.after(ms / 60, callback) },
      nowMs: Date.now,
      random: () => 0,
      log,
    });
    const isExact = inject("isSimulated");
    const memory = (mebibytes: number) => (isExact ? mebibytes * MEBIBYTE : expect.any(Number));
    await vi.waitFor(() => {
      const { components = [] } = seen.at(-1) ?? {};
      expect(components.map(({ component, memory_bytes }) => [component, memory_bytes])).toEqual([
        ["db", memory(64)],
        ["web", memory(128)],
      ]);
      if (isExact) expect(components[1]?.cpu_cores).toBeCloseTo(0.5, 1);
    }, WITHIN);
    const last = seen.at(-1);
    expect(last?.used?.memory_bytes).toBeGreaterThanOrEqual((isExact ? 192 : 1) * MEBIBYTE);
    expect(last?.capacity.cpu_cores).toBeGreaterThan(0);
    expect(last?.components.every((one) => one.namespace === namespace.name && one.app === "shop")).toBe(true);
    await samples.stop();
    await facts.stop();
    expect(log.warn).not.toHaveBeenCalled();
  }, 120_000);
});
