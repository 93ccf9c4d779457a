import { ANNOTATIONS, FINALIZER, type HubFrames } from "@binnacle/contract";
import type { ApplyOptions, KubeClient, KubeObject, ResourceType } from "../kube/kube-client.ts";
import { KubeError } from "../kube/kube-error.ts";
import { NAMESPACES, SECRETS } from "../kube/resource-types.ts";
import type { Clock } from "../kube/work-queue.ts";
import type { StatusSink } from "../link/ports.ts";
import type { ProjectRights } from "../project/project-rights.store.ts";
import {
  companionOf,
  contentsOf,
  encoded,
  holderOf,
  LARGEST_SECRET_BYTES,
  secretKeyOf,
  storedIn,
  versionIn,
} from "./custom-resource.ts";
import type { DesiredStore, Refusal } from "./desired-state.ts";
import { isDeleting, isOurs, resourceIdOf } from "./ownership.ts";
import { createSessionStateStore } from "./session-state.store.ts";
import {
  decideApply,
  decideRemoval,
  faultIn,
  rejectionByNamesake,
  rejectionByNamespace,
  rejectionOf,
  unable,
} from "./store-decision.ts";
import { type Address, addressOf, companionName, type StoredKind } from "./stored-kind.ts";

export interface DesiredStorePorts {
  readonly kube: KubeClient;
  readonly kinds: readonly StoredKind[];
  readonly clusterId: string;
  /** Where the operator itself lives. */
  readonly namespace: string;
  readonly sink: StatusSink;
  readonly projectRights: ProjectRights;
  readonly clock: Clock;
  /** How long a resource waits for the namespace that its project is about to make. */
  readonly namespaceWaitMs?: number;
}

const LINK_MANAGER = "binnacle-link";
/** The hub is the only owner of stored desired state, so conflicts are overruled. */
const WRITING = { fieldManager: LINK_MANAGER, force: true } as const;
/** Stands for the hash of a resource that somebody has made unreadable. */
const NO_HASH = "0".repeat(64);
const NAMESPACE_WAIT_MS = 8_000;
const NAMESPACE_LOOK_MS = 200;
/** Somebody writes a status meanwhile; more often than this is not by chance. */
const TRIES = 5;

export function createDesiredStore(ports: DesiredStorePorts): DesiredStore {
  const { kube, kinds, clusterId, sink, projectRights, clock, namespaceWaitMs = NAMESPACE_WAIT_MS } = ports;
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
    const rejection = rejectionByNamesake(held, clusterId) ?? rejectionByNamesake(companion, clusterId);
    if (rejection) return reportedTo(sink, rejection, frame, address.kind);
    const isWhole = held !== null && storedIn(address, held, companion) !== null;
    const decision = decideApply(frame, held, isWhole);
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

  /** Somebody has deleted the Project but not its namespace, which still belongs to Binnacle. */
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

    async apply(frame) {
      const kind = kindOf(frame);
      const address = addressOf(kind, frame.key);
      const fault = faultIn(frame, kind);
      if (!address || fault) return fault;
      try {
        const { spec } = frame.body;
        const rejection = "project_id" in spec ? await namespaceRejection(spec.namespace, spec.project_id) : null;
        if (rejection) return rejection;
        if (kind.holder.namespaced) await projectRights.ready(spec.namespace);
        return await store(frame, address);
      } catch (error) {
        if (error instanceof KubeError && error.status === 403) projectRights.doubt(address.namespace);
        return rejectionOf(error);
      }
    },

    async remove(frame) {
      const address = addressOf(kindOf(frame), frame.key);
      if (!address) return { code: "invalid", message: `${frame.key} is not a key of the kind ${frame.kind}.` };
      try {
        return await remove(frame, address);
      } catch (error) {
        return rejectionOf(error);
      }
    },
  };
}

/** Nothing of the resource is on the cluster, so no reconciler would report why. */
function reportedTo(sink: StatusSink, rejection: Refusal, frame: HubFrames["apply"], kind: StoredKind): Refusal {
  sink.report(frame.kind, frame, kind.nameTaken(rejection.message));
  return rejection;
}

/** Refused by the cluster when the object has changed since it was read. */
function asReadIn(held: KubeObject | null, object: KubeObject): KubeObject {
  const { uid, resourceVersion } = held?.metadata ?? {};
  if (!uid || !resourceVersion) return object;
  return { ...object, metadata: { ...object.metadata, uid, resourceVersion } };
}

const bytesOf = (content: string): number => Buffer.byteLength(content, "base64");

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
    const earlier = before[keyBefore] ?? "";
    // Without the earlier content the resource is ignored until the custom resource turns to the new one, or the hub sends it again.
    const isRoomForBoth = bytesOf(earlier) + bytesOf(content) <= LARGEST_SECRET_BYTES;
    const contents = { ...(earlier !== "" && isRoomForBoth ? { [keyBefore]: earlier } : {}), [key]: content };
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
