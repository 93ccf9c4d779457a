import { describe, expect, test } from "vitest";
import type { KubeObject } from "../kube/kube-client.ts";
import { claimOf, holdsLoadBalancer, isCloudVolume, isOwned, uses } from "./cloud-objects.ts";
import { mustLeave } from "./drain.ts";

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
  ])("[RQ17] of %s", (_, metadata, rest, expected) => {
    expect(holdsLoadBalancer(object("Service", metadata, rest))).toBe(expected);
  });

  test("[RQ17] a Service of a chart or of another object has an owner", () => {
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
