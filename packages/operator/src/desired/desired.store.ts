import { ANNOTATIONS, FINALIZER, type HubFrames, type InventoryEntry } from "@binnacle/contract";
import type { KubeClient, KubeObject } from "../kube/kube-client.ts";
import { KubeError } from "../kube/kube-error.ts";
import type { Clock } from "../kube/work-queue.ts";
import type { StatusSink } from "../link/status-sink.ts";
import { type Address, addressOf, companionName } from "./address.ts";
import { createCompanions } from "./companion.store.ts";
import { addressOfHolder, entryIn, holderOf, storedIn } from "./custom-resource.ts";
import type { DesiredStore, Refusal } from "./desired-store.ts";
import { createMemory } from "./memory.store.ts";
import { isLeaving, isOurs, ownSelector, resourceIdOf } from "./ownership.ts";
import { refusalFor } from "./refusal.ts";
import { DESIRED_SECRETS, HOLDERS, NAMESPACES, SECRETS } from "./resource-types.ts";
import { decideApply, decideRemoval, faultIn, objectionTo, unable } from "./store-decision.ts";

export interface DesiredStorePorts {
  readonly kube: KubeClient;
  readonly clusterId: string;
  /** Where the operator itself lives. */
  readonly namespace: string;
  readonly sink: StatusSink;
  readonly clock: Clock;
  /** How long a resource waits for the namespace that its project is about to make. */
  readonly namespaceWaitMs?: number;
}

const LINK_MANAGER = "binnacle-link";
/** Nobody else has a say in what the hub has told. */
const WRITING = { fieldManager: LINK_MANAGER, force: true } as const;
/** Of what somebody has made unreadable. */
const NO_HASH = "0".repeat(64);
const NAMESPACE_WAIT_MS = 8_000;
const NAMESPACE_LOOK_MS = 200;
/** Somebody writes a status meanwhile; more often than this is no accident. */
const TRIES = 5;

