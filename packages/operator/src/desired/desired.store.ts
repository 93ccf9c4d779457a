import { ANNOTATIONS, FINALIZER, type HubFrames, type InventoryEntry } from "@binnacle/contract";
import type { ApplyOptions, KubeClient, KubeObject, ResourceType } from "../kube/kube-client.ts";
import { KubeError } from "../kube/kube-error.ts";
import { DESIRED_SECRETS, NAMESPACES, SECRETS } from "../kube/resource-types.ts";
import type { Clock } from "../kube/work-queue.ts";
import type { StatusSink } from "../link/ports.ts";
import { companionOf, contentsOf, encoded, holderOf, secretKeyOf, storedIn, versionIn } from "./custom-resource.ts";
import type { DesiredStore, Refusal } from "./desired-state.ts";
import { isDeleting, isOurs, ownSelector, resourceIdOf } from "./ownership.ts";
import { createSessionStateStore } from "./session-state.store.ts";
import { decideApply, decideRemoval, faultIn, rejectionByNamespace, rejectionOf, unable } from "./store-decision.ts";
import { type Address, addressOf, addressOfHolder, companionName, type StoredKind } from "./stored-kind.ts";

export interface DesiredStorePorts {
  readonly kube: KubeClient;
  readonly kinds: readonly StoredKind[];
  readonly clusterId: string;
  /** Where the operator itself lives. */
  readonly namespace: string;
  readonly sink: StatusSink;
  readonly clock: Clock;
  /** How long a resource waits for the namespace that its project is about to make. */
  readonly namespaceWaitMs?: number;
}

const LINK_MANAGER = "binnacle-link";
/** The hub is the only owner of stored desired state, so conflicts are overruled. */
const WRITING = { fieldManager: LINK_MANAGER, force: true } as const;
/** Of what somebody has made unreadable. */
const NO_HASH = "0".repeat(64);
const NAMESPACE_WAIT_MS = 8_000;
const NAMESPACE_LOOK_MS = 200;
/** Somebody writes a status meanwhile; more often than this is no accident. */
const TRIES = 5;

