import {
  type DeletedObject,
  LABELS,
  OBSERVED_LIMITS,
  type ObservedVolume,
  RECLAIM_POLICIES,
  type ReclaimPolicy,
} from "@binnacle/contract";
import type { KubeObject } from "../kube/kube-client.ts";
import { fieldsIn, specOf, statusOf, textIn } from "../kube/object-fields.ts";
import { fitting } from "./observed-objects.ts";
import type { OwnedObject } from "./owned-objects.ts";

const CLAIM = "PersistentVolumeClaim";

/** `app`: the whole app goes. `component`: one component of an app that stays. `release`: an addon instance. */
export type Scope = "app" | "component" | "release";

/** A claim with who keeps it; null where it goes. */
export interface LeavingClaim {
  readonly claim: KubeObject;
  readonly component: string | null;
  readonly keptBy: ObservedVolume["kept_by"];
}

/** They go with what has made them, and there may be a great many. */
const PASSING = new Set(["Pod", "ReplicaSet"]);

/** Decides what becomes of the objects. It has to say what the reconcilers and Helm do. */
export function leavingObjects(owned: readonly OwnedObject[], scope: Scope) {
  const claims = owned.filter(({ object }) => object.kind === CLAIM).map((one) => leavingClaim(one, scope));
  const objects = owned.filter(
    ({ object, root }) => object.kind !== CLAIM && !PASSING.has(object.kind) && root.release !== "keep",
  );
  return { claims, objects: objects.map(deletedObject) };
}

const leavingClaim = (one: OwnedObject, scope: Scope): LeavingClaim => ({
  claim: one.object,
  component: one.component,
  keptBy: keeperOf(one, scope),
});

function keeperOf({ root, claimedBy }: OwnedObject, scope: Scope): ObservedVolume["kept_by"] {
  // Claims of our own workloads, those of a StatefulSet included, are pruned with the whole app only.
  if (root.release === null) return scope === "component" ? "app" : null;
  if (root.release === "keep") return "chart";
  return claimedBy && !isDeletedWith(claimedBy) ? "release" : null;
}

/** Kubernetes keeps the claims of a StatefulSet unless the set says otherwise. */
const isDeletedWith = (set: KubeObject): boolean =>
  fieldsIn(specOf(set)["persistentVolumeClaimRetentionPolicy"])["whenDeleted"] === "Delete";

const deletedObject = ({ component, object: { kind, metadata } }: OwnedObject): DeletedObject => ({
  component,
  kind,
  name: metadata.name,
  namespace: metadata.namespace ?? null,
});

/** A namespace takes every claim with it, whoever has made it. */
export const claimsOfNamespace = (claims: readonly KubeObject[]): LeavingClaim[] =>
  claims.map((claim) => ({ claim, component: claim.metadata.labels?.[LABELS.component] ?? null, keptBy: null }));

/** How storage treats a volume whose claim is deleted; null where that is not known. */
export function reclaimPolicyIn(claim: KubeObject, volume: KubeObject | null, storageClass: KubeObject | null) {
  const isBound = volume !== null && fieldsIn(specOf(volume)["claimRef"])["uid"] === claim.metadata.uid;
  if (textIn(specOf(claim)["volumeName"]) !== "") {
    return isBound ? policyIn(specOf(volume)["persistentVolumeReclaimPolicy"]) : null;
  }
  return storageClass ? policyIn(storageClass["reclaimPolicy"] ?? "Delete") : null;
}

const policyIn = (value: unknown): ReclaimPolicy | null => RECLAIM_POLICIES.find((policy) => policy === value) ?? null;

export function volumeOf({ claim, component, keptBy }: LeavingClaim, policy: ReclaimPolicy | null): ObservedVolume {
  const { volumeName, storageClassName, resources } = specOf(claim);
  const { storage } = fieldsIn(statusOf(claim)["capacity"]);
  return {
    claim: claim.metadata.name,
    component,
    size: textIn(storage) || textIn(fieldsIn(fieldsIn(resources)["requests"])["storage"]) || null,
    storage_class: textIn(storageClassName) || null,
    volume: textIn(volumeName) || null,
    reclaim_policy: policy,
    fate: fateOf(keptBy, policy),
    kept_by: keptBy,
  };
}

function fateOf(keptBy: ObservedVolume["kept_by"], policy: ReclaimPolicy | null): ObservedVolume["fate"] {
  if (keptBy !== null) return "kept";
  if (policy === null) return "unknown";
  return policy === "Retain" ? "released" : "deleted";
}

export function outlookOf(objects: readonly DeletedObject[], volumes: readonly ObservedVolume[], isCut: boolean) {
  // Half of an answer each, so that a long list of objects does not hide a volume.
  const half = OBSERVED_LIMITS.bytes / 2;
  const first = fitting(objects, OBSERVED_LIMITS.objects, half);
  const second = fitting(volumes, OBSERVED_LIMITS.volumes, half);
  return { objects: first.kept, volumes: second.kept, truncated: isCut || first.truncated || second.truncated };
}
