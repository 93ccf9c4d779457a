import { FINALIZER } from "@binnacle/contract";
import type { KubeClient, KubeObject, ResourceType } from "../kube/kube-client.ts";
import { KubeError } from "../kube/kube-error.ts";
import { DESIRED_SECRET_TYPE, SECRETS } from "../kube/resource-types.ts";
import { versionIn } from "./custom-resource.ts";
import { companionName, type StoredKind } from "./stored-kind.ts";

/**
 * `gone` carries the generation that the holder had last, where it could still be read: the hub may have sent a newer removal
 * in the meantime. `held` names the finalizers of others, which only their owners may remove.
 */
export type Finalized =
  | { readonly state: "gone"; readonly generation: number | null }
  | { readonly state: "held"; readonly by: readonly string[] };

/**
 * Removes our finalizer from a holder that is being deleted, and its companion with it, once the cleanup is complete. A
 * resource is gone only after the API server no longer returns its holder.
 */
export async function finalize(
  kube: Pick<KubeClient, "get" | "patch" | "delete">,
  kind: StoredKind,
  { metadata: { name, namespace, uid } }: KubeObject,
): Promise<Finalized> {
  const type = kind.holder;
  const companion = companionName({ kind, namespace: namespace ?? "", name });
  if (companion) await removeCompanion(kube, companion, namespace);
  const current = await kube.get(type, name, namespace);
  if (current?.metadata.uid !== uid || !current) return { state: "gone", generation: null };
  const others = (current.metadata.finalizers ?? []).filter((finalizer) => finalizer !== FINALIZER);
  if (others.length !== current.metadata.finalizers?.length) {
    await setFinalizers(kube, type, current, others);
  }
  const left = await kube.get(type, name, namespace);
  if (left?.metadata.uid === uid) return { state: "held", by: others };
  return { state: "gone", generation: versionIn(current)?.generation ?? null };
}

/** A Secret of another type that only has the same name is left alone. */
async function removeCompanion(
  kube: Pick<KubeClient, "get" | "delete">,
  name: string,
  namespace: string | undefined,
): Promise<void> {
  const found = await kube.get(SECRETS, name, namespace);
  if (found?.["type"] === DESIRED_SECRET_TYPE) await kube.delete(SECRETS, name, namespace);
}

/** The resource version makes the API server refuse the patch where somebody has added a finalizer in the meantime. */
async function setFinalizers(
  kube: Pick<KubeClient, "patch">,
  type: ResourceType,
  { metadata: { name, namespace, uid, resourceVersion } }: KubeObject,
  finalizers: readonly string[],
): Promise<void> {
  const patch = { metadata: { uid, resourceVersion, finalizers } };
  await kube.patch(type, name, namespace, patch, { kind: "merge" }).catch((error: unknown) => {
    if (!(error instanceof KubeError) || error.status !== 404) throw error;
  });
}
