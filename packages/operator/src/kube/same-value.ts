import { createHash } from "node:crypto";
import { canonicalJson, parseQuantity } from "@binnacle/contract";
import type { KubeObject } from "./kube-client.ts";
import { type FieldPath, isRecord } from "./managed-fields.ts";

/** Fields with quantities, where `1000m` and `1` are equal. Elsewhere they are not. */
const HOLDERS_OF_QUANTITIES = new Set(["resources", "sizeLimit"]);

/** Whether two values mean the same to Kubernetes: a field that is empty, or not there, says nothing. */
export function isSameValue(path: FieldPath, one: unknown, other: unknown): boolean {
  const names = path.map((step) => ("field" in step ? step.field : ""));
  // Keys of ConfigMaps and labels are free text, so their names mean nothing.
  return isSame(one, other, names[0] === "spec" && names.some((name) => HOLDERS_OF_QUANTITIES.has(name)));
}

function isSame(one: unknown, other: unknown, isQuantity: boolean): boolean {
  if (isEmpty(one) && isEmpty(other)) return true;
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((element, at) => isSame(element, other[at], isQuantity));
  }
  if (isRecord(one) && isRecord(other)) {
    const names = new Set([...Object.keys(one), ...Object.keys(other)]);
    return [...names].every((name) => isSame(valueUnder(one, name), valueUnder(other, name), isQuantity));
  }
  if (one === other) return true;
  return isQuantity && parseQuantity(one) !== null && parseQuantity(one) === parseQuantity(other);
}

/** A port that says no protocol is one of TCP. */
function valueUnder(fields: Readonly<Record<string, unknown>>, name: string): unknown {
  return fields[name] ?? (name === "protocol" ? "TCP" : undefined);
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isRecord(value) && Object.keys(value).length === 0;
}

/** Changes with anything that somebody desires of an object; what a controller says about it does not count. */
export function fingerprintOf(object: KubeObject): string {
  const { status: _, ...desired } = object;
  const { resourceVersion: _r, managedFields = [], ...metadata } = object.metadata;
  const managers = managedFields.filter(({ subresource }) => subresource !== "status");
  return createHash("sha256")
    .update(canonicalJson({ ...desired, metadata: { ...metadata, managedFields: managers } }))
    .digest("hex");
}
