import { describe, expect, test } from "vitest";
import type { KubeObject } from "../kube/kube-client.ts";
import { claimOf, diskOf, holdsLoadBalancer, isCloudVolume, isOwned, uses } from "./cloud-objects.ts";
import { mustLeave } from "./drain.ts";
import { createInfrastructure, type InfrastructurePorts } from "./infrastructure.adapter.ts";
import { describedDisks, localVolumes } from "./volumes.ts";

const object = (kind: string, metadata: object, rest: object = {}): KubeObject =>
  ({ apiVersion: "v1", kind, metadata: { name: "it", namespace: "shop", ...metadata }, ...rest }) as KubeObject;
const owner = (kind: string) => ({
  ownerReferences: [{ apiVersion: "apps/v1", kind, name: "o", uid: "u", controller: true }],
});

test.each([
  ["of a ReplicaSet", object("Pod", owner("ReplicaSet")), true],
  ["of nobody", object("Pod", {}), true],
  ["of a DaemonSet", object("Pod", owner("DaemonSet")), false],
  ["of the kubelet", object("Pod", { annotations: { "kubernetes.io/config.mirror": "x" } }), false],
  ["that has succeeded", object("Pod", {}, { status: { phase: "Succeeded" } }), false],
  ["that has failed", object("Pod", owner("Job"), { status: { phase: "Failed" } }), false],
  ["that runs", object("Pod", owner("Job"), { status: { phase: "Running" } }), true],
])("[RQ15] a pod %s has to leave a drained node: %s", (_, pod, expected) => {
  expect(mustLeave(pod)).toBe(expected);
});

describe("what Kubernetes has made in a cloud", () => {
  const CLEANUP = "service.kubernetes.io/load-balancer-cleanup";
  test.each([
    ["a load balancer", {}, { spec: { type: "LoadBalancer" } }, true],
    ["one that is being removed", { finalizers: [CLEANUP] }, { spec: { type: "ClusterIP" } }, true],
    ["a Service of the cluster", {}, { spec: { type: "ClusterIP" } }, false],
    ["a node port", { finalizers: ["other"] }, { spec: { type: "NodePort" } }, false],
  ])("[RQ17] a Service is known to hold a load balancer or not: %s", (_, metadata, rest, expected) => {
    expect(holdsLoadBalancer(object("Service", metadata, rest))).toBe(expected);
  });

  test("[RQ17] a Service of a Helm release or of another object is known to have an owner", () => {
    expect(isOwned(object("Service", { labels: { "app.kubernetes.io/managed-by": "Helm" } }))).toBe(true);
    expect(isOwned(object("Service", owner("Gateway")))).toBe(true);
    expect(isOwned(object("Service", {}))).toBe(false);
  });

  const csi = { driver: "ebs.csi.aws.com", volumeHandle: "vol-1" };
  const volume = (spec: object, phase = "Bound") => object("PersistentVolume", {}, { spec, status: { phase } });
  test.each([
    ["a disk", volume({ csi, persistentVolumeReclaimPolicy: "Delete" }), true],
    ["a released disk", volume({ csi, persistentVolumeReclaimPolicy: "Delete" }, "Released"), true],
    ["an older kind of disk", volume({ awsElasticBlockStore: {}, persistentVolumeReclaimPolicy: "Delete" }), true],
    ["a disk that is kept", volume({ csi, persistentVolumeReclaimPolicy: "Retain" }), false],
    ["a disk that nobody has claimed", volume({ csi, persistentVolumeReclaimPolicy: "Delete" }, "Available"), false],
    ["a folder of a node", volume({ hostPath: {}, persistentVolumeReclaimPolicy: "Delete" }), false],
    ["a disk of another driver", volume({ csi: { driver: "x" }, persistentVolumeReclaimPolicy: "Delete" }), false],
  ])("[RQ18] %s is removed with its claim: %s", (_, given, expected) => {
    expect(isCloudVolume(given)).toBe(expected);
  });

  test("[RQ18] the claim of a volume, and the pods that use it, are found", () => {
    const claim = { namespace: "shop", name: "data" };
    expect(claimOf(volume({ claimRef: claim }))).toEqual(claim);
    expect(claimOf(volume({}))).toBeNull();
    const pod = (namespace: string, claimName: string) =>
      object("Pod", { namespace }, { spec: { volumes: [{ name: "v", persistentVolumeClaim: { claimName } }] } });
    expect([pod("shop", "data"), pod("shop", "other"), pod("else", "data")].map((it) => uses(it, claim))).toEqual([
      true,
      false,
      false,
    ]);
    expect(uses(object("Pod", {}, { spec: {} }), claim)).toBe(false);
  });
});

