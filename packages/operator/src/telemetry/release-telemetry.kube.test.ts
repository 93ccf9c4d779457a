import { beforeEach, describe, expect, inject, onTestFinished, test, vi } from "vitest";
import { simulateLog } from "../../../../test/kube/pod-logs.ts";
import { type AddonWorld, addonWorld } from "../addon/addon-world.fixture.ts";
import { HELM } from "../helm/helm-program.fixture.ts";
import type { KubeObject } from "../kube/kube-client.ts";
import { realClock } from "../kube/real-clock.adapter.ts";
import { PODS } from "../kube/resource-types.ts";
import type { SampleEvent } from "../link/ports.ts";
import { componentsIn, releaseComponents } from "./app-components.ts";
import { createLogs } from "./logs.adapter.ts";
import { startSamples } from "./samples.adapter.ts";

const WITHIN = { timeout: 60_000, interval: 200 };
const READY = { phase: "ready" };

/** The component `db` stands for the addon instance of the world, `cache` is a release of its own. */
const appIn = (namespace: string): KubeObject => ({
  apiVersion: "binnacle.dev/v1alpha1",
  kind: "App",
  metadata: { name: "shop", namespace },
  spec: {
    components: [
      { name: "db", type: "addon", addon_instance: "db" },
      { name: "cache", type: "chart", release: {} },
    ],
  },
});

describe.skipIf(!HELM)("components that are releases", { timeout: 180_000 }, () => {
  let world: AddonWorld;
  beforeEach(async () => {
    world = await addonWorld();
    const fallSilent = await writingPods();
    return async () => {
      await fallSilent();
      await world.stop();
    };
  });

  /** Where pods do not write anything by themselves, all of the namespace write the same. */
  async function writingPods() {
    const { client, namespace } = world;
    const isSilent = await client.resourceTypeOf("kwok.x-k8s.io/v1alpha1", "ClusterLogs").then(Boolean, () => false);
    if (!isSilent) return async () => undefined;
    const log = await simulateLog(client, namespace);
    await log.write(["ready"]);
    return () => log.remove();
  }

  /** Sees to the release of the component `cache` as the app's reconciler does. */
  async function install(values: Readonly<Record<string, unknown>>) {
    const { clusterId, namespace, charts, releases } = world;
    const place = { clusterId, projectId: clusterId, namespace, app: "shop", component: "cache", name: "shop-cache" };
    const wanted = { ...place, chart: charts.chart, exportSchema: {}, values };
    const options = { mayHeal: () => false, isSyncing: false, takeOver: false };
    await vi.waitFor(async () => expect((await releases.ensure(wanted, options)).state).toBe("ready"), WITHIN);
  }

  function reading(component: string, follow: boolean) {
    const { client, clusterId, namespace, helmReleases } = world;
    const logs = createLogs({
      kube: client,
      clusterId,
      componentsOf: () => componentsIn(appIn(namespace)),
      releasePods: helmReleases.pods,
      clock: realClock,
      nowMs: Date.now,
      log: { debug: vi.fn(), info: vi.fn(), warn: vi.fn() },
    });
    const request = { name: "logs", namespace, app: "shop", component, tail_lines: 5, since_seconds: null } as const;
    const stop = new AbortController();
    const seen = new Set<string>();
    let hasBegun = false;
    const done = (async () => {
      for await (const item of logs({ ...request, follow }, stop.signal)) {
        hasBegun = true;
        if ("line" in item) seen.add(`${item.component} ${item.pod} ${item.container}`);
      }
    })();
    onTestFinished(async () => {
      stop.abort();
      await done;
    });
    return { seen, done, hasBegun: () => hasBegun };
  }

  async function podsLike(name: RegExp): Promise<string[]> {
    const { items } = await world.client.list(PODS, { namespace: world.namespace });
    return items.flatMap(({ metadata }) => (name.test(metadata.name) ? [metadata.name] : [])).sort();
  }

  test("[TE11] [HE21] a component that is a release shows the log lines of its workloads' pods, and not those of others", async () => {
    await world.tell({ store: true });
    await world.seen(READY);
    await install({ store: true });
    const read = async (component: string) => {
      const stream = reading(component, false);
      await stream.done;
      return [...stream.seen].sort();
    };
    const [db] = await podsLike(/^db-tiny-(?!store)/);
    const [cache] = await podsLike(/^shop-cache-tiny-(?!store)/);
    await vi.waitFor(async () => {
      expect(await read("db")).toEqual([`db ${db} main`, "db db-tiny-store-0 store"]);
      expect(await read("cache")).toEqual([`cache ${cache} main`, "cache shop-cache-tiny-store-0 store"]);
    }, WITHIN);
  });

  test("[TE12] a release is followed from before its installation, over pods that come and go", async () => {
    const stream = reading("cache", true);
    await vi.waitFor(() => expect(stream.hasBegun()).toBe(true), WITHIN);
    await world.tell({});
    await world.seen(READY);
    await install({});
    const [first] = await podsLike(/^shop-cache-tiny-/);
    await vi.waitFor(() => expect([...stream.seen]).toEqual([`cache ${first} main`]), WITHIN);
    await install({ store: true });
    await vi.waitFor(() => expect(stream.seen).toContain("cache shop-cache-tiny-store-0 store"), WITHIN);
    await world.client.delete(PODS, first ?? "", world.namespace);
    const [second] = await vi.waitFor(async () => {
      const pods = (await podsLike(/^shop-cache-tiny-(?!store)/)).filter((name) => name !== first);
      expect(pods).toHaveLength(1);
      return pods;
    }, WITHIN);
    await vi.waitFor(() => expect(stream.seen).toContain(`cache ${second} main`), WITHIN);
    expect([...stream.seen].filter((line) => !line.includes(" shop-cache-"))).toEqual([]);
  });

  test("[TE34] the usage of a component that is a release is that of its pods", async (context) => {
    const { client, clusterId, namespace, helmReleases } = world;
    const services = await client.resourceTypeOf("apiregistration.k8s.io/v1", "APIService");
    if ((await client.get(services, "v1beta1.metrics.k8s.io")) === null) context.skip();
    await world.tell({ store: true });
    await world.seen(READY);
    await install({});
    const samples: SampleEvent[] = [];
    const running = startSamples({
      kube: client,
      clusterId,
      capacity: () => ({ cpu_cores: 4, memory_bytes: 8e9, pods: 110 }),
      releases: () => releaseComponents([appIn(namespace)], helmReleases.pods.known),
      prometheus: { find: async () => null },
      events: { samples: (events) => void samples.push(events) },
      // A minute is a second here.
      clock: { now: () => realClock.now() * 60, after: (ms, callback) => realClock.after(ms / 60, callback) },
      nowMs: Date.now,
      random: () => 0,
      log: { warn: vi.fn() },
    });
    onTestFinished(() => running.stop());
    const inMebibytes = (count: number) => (inject("isSimulated") ? count * 2 ** 20 : expect.any(Number));
    await vi.waitFor(
      () =>
        expect(samples.at(-1)?.components.map(({ component, memory_bytes }) => [component, memory_bytes])).toEqual([
          ["cache", inMebibytes(64)],
          ["db", inMebibytes(128)],
        ]),
      { timeout: 100_000, interval: 500 },
    );
    expect(samples.at(-1)?.components.every((one) => one.namespace === namespace && one.app === "shop")).toBe(true);
  });
});
