import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { createKubeClient } from "../../packages/operator/src/kube/client.adapter.ts";
import type { KubeClient } from "../../packages/operator/src/kube/kube-client.ts";
import { kubeAccessFrom } from "../../packages/operator/src/kube/kubeconfig.adapter.ts";
import { type FakeCollector, startFakeCollector } from "../../packages/tracing/src/collector.fixture.ts";
import { deployQuickStart, EVENTUALLY, kubeconfigIn, runWithSandbox, type SandboxRun } from "../world/sandbox-run.ts";
import { dataFolder, isAlive } from "../world/server-process.ts";

const CONNECTED_WITHIN_MS = 10_000;
const RUNNING_WITHIN_MS = 20_000;
/** On a machine that takes long until it serves, that is the measure. */
const OF_A_START = 3;
const LONG = 180_000;
/** Long enough for the second sample of an operator, where the first was taken too early. */
const SAMPLED = { timeout: 100_000, interval: 100 };
const NODE_METRICS = {
  group: "metrics.k8s.io",
  version: "v1beta1",
  plural: "nodes",
  kind: "NodeMetrics",
  namespaced: false,
} as const;

async function withData<T>(work: (path: string) => Promise<T>): Promise<T> {
  const data = await dataFolder();
  try {
    return await work(data.path);
  } finally {
    await data.remove();
  }
}

async function end({ server }: SandboxRun): Promise<void> {
  server.signal("SIGTERM");
  expect(await server.exited, server.printed()).toBe(0);
}

/** As kubectl would with the file that the sandbox writes. */
async function withKube<T>(dataDir: string, work: (kube: KubeClient) => Promise<T>): Promise<T> {
  const kube = createKubeClient(await kubeAccessFrom({ KUBECONFIG: kubeconfigIn(dataDir) }));
  try {
    return await work(kube);
  } finally {
    await kube.close();
  }
}

let data: Awaited<ReturnType<typeof dataFolder>>;
let collector: FakeCollector;
let run: SandboxRun;
let projectId: string;
let startedInMs: number;
let connectedInMs: number;
let runningInMs: number;

const path = (rest = "", query = "") => `/apps/shop/web-app${rest}?project_id=${projectId}${query}`;
const read = async () => (await run.admin.get(path())).body;
const isRunning = () =>
  vi.waitFor(async () => {
    const { phase, drift } = await read();
    expect({ phase, drift: drift.state }).toEqual({ phase: "running", drift: "in_sync" });
  }, EVENTUALLY);
const podNames = () =>
  withKube(data.path, async (kube) => {
    const { items } = await kube.list(await kube.resourceTypeOf("v1", "Pod"), { namespace: "shop" });
    return items.map(({ metadata }) => metadata.name).sort();
  });
/** Returns the points of the series of used cores at the address, oldest first. */
async function coresUsed(at: string): Promise<number[]> {
  const { body } = await run.admin.get(at);
  const series = body.series?.find(({ name }: { name: string }) => name === "cpu_used");
  return series?.points.map(([, value]: [number, number]) => value) ?? [];
}

beforeAll(async () => {
  data = await dataFolder();
  collector = await startFakeCollector();
  run = await runWithSandbox(data.path, {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_SERVICE_NAME: "laptop",
    OTEL_BSP_SCHEDULE_DELAY: "100",
  });
  startedInMs = run.server.startedInMs;
  connectedInMs = await run.connected();
  const postedAt = performance.now();
  projectId = await deployQuickStart(run, "shop");
  await isRunning();
  runningInMs = performance.now() - postedAt;
}, LONG);
afterAll(async () => {
  await end(run);
  await data.remove();
  await collector.stop();
});