export function createDesiredStore(ports: DesiredStorePorts): DesiredStore {
  const { kube, kinds, clusterId, sink, clock, namespaceWaitMs = NAMESPACE_WAIT_MS } = ports;
  const companions = createCompanions(kube, clusterId, WRITING);

  function kindOf({ kind: name }: HubFrames["apply" | "remove"]): StoredKind {
    const kind = kinds.find((one) => one.kind === name);
    if (!kind) throw new Error(`The operator has no description of the kind ${name}.`);
    return kind;
  }

  const heldAt = ({ kind, namespace, name }: Address) => kube.get(kind.holder, name, namespace);

  /** The namespace is made by its project's reconciler, which may be a moment behind. */
  async function namespaceRejection(name: string, projectId: string): Promise<Refusal | null> {
    const untilMs = clock.now() + namespaceWaitMs;
    for (;;) {
      const namespace = await kube.get(NAMESPACES, name);
      if (namespace) return rejectionByNamespace(namespace, projectId, clusterId);
      if (clock.now() >= untilMs) return unable(`There is no namespace ${name} on the cluster yet.`);
      await new Promise<void>((resolve) => clock.after(NAMESPACE_LOOK_MS, resolve));
    }
  }

  async function tryStore(frame: HubFrames["apply"], address: Address): Promise<Refusal | null> {
    const held = await heldAt(address);
    const name = companionName(address);
    const companion = name === null ? null : await kube.get(SECRETS, name, address.namespace);
    if (companion && !isOurs(companion, clusterId)) {
      return unable(`The Secret ${name} in ${address.namespace} does not belong to Binnacle.`);
    }
    const isWhole = held !== null && storedIn(address, held, companion) !== null;
    const decision = decideApply(frame, held, isWhole, clusterId);
    if (decision.do === "refuse") return decision.refusal;

    const staged = await companions.stage(frame, address, held, companion);
    const object = holderOf(frame, address, clusterId, staged?.key ?? null);
    const isStored = decision.do === "nothing" && held !== null;
    const written = isStored ? held : await kube.apply(asReadIn(held, object), WRITING);
    if (staged) await companions.applySettings(staged, written);
    return null;
  }

  async function store(frame: HubFrames["apply"], address: Address): Promise<Refusal | null> {
    for (let left = TRIES; ; left -= 1) {
      try {
        return await tryStore(frame, address);
      } catch (error) {
        if (left === 1 || !(error instanceof KubeError && error.status === 409)) throw error;
      }
    }
  }

  /** The removal's own generation is what its end is reported with, by whoever sees it. */
  async function beginRemoval(type: ResourceType, held: KubeObject, frame: HubFrames["remove"]): Promise<void> {
    const { resource_id, generation } = frame;
    const { name, namespace, uid, finalizers = [] } = held.metadata;
    const isGuarded = isDeleting(held) || finalizers.includes(FINALIZER);
    const metadata = {
      annotations: {
        [ANNOTATIONS.resourceId]: resource_id,
        [ANNOTATIONS.generation]: String(generation),
        [ANNOTATIONS.hash]: versionIn(held)?.hash ?? NO_HASH,
      },
      ...(isGuarded ? {} : { finalizers: [...finalizers, FINALIZER] }),
    };
    const options = { kind: "merge", fieldManager: LINK_MANAGER } as const;
    if (!isGuarded || versionIn(held)?.generation !== generation) {
      await kube.patch(type, name, namespace, { metadata }, options);
    }
    if (!isDeleting(held)) await kube.delete(type, name, namespace, uid ? { preconditions: { uid } } : {});
  }

  /** Somebody has taken the project away without its namespace, which is ours all the same. */
  async function removeOrphan({ resource_id }: HubFrames["remove"], name: string): Promise<Refusal | null> {
    const namespace = await kube.get(NAMESPACES, name);
    if (!namespace || !isOurs(namespace, clusterId) || resourceIdOf(namespace) !== resource_id) return null;
    const { uid } = namespace.metadata;
    if (!isDeleting(namespace)) await kube.delete(NAMESPACES, name, null, uid ? { preconditions: { uid } } : {});
    return unable(`The namespace ${name} is still being deleted.`);
  }

  async function remove(frame: HubFrames["remove"], address: Address): Promise<Refusal | null> {
    const held = await heldAt(address);
    const decision = decideRemoval(frame, held, clusterId);
    if (typeof decision === "object") return decision;
    if (decision === "remove" && held) {
      await beginRemoval(address.kind.holder, held, frame);
      return null;
    }
    const refusal = frame.kind === "project" ? await removeOrphan(frame, address.namespace) : null;
    const { key, resource_id, generation } = frame;
    if (!refusal) sink.report(frame.kind, { key, resource_id, generation }, { state: "gone" });
    return refusal;
  }

  return {
    ...createSessionStateStore(ports),

    async inventory() {
      const labelSelector = ownSelector(clusterId);
      const types = [...new Set(kinds.map(({ holder }) => holder))].filter((type) => type !== SECRETS);
      const [secrets, ...custom] = await Promise.all([
        kube.list(SECRETS, { labelSelector, fieldSelector: DESIRED_SECRETS }),
        ...types.map((type) => kube.list(type, { labelSelector })),
      ]);
      const byName = new Map(
        secrets.items.map((secret) => [`${secret.metadata.namespace}/${secret.metadata.name}`, secret]),
      );
      return [...custom.flatMap(({ items }) => items), ...secrets.items].flatMap((holder): InventoryEntry[] => {
        const address = addressOfHolder(kinds, holder, holder.metadata);
        const companion = address && byName.get(`${address.namespace}/${companionName(address)}`);
        const stored = address && storedIn(address, holder, companion ?? null);
        if (!stored || stored.isDeleting) return [];
        const { key, resource_id, generation, hash } = stored;
        return [{ key, resource_id, generation, hash }];
      });
    },

    async apply(frame) {
      const kind = kindOf(frame);
      const address = addressOf(kind, frame.key);
      const fault = faultIn(frame, kind);
      if (!address || fault) return fault;
      try {
        const { spec } = frame.body;
        const rejection = "project_id" in spec ? await namespaceRejection(spec.namespace, spec.project_id) : null;
        return rejection ?? (await store(frame, address));
      } catch (error) {
        return rejectionOf(error);
      }
    },

    async remove(frame) {
      const address = addressOf(kindOf(frame), frame.key);
      if (!address) return { code: "invalid", message: `${frame.key} is no key of the kind ${frame.kind}.` };
      try {
        return await remove(frame, address);
      } catch (error) {
        return rejectionOf(error);
      }
    },
  };
}

/** Refused by the cluster when the object has changed since it was read. */
function asReadIn(held: KubeObject | null, object: KubeObject): KubeObject {
  const { uid, resourceVersion } = held?.metadata ?? {};
  if (!uid || !resourceVersion) return object;
  return { ...object, metadata: { ...object.metadata, uid, resourceVersion } };
}

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
function createCompanions(kube: Pick<KubeClient, "apply" | "delete">, clusterId: string, options: ApplyOptions) {
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

  async function applySettings({ frame, name, key, content, companion }: Staged, owner: KubeObject): Promise<void> {
    const isOwned = companion.metadata.ownerReferences?.some(({ uid }) => uid === owner.metadata.uid) === true;
    const isAlone = Object.keys(contentsOf(companion)).every((kept) => kept === key);
    if (isOwned && isAlone) return;
    await kube.apply(companionOf(name, frame, clusterId, { [key]: content }, owner), options);
  }

  return { stage, applySettings };
}
