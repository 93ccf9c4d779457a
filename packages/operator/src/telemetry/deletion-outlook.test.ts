import { describe, expect, test } from "vitest";
import type { KubeObject } from "../kube/kube-client.ts";
import { claimsOfNamespace, leavingObjects, reclaimPolicyIn, type Scope, volumeOf } from "./deletion-outlook.ts";
import { ownedObjects, type RootObject } from "./owned-objects.ts";

const made = (kind: string, name: string, fields: object = {}, metadata: object = {}): KubeObject => ({
  apiVersion: "v1",
  kind,
  metadata: { name, namespace: "shop", uid: `uid-${name}`, labels: { app: "db" }, ...metadata },
  ...fields,
});
const claim = (name: string, spec: object = {}, metadata: object = {}) =>
  made("PersistentVolumeClaim", name, { spec: { resources: { requests: { storage: "5Gi" } }, ...spec } }, metadata);
const setOf = (whenDeleted?: string) =>
  made("StatefulSet", "db", {
    spec: {
      selector: { matchLabels: { app: "db" } },
      volumeClaimTemplates: [{ metadata: { name: "data" } }],
      ...(whenDeleted ? { persistentVolumeClaimRetentionPolicy: { whenDeleted } } : {}),
    },
  });
const root = (object: KubeObject, release: RootObject["release"]): RootObject => ({ component: "db", object, release });

const keepers = (roots: readonly RootObject[], others: readonly KubeObject[], scope: Scope) =>
  leavingObjects(ownedObjects(roots, others), scope).claims.map(({ claim: found, keptBy }) => [
    found.metadata.name,
    keptBy,
  ]);

describe("claims", () => {
  test.each([
    ["app", null],
    ["component", "app"],
  ] as const)("[TE18] claims of an app's workloads, at the deletion of the %s, are kept by: %s", (scope, keptBy) => {
    const roots = [root(setOf("Retain"), null), root(claim("data-db-0"), null), root(claim("shop-web-data"), null)];
    expect(keepers(roots, [], scope)).toEqual([
      ["shop-web-data", keptBy],
      ["data-db-0", keptBy],
    ]);
  });

  test("[TE18] volume claims of a StatefulSet of a release are kept by Kubernetes unless the set says otherwise", () => {
    expect(keepers([root(setOf(), "own")], [claim("data-db-0")], "release")).toEqual([["data-db-0", "release"]]);
    expect(keepers([root(setOf("Delete"), "own")], [claim("data-db-0")], "app")).toEqual([["data-db-0", null]]);
  });

  test("[TE18] volume claims in the manifest of a release are deleted with it, unless the chart keeps them", () => {
    expect(keepers([root(claim("plain"), "own"), root(claim("precious"), "keep")], [], "release")).toEqual([
      ["plain", null],
      ["precious", "chart"],
    ]);
  });

  test("[TE18] volume claims that an object of a release owns are deleted with it", () => {
    const owner = made("Cluster", "pg");
    const ownerReferences = [{ apiVersion: "v1", kind: "Cluster", name: "pg", uid: "uid-pg" }];
    expect(keepers([root(owner, "own")], [claim("pg-1", {}, { ownerReferences })], "release")).toEqual([
      ["pg-1", null],
    ]);
  });

  test("[TE18] all volume claims of a namespace are deleted with it", () => {
    expect(claimsOfNamespace([claim("anybody's")])).toEqual([
      { claim: claim("anybody's"), component: null, keptBy: null },
    ]);
  });
});

test("[TE18] pods, ReplicaSets, claims and what the chart keeps are not among the objects that are deleted", () => {
  const roots = ["Deployment", "Secret", "Pod", "ReplicaSet"].map((kind) =>
    root(made(kind, kind.toLowerCase()), "own"),
  );
  const { objects } = leavingObjects(
    ownedObjects([...roots, root(made("ConfigMap", "kept"), "keep"), root(claim("data"), "own")], []),
    "release",
  );
  expect(objects.map(({ kind }) => kind)).toEqual(["Deployment", "Secret"]);
});

describe("the data of a volume", () => {
  const bound = claim("data", { volumeName: "pv-1", storageClassName: "fast" });
  const volume = (policy: string, uid = "uid-data") =>
    made("PersistentVolume", "pv-1", { spec: { persistentVolumeReclaimPolicy: policy, claimRef: { uid } } });
  const storageClass = (reclaimPolicy?: string) => made("StorageClass", "fast", reclaimPolicy ? { reclaimPolicy } : {});
  const leaving = (keptBy: "app" | null) => ({ claim: bound, component: "db", keptBy });

  test.each([
    ["Delete", null, "deleted"],
    ["Retain", null, "released"],
    ["Recycle", null, "deleted"],
    [null, null, "unknown"],
    ["Delete", "app", "kept"],
    [null, "app", "kept"],
  ] as const)("[TE18] the data of a volume with the policy %s and a claim kept by %s is %s", (policy, keptBy, fate) => {
    expect(volumeOf(leaving(keptBy), policy)).toMatchObject({ claim: "data", volume: "pv-1", size: "5Gi", fate });
  });

  test("[TE18] the fate of data follows the volume itself, and the storage class only before there is a volume", () => {
    expect(reclaimPolicyIn(bound, volume("Retain"), storageClass("Delete"))).toBe("Retain");
    expect(reclaimPolicyIn(bound, null, storageClass("Delete"))).toBeNull();
    expect(reclaimPolicyIn(claim("data"), null, storageClass("Retain"))).toBe("Retain");
    expect(reclaimPolicyIn(claim("data"), null, storageClass())).toBe("Delete");
    expect(reclaimPolicyIn(claim("data"), null, null)).toBeNull();
  });

  test("[TE18] nothing is said about the data of a volume that is bound to somebody else's claim", () => {
    expect(reclaimPolicyIn(bound, volume("Delete", "uid-of-theirs"), null)).toBeNull();
  });
});
