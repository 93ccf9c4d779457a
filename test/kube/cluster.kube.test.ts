import { afterAll, beforeAll, describe, expect, inject, test, vi } from "vitest";
import { parseQuantity } from "../../packages/contract/src/index.ts";
import { clusterClient, freshNamespace } from "../../packages/operator/src/kube/cluster.fixture.ts";
import type { KubeClient, KubeObject } from "../../packages/operator/src/kube/kube-client.ts";
import { simulateLog } from "./pod-logs.ts";
import type {} from "./setup.ts";

const WITHIN = { timeout: 30_000, interval: 200 };

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

/** The status of a pod of this name once it is as expected. */
async function statusOf(name: string, expected: object): Promise<void> {
  const pods = await client.resourceTypeOf("v1", "Pod");
  await vi.waitFor(
    async () => expect(await client.get(pods, name, namespace.name)).toMatchObject({ status: expected }),
    WITHIN,
  );
}

interface Measured {
  readonly containers: readonly { readonly usage: { readonly memory: string } }[];
}

const containers = [{ name: "main", image: "nginx" }];

async function runPod(name: string, annotations: Record<string, string> = {}, spec: object = {}): Promise<void> {
  const metadata = { name, namespace: namespace.name, annotations };
  const pod: KubeObject = { apiVersion: "v1", kind: "Pod", metadata, spec: { containers, ...spec } };
  await vi.waitFor(() => client.create(pod), WITHIN);
}

describe.skipIf(!inject("isSimulated"))("in the cluster of the tests", () => {
  test("[KU52] a deployment becomes available in the simulated cluster", async () => {
    const labels = { app: "web" };
    const template = { metadata: { labels }, spec: { containers } };
    const metadata = { name: "web", namespace: namespace.name };
    await client.apply({
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata,
      spec: { replicas: 2, selector: { matchLabels: labels }, template },
    });
    const type = await client.resourceTypeOf("apps/v1", "Deployment");
    const available = { status: { replicas: 2, availableReplicas: 2 } };
    await vi.waitFor(
      async () => expect(await client.get(type, "web", namespace.name)).toMatchObject(available),
      WITHIN,
    );
  });

  test.each([
    [
      "crash",
      {
        containerStatuses: [
          {
            state: { waiting: { reason: "CrashLoopBackOff" } },
            lastState: { terminated: { reason: "Error", exitCode: 1 } },
          },
        ],
      },
    ],
    [
      "oom",
      {
        containerStatuses: [
          {
            state: { waiting: { reason: "CrashLoopBackOff" } },
            lastState: { terminated: { reason: "OOMKilled", exitCode: 137 } },
          },
        ],
      },
    ],
    ["image", { phase: "Pending", containerStatuses: [{ state: { waiting: { reason: "ImagePullBackOff" } } }] }],
    ["unready", { phase: "Running", containerStatuses: [{ ready: false, state: { running: {} } }] }],
    ["fail", { phase: "Failed", containerStatuses: [{ state: { terminated: { exitCode: 1 } } }] }],
  ])("[KU52] a pod with the annotated fate %s gets the status of that fate", async (fate, expected) => {
    await runPod(fate, { "test.binnacle.dev/fate": fate });
    await statusOf(fate, expected);
  });

  test("[KU52] a pod that fails causes a warning event", async () => {
    await runPod("told", { "test.binnacle.dev/fate": "crash" });
    const events = await client.resourceTypeOf("v1", "Event");
    const about = { namespace: namespace.name, fieldSelector: "involvedObject.name=told,type=Warning" };
    await vi.waitFor(
      async () => expect((await client.list(events, about)).items).toMatchObject([{ reason: "BackOff" }]),
      WITHIN,
    );
  });

  test("[KU52] a pod becomes ready only after the delay that its annotation names", async () => {
    await runPod("late", { "test.binnacle.dev/ready-after": "2s" });
    const pods = await client.resourceTypeOf("v1", "Pod");
    expect(await client.get(pods, "late", namespace.name)).toMatchObject({ status: { phase: "Pending" } });
    await statusOf("late", { phase: "Running" });
  });

  test("[KU52] a job completes in the simulated cluster", async () => {
    const metadata = { name: "once", namespace: namespace.name };
    await client.apply({
      apiVersion: "batch/v1",
      kind: "Job",
      metadata,
      spec: { template: { spec: { containers, restartPolicy: "Never" } } },
    });
    const jobs = await client.resourceTypeOf("batch/v1", "Job");
    await vi.waitFor(
      async () => expect(await client.get(jobs, "once", namespace.name)).toMatchObject({ status: { succeeded: 1 } }),
      WITHIN,
    );
  });

  test("[KU52] a claim is bound, and the pod that waits for it runs", async () => {
    const metadata = { name: "data", namespace: namespace.name };
    const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
    await client.apply({ apiVersion: "v1", kind: "PersistentVolumeClaim", metadata, spec });
    await runPod("keeper", {}, { volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data" } }] });
    await statusOf("keeper", { phase: "Running" });
    const claims = await client.resourceTypeOf("v1", "PersistentVolumeClaim");
    expect(await client.get(claims, "data", namespace.name)).toMatchObject({
      status: { phase: "Bound", capacity: { storage: "1Gi" } },
    });
  });

  test("[KU15] the lines of a pod are read and followed through the API server", async () => {
    await runPod("talker");
    await statusOf("talker", { phase: "Running" });
    const log = await simulateLog(client, namespace.name, "talker");
    await log.write(["one", "two"], "2026-01-02T03:04:05.000000006Z");
    const read = async () => {
      const lines: string[] = [];
      for await (const line of client.podLogs(namespace.name, "talker", { tailLines: 1, timestamps: true }))
        lines.push(line);
      return lines;
    };
    await vi.waitFor(async () => expect(await read()).toEqual(["2026-01-02T03:04:05.000000006Z two"]), WITHIN);

    const stop = new AbortController();
    const followed: string[] = [];
    const following = (async () => {
      const lines = client.podLogs(namespace.name, "talker", { container: "main", follow: true, signal: stop.signal });
      for await (const line of lines) followed.push(line);
    })();
    await vi.waitFor(() => expect(followed).toEqual(["one", "two"]), WITHIN);
    await log.write(["three"]);
    await vi.waitFor(() => expect(followed).toEqual(["one", "two", "three"]), WITHIN);
    stop.abort();
    await following;
    await log.remove();
    await expect(client.podLogs(namespace.name, "nobody")[Symbol.asyncIterator]().next()).rejects.toMatchObject({
      status: 404,
    });
  });

  test("[KU52] the usage of a pod is what its annotations say", async (context) => {
    const services = await client.resourceTypeOf("apiregistration.k8s.io/v1", "APIService");
    if ((await client.get(services, "v1beta1.metrics.k8s.io")) === null) context.skip();
    await runPod("user", { "kwok.x-k8s.io/usage-cpu": "250m", "kwok.x-k8s.io/usage-memory": "64Mi" });
    const path = `/apis/metrics.k8s.io/v1beta1/namespaces/${namespace.name}/pods/user`;
    const used = async () => {
      const { containers: measured } = await client.raw<Measured>("GET", path);
      return parseQuantity(measured[0]?.usage.memory);
    };
    await vi.waitFor(async () => expect(await used()).toBe(64 * 1024 * 1024), { timeout: 100_000, interval: 1_000 });
  }, 120_000);
});
