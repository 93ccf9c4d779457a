import { FIELD_MANAGER } from "@binnacle/contract";
import { find } from "./field-path.ts";
import type { KubeObject } from "./kube-client.ts";
import { ownFields } from "./managed-fields.ts";

/** Keeps the number of replicas for an autoscaler until that takes it. What it holds is ours to take back. */
export const HANDOVER_MANAGER = `${FIELD_MANAGER}-handover`;

const REPLICAS = [{ field: "spec" }, { field: "replicas" }];

/**
 * What is applied in another name before `desired` is, where that no longer says how many replicas there are: a field
 * that nobody holds falls back to its default, and all but one of the replicas would go until the autoscaler has looked.
 * Null where there is nothing to keep; none at all must not be kept, as an autoscaler leaves those alone.
 */
export function handoverOf(live: KubeObject, desired: KubeObject): KubeObject | null {
  const replicas = find(live, REPLICAS)?.value;
  const isOurs = ownFields(live).some(({ path }) => JSON.stringify(path) === JSON.stringify(REPLICAS));
  if (!isOurs || find(desired, REPLICAS) || typeof replicas !== "number" || replicas === 0) return null;
  const { name, namespace = "", uid = "" } = live.metadata;
  return { apiVersion: desired.apiVersion, kind: desired.kind, metadata: { name, namespace, uid }, spec: { replicas } };
}
