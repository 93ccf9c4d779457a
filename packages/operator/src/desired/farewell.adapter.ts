import { FINALIZER } from "@binnacle/contract";
import type { KubeClient, KubeObject, ResourceType } from "../kube/kube-client.ts";
import { KubeError } from "../kube/kube-error.ts";
import { companionName } from "./address.ts";
import { addressOfHolder, entryIn } from "./custom-resource.ts";
import { DESIRED_SECRET_TYPE, SECRETS } from "./resource-types.ts";

/**
 * `gone`, with the generation it had when it went, where that was still to be seen: it may have been told of again since
 * somebody looked. `held`: others have finalizers on it, which are theirs to take away.
 */
export type Farewell =
  | { readonly state: "gone"; readonly generation: number | null }
  | { readonly state: "held"; readonly by: readonly string[] };

/**
 * Lets a leaving object go once nothing of what it stands for is left, its companion included, and confirms that it
 * went. Only then is a resource gone.
 */
export async function letGo(
  kube: Pick<KubeClient, "get" | "patch" | "delete">,
  type: ResourceType,
  { metadata, ...object }: KubeObject,
): Promise<Farewell> {
  const { name, namespace, uid } = metadata;
  const address = addressOfHolder({ ...object, kind: type.kind, metadata });
  const companion = address && companionName(address);
  if (companion) await removeCompanion(kube, companion, namespace);
  const current = await kube.get(type, name, namespace);
  if (current?.metadata.uid !== uid || !current) return { state: "gone", generation: null };
  const others = (current.metadata.finalizers ?? []).filter((finalizer) => finalizer !== FINALIZER);
  if (others.length !== current.metadata.finalizers?.length) {
    await withoutOurs(kube, type, current, others);
  }
  const left = await kube.get(type, name, namespace);
  if (left?.metadata.uid === uid) return { state: "held", by: others };
  return { state: "gone", generation: entryIn({ ...current, kind: type.kind })?.generation ?? null };
}

/** A Secret of another type only has its name. */
async function removeCompanion(
  kube: Pick<KubeClient, "get" | "delete">,
  name: string,
  namespace: string | undefined,
): Promise<void> {
  const found = await kube.get(SECRETS, name, namespace);
  if (found?.["type"] === DESIRED_SECRET_TYPE) await kube.delete(SECRETS, name, namespace);
}

/** Refused when somebody has changed the object meanwhile, whose finalizer would otherwise be overwritten. */
async function withoutOurs(
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