export function createDesiredStore(ports: DesiredStorePorts): DesiredStore {
  const { kube, clusterId, sink, clock, namespaceWaitMs = NAMESPACE_WAIT_MS } = ports;
  const companions = createCompanions(kube, clusterId, WRITING);

  const heldAt = ({ kind, namespace, name }: Address) => kube.get(HOLDERS[kind], name, namespace);

  /** The namespace is made by its project's reconciler, which may be a moment behind. */
  async function objectionToNamespace(name: string, projectId: string): Promise<Refusal | null> {
    const untilMs = clock.now() + namespaceWaitMs;
    for (;;) {
      const namespace = await kube.get(NAMESPACES, name);
      if (namespace) return objectionTo(namespace, projectId, clusterId);
      if (clock.now() >= untilMs) return unable(`There is no namespace ${name} on the cluster yet.`);
      await new Promise<void>((resolve) => clock.after(NAMESPACE_LOOK_MS, resolve));
    }
  }

  async function tryStore(frame: HubFrames["apply"], address: Address): Promise<Refusal | null> {
    const held = await heldAt(address);
    const name = companionName(address);
    const companion = name === null ? null : await kube.get(SECRETS, name, address.namespace);
    if (companion && !isOurs(companion, clusterId)) {
      return unable(`The Secret ${name} in ${address.namespace} is not Binnacle's.`);
    }
    const isWhole = held !== null && storedIn(held, companion) !== null;
    const decision = decideApply(frame, held, isWhole, clusterId);
    if (decision.do === "refuse") return decision.refusal;

    const staged = await companions.stage(frame, address, held, companion);
    const object = holderOf(frame, address, clusterId, staged?.key ?? null);
    const isStored = decision.do === "nothing" && held !== null;
    const written = isStored ? held : await kube.apply(asReadIn(held, object), WRITING);
    if (staged) await companions.settle(staged, written);
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
  async function beginRemoval(held: KubeObject, frame: HubFrames["remove"]): Promise<void> {
    const { kind, resource_id, generation } = frame;
    const { name, namespace, uid, finalizers = [] } = held.metadata;
    const isGuarded = isLeaving(held) || finalizers.includes(FINALIZER);
    const metadata = {
      annotations: {
        [ANNOTATIONS.resourceId]: resource_id,
        [ANNOTATIONS.generation]: String(generation),
        [ANNOTATIONS.hash]: entryIn(held)?.hash ?? NO_HASH,
      },
      ...(isGuarded ? {} : { finalizers: [...finalizers, FINALIZER] }),
    };
    const options = { kind: "merge", fieldManager: LINK_MANAGER } as const;
    if (!isGuarded || entryIn(held)?.generation !== generation) {
      await kube.patch(HOLDERS[kind], name, namespace, { metadata }, options);
    }
    if (!isLeaving(held)) await kube.delete(HOLDERS[kind], name, namespace, uid ? { preconditions: { uid } } : {});
  }

  /** Somebody has taken the project away without its namespace, which is ours all the same. */
  async function removeOrphan({ resource_id }: HubFrames["remove"], name: string): Promise<Refusal | null> {
    const namespace = await kube.get(NAMESPACES, name);
    if (!namespace || !isOurs(namespace, clusterId) || resourceIdOf(namespace) !== resource_id) return null;
    const { uid } = namespace.metadata;
    if (!isLeaving(namespace)) await kube.delete(NAMESPACES, name, null, uid ? { preconditions: { uid } } : {});
    return unable(`The namespace ${name} is still being deleted.`);
  }

  async function remove(frame: HubFrames["remove"], address: Address): Promise<Refusal | null> {
    const held = await heldAt(address);
    const decision = decideRemoval(frame, held, clusterId);
    if (typeof decision === "object") return decision;
    if (decision === "remove" && held) {
      await beginRemoval(held, frame);
      return null;
    }
    const refusal = frame.kind === "project" ? await removeOrphan(frame, address.namespace) : null;
    const { key, resource_id, generation } = frame;
    if (!refusal) sink.report(frame.kind, { key, resource_id, generation }, { state: "gone" });
    return refusal;
  }

  return {
    ...createMemory(ports),

    async inventory() {
      const labelSelector = ownSelector(clusterId);
      const [projects, apps, addons, secrets] = await Promise.all([
        kube.list(HOLDERS.project, { labelSelector }),
        kube.list(HOLDERS.app, { labelSelector }),
        kube.list(HOLDERS.addon_instance, { labelSelector }),
        kube.list(SECRETS, { labelSelector, fieldSelector: DESIRED_SECRETS }),
      ]);
      const byName = new Map(
        secrets.items.map((secret) => [`${secret.metadata.namespace}/${secret.metadata.name}`, secret]),
      );
      return [...projects.items, ...apps.items, ...addons.items, ...secrets.items].flatMap(
        (holder): InventoryEntry[] => {
          const address = addressOfHolder(holder);
          const stored =
            address && storedIn(holder, byName.get(`${address.namespace}/${companionName(address)}`) ?? null);
          if (!stored || stored.isLeaving) return [];
          const { key, resource_id, generation, hash } = stored;
          return [{ key, resource_id, generation, hash }];
        },
      );
    },

    async apply(frame) {
      const address = addressOf(frame.kind, frame.key);
      const fault = faultIn(frame);
      if (!address || fault) return fault;
      try {
        const { spec } = frame.body;
        const objection = "project_id" in spec ? await objectionToNamespace(spec.namespace, spec.project_id) : null;
        return objection ?? (await store(frame, address));
      } catch (error) {
        return refusalFor(error);
      }
    },

    async remove(frame) {
      const address = addressOf(frame.kind, frame.key);
      if (!address) return { code: "invalid", message: `${frame.key} is no key of the kind ${frame.kind}.` };
      try {
        return await remove(frame, address);
      } catch (error) {
        return refusalFor(error);
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
