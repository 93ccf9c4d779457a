import { type HubFrames, safeText } from "@binnacle/contract";
import type { KubeObject } from "../kube/kube-client.ts";
import { KubeError } from "../kube/kube-error.ts";
import { encoded, hashOf, LARGEST_SECRET_BYTES, versionIn } from "./custom-resource.ts";
import type { Refusal } from "./desired-state.ts";
import { isDeleting, isOurs, resourceIdOf } from "./ownership.ts";
import { addressOf, isAt, type StoredKind } from "./stored-kind.ts";

export type Decision = { readonly do: "store" | "nothing" } | { readonly do: "refuse"; readonly refusal: Refusal };

const refuse = (code: Refusal["code"], message: string): Decision => ({ do: "refuse", refusal: { code, message } });
export const unable = (message: string): Refusal => ({ code: "unable", message });

/** Whether a frame is whole and means one place; null where it is. */
export function faultIn({ key, hash, body }: HubFrames["apply"], kind: StoredKind): Refusal | null {
  const address = addressOf(kind, key);
  if (!address) return { code: "invalid", message: `${key} is not a key of the kind ${kind.kind}.` };
  if (!isAt(address, body.spec))
    return { code: "invalid", message: `The content of ${key} is about another resource.` };
  if (hashOf(body) !== hash) return { code: "invalid", message: `The content of ${key} does not match its hash.` };
  const bytes = Buffer.byteLength(encoded(body.secret), "base64");
  if (bytes <= LARGEST_SECRET_BYTES) return null;
  const message = `The secrets and values of charts of ${key} take ${bytes} bytes, also compressed. A Secret of Kubernetes holds ${LARGEST_SECRET_BYTES}.`;
  return { code: "invalid", message };
}

/** Whether a namespace may take resources of a project; null where it may. */
export function rejectionByNamespace(namespace: KubeObject, projectId: string, clusterId: string): Refusal | null {
  const { name } = namespace.metadata;
  if (!isOurs(namespace, clusterId)) return unable(`The namespace ${name} was not made by Binnacle for this cluster.`);
  if (resourceIdOf(namespace) !== projectId) return unable(`The namespace ${name} belongs to another project.`);
  return isDeleting(namespace) ? unable(`The namespace ${name} is being deleted.`) : null;
}

/** Whether an object has the name of a resource or of its Secret and is not ours; null where it may be written. */
export function rejectionByNamesake(found: KubeObject | null, clusterId: string): Refusal | null {
  if (!found || isOurs(found, clusterId)) return null;
  const { kind, metadata } = found;
  const place = metadata.namespace ? ` in ${metadata.namespace}` : "";
  return unable(`The ${kind} ${metadata.name}${place} does not belong to Binnacle.`);
}

/** Decides about a frame, given the object that is already at its address, if there is one. */
export function decideApply(frame: HubFrames["apply"], held: KubeObject | null, isWhole: boolean): Decision {
  if (!held) return { do: "store" };
  const { key, resource_id, generation, hash } = frame;
  const entry = versionIn(held);
  if (entry && entry.resource_id !== resource_id) {
    return refuse("unable", `An earlier resource at ${key} is still on the cluster.`);
  }
  if (entry && entry.generation > generation) {
    return refuse("stale", `${key} is at generation ${entry.generation} on the cluster.`);
  }
  if (isDeleting(held)) return refuse("unable", `${key} is being removed from the cluster.`);
  const isSame = isWhole && entry?.generation === generation && entry.hash === hash;
  return { do: isSame ? "nothing" : "store" };
}

/** `absent`: what is to be removed is not there; what stands there instead is another resource. */
export function decideRemoval(
  { key, resource_id, generation }: HubFrames["remove"],
  held: KubeObject | null,
  clusterId: string,
): "absent" | "remove" | Refusal {
  if (!held || !isOurs(held, clusterId)) return "absent";
  const entry = versionIn(held);
  if (entry && entry.resource_id !== resource_id) return "absent";
  if (entry && entry.generation > generation) {
    return { code: "stale", message: `${key} is at generation ${entry.generation} on the cluster.` };
  }
  return "remove";
}

/** The API server will never accept the object, however often it is tried. */
const INVALID_STATUSES = new Set([400, 413, 422]);

/** The answer to the hub when the API server has refused a write. Other errors are rethrown. */
export function rejectionOf(error: unknown): Refusal {
  if (!(error instanceof KubeError)) throw error;
  return { code: INVALID_STATUSES.has(error.status) ? "invalid" : "unable", message: safeText(error.message) };
}