describe("volumes", () => {
  const csi = (volumeHandle: string) => ({ driver: "ebs.csi.aws.com", volumeHandle });
  const claimRef = { namespace: "shop", name: "data" };
  const volume = (name: string, spec: object, phase = "Bound") =>
    object("PersistentVolume", { name }, { spec, status: { phase } });

  test.each([
    ["of the CSI driver", { csi: csi("vol-1") }, "vol-1"],
    ["of an older kind", { awsElasticBlockStore: { volumeID: "aws://eu-central-1a/vol-2" } }, "vol-2"],
    ["of an older kind by its id alone", { awsElasticBlockStore: { volumeID: "vol-2" } }, "vol-2"],
    ["of another driver", { csi: { driver: "x", volumeHandle: "vol-3" } }, null],
    ["of a machine", { local: { path: "/data" } }, null],
  ])("[RQ44] the disk of a volume %s is known by its id in the cloud", (_, spec, disk) => {
    expect(diskOf(volume("it", spec))).toBe(disk);
  });

  test("[RQ44] a disk is described by the volumes on it, and only `Delete` makes it deletable", () => {
    const deleted = { persistentVolumeReclaimPolicy: "Delete", claimRef };
    const retained = { persistentVolumeReclaimPolicy: "Retain", claimRef };
    const volumes = [
      volume("a", { csi: csi("vol-1"), ...deleted }),
      volume("b", { csi: csi("vol-2"), ...retained }),
      volume("c", { csi: csi("vol-2"), ...deleted }),
      volume("d", { csi: csi("vol-3"), persistentVolumeReclaimPolicy: "Delete" }, "Available"),
      volume("e", { csi: csi("vol-4"), ...deleted }),
    ];
    expect(describedDisks(volumes, ["vol-1", "vol-2", "vol-3", "vol-9"])).toEqual([
      { disk: "vol-2", claim: "shop/data", deletable: false },
      { disk: "vol-3", claim: null, deletable: false },
      { disk: "vol-1", claim: "shop/data", deletable: true },
      { disk: "vol-2", claim: "shop/data", deletable: true },
    ]);
  });

  const onNodes = (key: string, values: readonly string[], operator = "In") => ({
    nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [{ key, operator, values }] }] } },
  });
  const HOST = "kubernetes.io/hostname";
  const ZONE = "topology.kubernetes.io/zone";
  const node = (name: string, zone: string) => object("Node", { name, labels: { [HOST]: name, [ZONE]: zone } });
  const nodes = [node("control-plane", "a"), node("agent-1", "b"), node("agent-2", "a")];
  test.each([
    ["a folder of the node", { local: {}, ...onNodes(HOST, ["agent-1"]) }, "Bound", true],
    ["one of another node", { local: {}, ...onNodes(HOST, ["agent-2"]) }, "Bound", false],
    ["one that other nodes reach", { nfs: {}, ...onNodes(HOST, ["agent-1", "agent-2"]) }, "Bound", false],
    ["one that all nodes reach", { nfs: {} }, "Bound", false],
    ["one of a zone with no other node", { csi: { driver: "x" }, ...onNodes(ZONE, ["b"]) }, "Bound", true],
    ["a disk of a zone with no other node", { csi: csi("vol-1"), ...onNodes(ZONE, ["b"]) }, "Bound", false],
    ["one whose expression says less", { local: {}, ...onNodes(HOST, ["control-plane"], "NotIn") }, "Bound", true],
    ["one without a claim", { local: {}, ...onNodes(HOST, ["agent-1"]) }, "Available", false],
    [
      "one that is retained after its claim",
      { local: {}, persistentVolumeReclaimPolicy: "Retain", ...onNodes(HOST, ["agent-1"]) },
      "Released",
      true,
    ],
    [
      "one that goes with its claim",
      { local: {}, persistentVolumeReclaimPolicy: "Delete", ...onNodes(HOST, ["agent-1"]) },
      "Released",
      false,
    ],
  ])("[RQ45] %s goes with a node or not", (_, spec, phase, isLocal) => {
    const found = localVolumes([volume("it", { claimRef, ...spec }, phase)], nodes, ["agent-1", "gone"]);
    expect(found).toEqual(isLocal ? [{ node: "agent-1", name: "it", claim: "shop/data" }] : []);
  });
});

describe("a drain", () => {
  /** A cluster of one node with one pod that never ends. */
  function stuck(ready: () => string) {
    let now = 0;
    const items: Record<string, () => KubeObject[]> = {
      Node: () => [
        object("Node", { name: "agent-1" }, { status: { conditions: [{ type: "Ready", status: ready() }] } }),
      ],
      Pod: () => [object("Pod", { name: "web-0", deletionTimestamp: "2026-11-01T00:00:00Z" })],
    };
    const kube = {
      list: async ({ kind }: { kind: string }) => ({ items: items[kind]?.() ?? [] }),
      patch: async () => undefined,
    };
    const clock = { now: () => now, after: () => () => undefined };
    const infrastructure = createInfrastructure({ kube, clock } as unknown as InfrastructurePorts);
    return {
      pass: (seconds: number) => {
        now += seconds * 1000;
        return infrastructure({ name: "drain_nodes", nodes: ["agent-1"], timeout_seconds: 0 });
      },
    };
  }
  const LEFT = (reason: string) => ({ left: [{ kind: "Pod", namespace: "shop", name: "web-0", reason }] });

  test("[RQ46] pods of a node that is not ready are waited for two minutes and then skipped", async () => {
    const { pass } = stuck(() => "Unknown");
    expect(await pass(0)).toEqual(LEFT("Its node is not ready."));
    expect(await pass(119)).toEqual(LEFT("Its node is not ready."));
    expect(await pass(1)).toEqual({ left: [] });
  });

  test("[RQ46] a node that has come back is waited for as any other", async () => {
    let ready = "False";
    const { pass } = stuck(() => ready);
    await pass(0);
    ready = "True";
    expect(await pass(600)).toEqual(LEFT("It is being stopped."));
    ready = "False";
    expect(await pass(1)).toEqual(LEFT("Its node is not ready."));
  });
});
