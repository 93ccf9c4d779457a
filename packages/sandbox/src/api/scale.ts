import type { KubeObject } from "../store/kube-object.ts";
import { badRequest } from "./fault.ts";
import { isRecord, type JsonRecord } from "./fields/typed-value.ts";
import type { Resource } from "./resource.ts";
import { at, recordAt } from "./validation/metadata.ts";

const pathIn = (path: string): string[] => path.replace(/^\./, "").split(".");

/** The number of pods of an object, as the subresource `scale` shows it. */
export function scaleOf({ custom }: Resource, object: KubeObject): JsonRecord {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const replicas = at(object, ...pathIn(custom?.scale?.specReplicasPath ?? "spec.replicas"));
  const seen = at(object, ...pathIn(custom?.scale?.statusReplicasPath ?? "status.replicas"));
  const labels = Object.entries(recordAt(object, "spec", "selector", "matchLabels"));
  const selector = labels.map(([label, value]) => `${label}=${String(value)}`).join(",");
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: { name, ...(namespace === undefined ? {} : { namespace }), uid, resourceVersion, creationTimestamp },
    spec: replicas ? { replicas } : {},
    status: { replicas: seen ?? 0, ...(selector === "" ? {} : { selector }) },
  };
}

/** The object with as many pods as the scale says. */
export function scaled({ custom }: Resource, object: KubeObject, scale: unknown): JsonRecord {
  const replicas = at(scale, "spec", "replicas") ?? 0;
  if (typeof replicas !== "number")
    throw badRequest('Scale in version "v1" cannot be handled as a Scale: replicas is not a number');
  const resourceVersion = at(scale, "metadata", "resourceVersion");
  const path = pathIn(custom?.scale?.specReplicasPath ?? "spec.replicas");
  const changed = put(object, path, replicas);
  return {
    ...changed,
    metadata: { ...object.metadata, ...(typeof resourceVersion === "string" ? { resourceVersion } : {}) },
  };
}

function put(value: unknown, [first = "", ...rest]: readonly string[], replicas: number): JsonRecord {
  const record = isRecord(value) ? value : {};
  return { ...record, [first]: rest.length === 0 ? replicas : put(record[first], rest, replicas) };
}
