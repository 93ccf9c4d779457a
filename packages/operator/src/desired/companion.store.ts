import type { HubFrames } from "@binnacle/contract";
import type { ApplyOptions, KubeClient, KubeObject } from "../kube/kube-client.ts";
import { companionOf, contentsOf, encoded, secretKeyOf } from "./custom-resource.ts";
import { SECRETS } from "./resource-types.ts";
import { type Address, companionName } from "./stored-kind.ts";

/** The content of a companion that a custom resource is about to name. */
export interface Staged {
  readonly frame: HubFrames["apply"];
  readonly name: string;
  readonly key: string;
  readonly content: string;
  readonly companion: KubeObject;
}

/**
 * A custom resource and its Secret cannot be written at once. So the new content comes beside the old one first, then the
 * custom resource turns to it, then the old one goes: at any moment the two make one whole, the earlier or the later.
 */
export function createCompanions(kube: Pick<KubeClient, "apply" | "delete">, clusterId: string, options: ApplyOptions) {
  /** Null for kinds without a companion. A content that has not changed is not written again. */
  async function stage(
    frame: HubFrames["apply"],
    address: Address,
    holder: KubeObject | null,
    found: KubeObject | null,
  ): Promise<Staged | null> {
    const name = companionName(address);
    if (name === null) return null;
    const companion = found && (await keptFor(holder, found));
    const content = encoded(frame.body.secret);
    const before = contentsOf(companion);
    const keyBefore = (holder && secretKeyOf(holder)) ?? "";
    if (companion && before[keyBefore] === content) return { frame, name, key: keyBefore, content, companion };
    const key = frame.hash;
    const contents = { ...(keyBefore in before ? { [keyBefore]: before[keyBefore] ?? "" } : {}), [key]: content };
    const written = await kube.apply(companionOf(name, frame, clusterId, contents, holder), options);
    return { frame, name, key, content, companion: written };
  }

  /** One that is left of an earlier resource is about to be collected, with all that is written into it. */
  async function keptFor(holder: KubeObject | null, found: KubeObject): Promise<KubeObject | null> {
    const { name, namespace, uid, ownerReferences = [] } = found.metadata;
    if (ownerReferences.every((owner) => owner.uid === holder?.metadata.uid)) return found;
    await kube.delete(SECRETS, name, namespace, uid ? { preconditions: { uid } } : {});
    return null;
  }

  async function settle({ frame, name, key, content, companion }: Staged, owner: KubeObject): Promise<void> {
    const isOwned = companion.metadata.ownerReferences?.some(({ uid }) => uid === owner.metadata.uid) === true;
    const isAlone = Object.keys(contentsOf(companion)).every((kept) => kept === key);
    if (isOwned && isAlone) return;
    await kube.apply(companionOf(name, frame, clusterId, { [key]: content }, owner), options);
  }

  return { stage, settle };
}
