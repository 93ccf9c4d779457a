import { createHash } from "node:crypto";
import { canonicalJson } from "@binnacle/contract";
import type { KubeObject } from "./kube-client.ts";

/** Changes with anything that somebody desires of an object; what a controller says about it does not count. */
export function fingerprintOf(object: KubeObject): string {
  const { status: _, ...desired } = object;
  const { resourceVersion: _r, managedFields = [], ...metadata } = object.metadata;
  const managers = managedFields.filter(({ subresource }) => subresource !== "status");
  return createHash("sha256")
    .update(canonicalJson({ ...desired, metadata: { ...metadata, managedFields: managers } }))
    .digest("hex");
}