describe("the sandbox", { timeout: LONG }, () => {
  test("[OP29] [OP31] the server's log says when the sandbox connects and when a deployment on it has succeeded", async () => {
    const { id } = (await run.cluster()) ?? {};
    const logged = () =>
      run.server
        .printed()
        .split("\n")
        .filter((line) => line.startsWith("{"))
        .map((line) => JSON.parse(line));
    await vi.waitFor(() => {
      expect(logged()).toContainEqual(
        expect.objectContaining({ msg: "an operator has connected", cluster_id: id, cluster: "sandbox" }),
      );
      expect(logged()).toContainEqual(
        expect.objectContaining({ msg: "a deployment has succeeded", cluster_id: id, app: "web-app", revision: 1 }),
      );
    }, EVENTUALLY);
  });

  test("[ST5] the server prints its address first, and the state of the sandbox once it is connected", async () => {
    await vi.waitFor(() => expect(run.server.printed()).toContain("Sandbox:"), EVENTUALLY);
    expect(run.server.printed()).toMatch(/is serving at [\s\S]*API docs: [\s\S]*Sandbox: +connected/);
  });

  test("[OP21] the sandbox's operator continues the traces of the control plane, under a name of its own", async () => {
    const of = (service: string, name: string) =>
      collector.spans.filter((span) => span.name === name && span.resource["service.name"] === service);
    await vi.waitFor(() => {
      const delivered = of("laptop", "deliver").map(({ traceId }) => traceId);
      const ready = of("binnacle-operator", "ready").map(({ traceId }) => traceId);
      // The app and its project, at least.
      expect(new Set(ready.filter((traceId) => delivered.includes(traceId))).size).toBeGreaterThanOrEqual(2);
    }, EVENTUALLY);
  });

  test("[SB6] the sandbox is left out where BINNACLE_SANDBOX is off", () =>
    withData(async (path) => {
      const run = await runWithSandbox(path, { BINNACLE_SANDBOX: "off" });
      expect(await run.cluster()).toBeUndefined();
      expect(run.processes()).toEqual([]);
      await end(run);
    }));

  test("[SB7] the sandbox and its operator end with the server, whether the server is stopped or killed", () =>
    withData(async (path) => {
      for (const signal of ["SIGKILL", "SIGTERM"] as const) {
        const run = await runWithSandbox(path);
        await vi.waitFor(() => expect(run.processes()).toHaveLength(2), EVENTUALLY);
        const processes = run.processes();
        run.server.signal(signal);
        await run.server.exited;
        await vi.waitFor(() => expect(processes.filter(isAlive)).toEqual([]), EVENTUALLY);
      }
    }));

  test("[SB8] the sandbox does not come back when somebody has deleted its cluster", () =>
    withData(async (path) => {
      const first = await runWithSandbox(path);
      await first.connected();
      const id = (await first.cluster())?.id;
      expect((await first.admin.delete(`/clusters/${id}`)).status).toBe(204);
      await end(first);
      const second = await runWithSandbox(path);
      expect(await second.cluster()).toBeUndefined();
      expect(second.processes()).toEqual([]);
      await end(second);
    }));
});

describe("an app of the first session", { timeout: LONG }, () => {
  test("[SB1] the sandbox cluster says that it is simulated, and is connected within 10 s of the start", async () => {
    expect(connectedInMs).toBeLessThan(Math.max(CONNECTED_WITHIN_MS, OF_A_START * startedInMs));
    expect(await run.cluster()).toMatchObject({ name: "sandbox", description: expect.stringMatching(/simulated/i) });
  });

  test("[SB2] an app on the sandbox runs within 20 s, with logs that stream", async () => {
    expect(runningInMs).toBeLessThan(Math.max(RUNNING_WITHIN_MS, OF_A_START * startedInMs));
    expect((await read()).components).toMatchObject([{ name: "web", ready_replicas: 2 }]);
    const lines = await run.admin.follow(path("/logs", "&tail_lines=0"));
    expect(await lines.next()).toMatchObject({ event: "log", data: { component: "web", line: expect.any(String) } });
    expect(await lines.next()).toMatchObject({
      event: "log",
      data: { pod: expect.stringContaining("web-app-web-") },
    });
    lines.leave();
  });

  test("[SB4] an app on the sandbox is healed where somebody edits it through the sandbox's own API, and an event says so", async () => {
    await isRunning();
    const events = await run.admin.follow(`/events/stream?project_id=${projectId}`);
    await withKube(data.path, async (kube) => {
      const type = await kube.resourceTypeOf("apps/v1", "Deployment");
      const patch = [{ op: "replace", path: "/spec/template/spec/containers/0/image", value: "evil:1" }];
      await kube.patch(type, "web-app-web", "shop", patch, { kind: "json", fieldManager: "kubectl-edit" });
      const { data: drift } = await events.until(({ event }) => event === "drift");
      expect(JSON.stringify(drift)).toContain("/spec/template/spec/containers");
      await vi.waitFor(async () => {
        expect(JSON.stringify(await kube.get(type, "web-app-web", "shop"))).not.toContain("evil:1");
      }, EVENTUALLY);
    });
    events.leave();
    await isRunning();
  });

  test("[SB5] an app on the sandbox is still there after a restart, with its cluster and its pods", async () => {
    await vi.waitFor(async () => expect(await podNames()).toHaveLength(2), EVENTUALLY);
    const pods = await podNames();
    const id = (await run.cluster())?.id;
    await end(run);
    run = await runWithSandbox(data.path);
    await run.connected();
    expect(await run.cluster()).toMatchObject({ id });
    expect(await podNames()).toEqual(pods);
    await isRunning();
    expect(await read()).toMatchObject({ generation: 1, revision: 1 });
  });

  test("[SB3] an app and the sandbox cluster report what they use, and the usage moves", async () => {
    const id = (await run.cluster())?.id;
    // The operator takes a sample within ten seconds of each start, and then every minute.
    await vi.waitFor(async () => {
      expect(Math.max(...(await coresUsed(`/clusters/${id}/metrics`)))).toBeGreaterThan(0);
      expect(Math.max(...(await coresUsed(path("/metrics"))))).toBeGreaterThan(0);
    }, SAMPLED);
    await withKube(data.path, async (kube) => {
      const usage = async () => (await kube.list(NODE_METRICS)).items.map((node) => node["usage"]);
      const before = await usage();
      await vi.waitFor(async () => expect(await usage()).not.toEqual(before), EVENTUALLY);
    });
  });
});
