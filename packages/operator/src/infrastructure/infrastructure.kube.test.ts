import type { InfrastructureRequest } from "@binnacle/contract";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { binaryFolder } from "../../../../test/kube/binaries.ts";
import { type Kube, startKube } from "../../../../test/kube/cluster.ts";
import { createKubeClient } from "../kube/client.adapter.ts";
import type { KubeClient, KubeObject } from "../kube/kube-client.ts";
import { kubeAccessFrom } from "../kube/kubeconfig.adapter.ts";
import { realClock } from "../kube/real-clock.adapter.ts";
import { CLAIMS, NODES, PERSISTENT_VOLUMES, PODS, SERVICES } from "../kube/resource-types.ts";
import { createInfrastructure } from "./infrastructure.adapter.ts";

const WITHIN = { timeout: 60_000, interval: 200 };
const SLOW_MS = 180_000;
const NAMESPACE = "shop";
const binaries = binaryFolder();

/** In a cluster of its own, because the nodes take no more pods afterwards. */
describe.skipIf(binaries === null)("a cluster that loses machines", { timeout: SLOW_MS }, () => {
  let cluster: Kube;
  let kube: KubeClient;
  let infrastructure: ReturnType<typeof createInfrastructure>;
  beforeAll(async () => {
    cluster = await startKube({ binaries: binaries ?? "", parts: ["controllers", "pods"], nodes: 2 });
    kube = createKubeClient(await kubeAccessFrom({ KUBECONFIG: cluster.kubeconfigPath }));
    infrastructure = createInfrastructure({ kube, clock: realClock });
    await kube.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } });
    await vi.waitFor(async () => {
      const accounts = await kube.resourceTypeOf("v1", "ServiceAccount");
      expect(await kube.get(accounts, "default", NAMESPACE)).not.toBeNull();
    }, WITHIN);
  }, SLOW_MS);
  afterAll(async () => {
    await kube?.close();
    await cluster?.stop();
  });

  const containers = [{ name: "main", image: "nginx" }];
  async function workload(kind: "Deployment" | "DaemonSet", name: string, replicas: number): Promise<void> {
    const labels = { app: name };
    const template = { metadata: { labels }, spec: { containers, terminationGracePeriodSeconds: 0 } };
    const spec = {
      selector: { matchLabels: labels },
      template,
      ...(kind === "Deployment" ? { replicas } : {}),
    };
    await kube.create({ apiVersion: "apps/v1", kind, metadata: { name, namespace: NAMESPACE }, spec });
    await vi.waitFor(async () => expect((await running(name)).length).toBe(replicas), WITHIN);
  }
  async function running(app: string, node?: string): Promise<readonly KubeObject[]> {
    const { items } = await kube.list(PODS, { namespace: NAMESPACE, labelSelector: `app=${app}` });
    return items.filter((pod) => {
      const { nodeName } = pod["spec"] as { nodeName?: string };
      return (pod["status"] as { phase?: string }).phase === "Running" && (node === undefined || nodeName === node);
    });
  }
  async function leftAfter(request: InfrastructureRequest) {
    const answer = await infrastructure(request);
    if (!("left" in answer)) throw new Error("The answer is another one.");
    return answer;
  }
  const drained = (timeout_seconds: number) => leftAfter({ name: "drain_nodes", nodes: ["node-1"], timeout_seconds });

  test("[RQ15] a drained node takes no pods and keeps none but those of DaemonSets, and budgets are respected [RQ16]", async () => {
    await workload("Deployment", "web", 6);
    await workload("DaemonSet", "agent", 2);
    await workload("Deployment", "kept", 4);
    const budgets = { name: "kept", namespace: NAMESPACE };
    const spec = { minAvailable: 4, selector: { matchLabels: { app: "kept" } } };
    await kube.create({ apiVersion: "policy/v1", kind: "PodDisruptionBudget", metadata: budgets, spec });
    const type = await kube.resourceTypeOf("policy/v1", "PodDisruptionBudget");
    await vi.waitFor(
      async () => expect(await kube.get(type, "kept", NAMESPACE)).toMatchObject({ status: { expectedPods: 4 } }),
      WITHIN,
    );

    const { left } = await drained(5);
    expect(await kube.get(NODES, "node-1")).toMatchObject({ spec: { unschedulable: true } });
    const kept = await running("kept", "node-1");
    expect(kept.length).toBeGreaterThan(0);
    expect(left.filter(({ name }) => name.startsWith("kept-"))).toEqual(
      kept.map(({ metadata }) => ({
        kind: "Pod",
        namespace: NAMESPACE,
        name: metadata.name,
        reason: expect.stringContaining("PodDisruptionBudget"),
      })),
    );

    await kube.delete(type, "kept", NAMESPACE);
    await vi.waitFor(async () => expect(await drained(0)).toEqual({ left: [] }), WITHIN);
    await vi.waitFor(async () => expect((await running("web", "node-0")).length).toBe(6), WITHIN);
    expect([await running("web", "node-1"), await running("kept", "node-1")]).toEqual([[], []]);
    expect(await running("agent", "node-1")).toHaveLength(1);
  });

  test("[RQ15] a node that does not exist counts as drained", async () => {
    expect(await infrastructure({ name: "drain_nodes", nodes: ["gone"], timeout_seconds: 0 })).toEqual({ left: [] });
  });

  test("[RQ17] [RQ18] [RQ44] load balancers and disks are removed, and nothing recreates them", async () => {
    const ports = [{ port: 80 }];
    const CLEANUP = "service.kubernetes.io/load-balancer-cleanup";
    const service = (name: string, metadata: object, spec: object) =>
      kube.create({
        apiVersion: "v1",
        kind: "Service",
        metadata: { name, namespace: NAMESPACE, ...metadata },
        spec: { ports, ...spec },
      });
    const balanced = {
      type: "LoadBalancer",
      externalTrafficPolicy: "Local",
      loadBalancerSourceRanges: ["10.0.0.0/8"],
      loadBalancerClass: "example.com/lb",
    };
    await service("own", { finalizers: [CLEANUP] }, balanced);
    await service("chart", { labels: { "app.kubernetes.io/managed-by": "Helm" }, finalizers: [CLEANUP] }, balanced);
    await service("inner", {}, { type: "ClusterIP" });
    const disk = (name: string, policy: string) =>
      kube.create({
        apiVersion: "v1",
        kind: "PersistentVolume",
        metadata: { name },
        spec: {
          accessModes: ["ReadWriteOnce"],
          capacity: { storage: "1Gi" },
          persistentVolumeReclaimPolicy: policy,
          storageClassName: "",
          csi: { driver: "ebs.csi.aws.com", volumeHandle: name },
        },
      });
    const claim = (name: string) =>
      kube.create({
        apiVersion: "v1",
        kind: "PersistentVolumeClaim",
        metadata: { name, namespace: NAMESPACE },
        spec: {
          accessModes: ["ReadWriteOnce"],
          resources: { requests: { storage: "1Gi" } },
          storageClassName: "",
          volumeName: name,
        },
      });
    for (const [name, policy] of [
      ["data", "Delete"],
      ["archive", "Retain"],
    ] as const) {
      await disk(name, policy);
      await claim(name);
      await vi.waitFor(
        async () => expect(await kube.get(CLAIMS, name, NAMESPACE)).toMatchObject({ status: { phase: "Bound" } }),
        WITHIN,
      );
    }
    const user: KubeObject = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "user", namespace: NAMESPACE },
      spec: {
        containers,
        terminationGracePeriodSeconds: 0,
        volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data" } }],
      },
    } as KubeObject;
    await kube.create(user);

    expect(await infrastructure({ name: "describe_disks", disks: ["data", "archive", "other"] })).toEqual({
      disks: [
        { disk: "archive", claim: "shop/archive", deletable: false },
        { disk: "data", claim: "shop/data", deletable: true },
      ],
    });
    expect(await infrastructure({ name: "local_volumes", nodes: ["node-0"] })).toEqual({ local_volumes: [], total: 0 });
    const pass = () => leftAfter({ name: "remove_cloud_objects", timeout_seconds: 0 });
    const names = async () => (await pass()).left.map(({ kind, name }) => `${kind} ${name}`).sort();
    expect(await names()).toEqual(["PersistentVolume data", "Service chart", "Service own"]);
    expect(await kube.get(SERVICES, "chart", NAMESPACE)).toMatchObject({ spec: { type: "ClusterIP" } });
    expect(
      (await kube.list(NODES)).items.map(({ spec }) => (spec as { unschedulable?: boolean }).unschedulable),
    ).toEqual([true, true]);
    await vi.waitFor(async () => expect(await kube.get(CLAIMS, "data", NAMESPACE)).toBeNull(), WITHIN);

    // The controllers of the cloud are not here; this is what they do at last.
    for (const name of ["own", "chart"]) {
      await kube.patch(SERVICES, name, NAMESPACE, { metadata: { finalizers: null } }, { kind: "merge" });
    }
    expect(await names()).toEqual(["PersistentVolume data"]);
    await kube.delete(PERSISTENT_VOLUMES, "data");
    await vi.waitFor(async () => expect(await pass()).toEqual({ left: [] }), WITHIN);
    expect(await kube.get(SERVICES, "own", NAMESPACE)).toBeNull();
    expect(await kube.get(SERVICES, "inner", NAMESPACE)).not.toBeNull();
    expect(await kube.get(CLAIMS, "archive", NAMESPACE)).toMatchObject({ status: { phase: "Bound" } });
  });
});
