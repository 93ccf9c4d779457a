import { type DetachRequest, INFRASTRUCTURE_LIMITS, type LeftObject } from "@binnacle/contract";
import type { DesiredStore, Refusal } from "../desired/desired-state.ts";
import { finalize } from "../desired/finalizer.adapter.ts";
import { isOurs, ownSelector } from "../desired/ownership.ts";
import { addressOfCompanion, addressOfHolder, type StoredKind } from "../desired/stored-kind.ts";
import { CHARTS_ACCOUNT } from "../helm/rights.ts";
import type { InformerLog } from "../kube/informer.adapter.ts";
import type { KubeClient, KubeObject, ResourceType } from "../kube/kube-client.ts";
import { KubeError } from "../kube/kube-error.ts";
import { DESIRED_SECRET_TYPE, DESIRED_SECRETS, NAMESPACES, PROJECTS, SECRETS } from "../kube/resource-types.ts";
import { ROLE_BINDINGS } from "../kube/role-binding.ts";
import type { Clock } from "../kube/work-queue.ts";
import { OPERATORS_BINDING, type ProjectRights } from "../project/project-rights.store.ts";
import { heldText, leftAs, mayRelease, RELEASED_TYPES, releasePatch } from "./detach.ts";

export interface DetachPorts {
  readonly kube: KubeClient;
  readonly kinds: readonly StoredKind[];
  readonly clusterId: string;
  /** Where the operator itself lives. What it has there goes with its chart. */
  readonly namespace: string;
  readonly projectRights: ProjectRights;
  readonly store: Pick<DesiredStore, "remember">;
  readonly clock: Clock;
  readonly log: InformerLog;
  /** Ends all reconciling, and waits for what is under way, steps of Helm too. */
  finishWork(): Promise<void>;
}

export interface Detachment {
  readonly isUnderWay: boolean;
  /** Goes on where an operator that was ended before has begun. */
  resume(): void;
  answer(request: DetachRequest): Promise<{ readonly left: LeftObject[] }>;
  /** The store, which takes nothing any more once the cluster is being let go. */
  guarded<S extends Pick<DesiredStore, "apply" | "remove">>(store: S): S;
}

const AT_ONCE = 8;
const REFUSAL: Refusal = {
  code: "unable",
  message: "The cluster is being detached: nothing on it is changed any more.",
};

/** Lets go of everything on the cluster, for good. Each pass does what is left, so it may be interrupted at any point. */
export function createDetachment(ports: DetachPorts): Detachment {
  const { store, clock, log, finishWork } = ports;
  let isUnderWay = false;
  let left: readonly LeftObject[] | null = null;
  let pass: Promise<void> | null = null;
  /** Frames of the hub that are being stored. One that waits for its namespace could write after everything was let go of. */
  const storing = new Set<Promise<unknown>>();

  async function unlessUnderWay(store: () => Promise<Refusal | null>): Promise<Refusal | null> {
    if (isUnderWay) return REFUSAL;
    const stored = store();
    storing.add(stored);
    try {
      return await stored;
    } finally {
      storing.delete(stored);
    }
  }

  function begin(): Promise<void> {
    isUnderWay = true;
    pass ??= work().finally(() => {
      pass = null;
    });
    return pass;
  }

  async function work(): Promise<void> {
    try {
      // Before anything else: an operator that is started again must not take back what was let go.
      await store.remember({ isDetaching: true });
      await Promise.all([finishWork(), Promise.allSettled(storing)]);
      left = await letGo(ports);
      log.info({ left: left.length }, "the operator has let go of what it manages");
    } catch (err) {
      log.warn({ err }, "the operator could not let go of everything; it is tried again when the hub asks");
      left = [leftAs("Cluster", { name: ports.clusterId }, err instanceof Error ? err.message : String(err))];
    }
  }

  return {
    get isUnderWay() {
      return isUnderWay;
    },
    resume: () => void begin(),
    async answer({ timeout_seconds }) {
      if (left?.length !== 0) {
        const late = new Promise<"late">((resolve) => clock.after(timeout_seconds * 1_000, () => resolve("late")));
        const isLate = (await Promise.race([begin(), late])) === "late";
        if (isLate) return { left: [leftAs("Cluster", { name: ports.clusterId }, "The operator is at work on it.")] };
      }
      return { left: (left ?? []).slice(0, INFRASTRUCTURE_LIMITS.left) };
    },
    guarded: (given) => ({
      ...given,
      apply: (frame) => unlessUnderWay(() => given.apply(frame)),
      remove: (frame) => unlessUnderWay(() => given.remove(frame)),
    }),
  };
}

/** What is in a namespace goes before the namespace, and that before its project: so each step still has the rights that it needs. */
async function letGo(ports: DetachPorts): Promise<LeftObject[]> {
  const { kube, kinds, clusterId, namespace: ownNamespace, projectRights } = ports;
  const left: LeftObject[] = [];
  const labelSelector = ownSelector(clusterId);
  const patch = releasePatch(clusterId);

  async function attempt(kind: string, { metadata }: KubeObject, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      if (error.status !== 404) left.push(leftAs(kind, metadata, error.message));
    }
  }

  async function each(type: ResourceType, work: (object: KubeObject) => Promise<unknown>, fieldSelector?: string) {
    const selected = { labelSelector, isMetadataOnly: true, ...(fieldSelector ? { fieldSelector } : {}) };
    const { items } = await kube.list(type, selected);
    const own = items.filter(({ metadata }) => metadata.namespace !== ownNamespace);
    for (let at = 0; at < own.length; at += AT_ONCE) {
      const some = own.slice(at, at + AT_ONCE);
      await Promise.all(some.map((object) => attempt(type.kind, object, () => work(object))));
    }
  }

  /** Without its finalizer first: nobody cleans up after a holder that is deleted without one. */
  async function removeHolder(kind: StoredKind, holder: KubeObject): Promise<void> {
    const { name, namespace, uid } = holder.metadata;
    await finalize(kube, kind, holder);
    await kube.delete(kind.holder, name, namespace, uid ? { preconditions: { uid } } : {});
    const kept = await kube.get(kind.holder, name, namespace);
    if (kept?.metadata.uid === uid && kept)
      left.push(leftAs(kind.holder.kind, kept.metadata, heldText(kept.metadata.finalizers ?? [])));
  }

  /** Whoever writes Secrets in a project can give one our type and labels. Only by its name it is ours, and no other one holds a detach. */
  async function removeStored(secret: KubeObject): Promise<void> {
    const { name, namespace, uid, finalizers = [] } = secret.metadata;
    const held = addressOfHolder(kinds, SECRETS, secret.metadata);
    if (held) return removeHolder(held.kind, secret);
    // Its custom resource is gone, or it would be too.
    if (addressOfCompanion(kinds, secret.metadata) && finalizers.length === 0)
      await kube.delete(SECRETS, name, namespace, uid ? { preconditions: { uid } } : {});
    else await kube.patch(SECRETS, name, namespace, patch, { kind: "merge" });
  }

  async function releaseNamespace({ metadata: { name } }: KubeObject): Promise<void> {
    if (!mayRelease(name, left)) return;
    await removeBinding(kube, clusterId, CHARTS_ACCOUNT, name);
    await kube.patch(NAMESPACES, name, null, patch, { kind: "merge" });
    // The last of its rights there.
    await removeBinding(kube, clusterId, OPERATORS_BINDING, name);
  }

  await each(NAMESPACES, ({ metadata: { name } }) => projectRights.ready(name));
  for (const type of RELEASED_TYPES) {
    const release = ({ metadata: { name, namespace } }: KubeObject) =>
      kube.patch(type, name, namespace, patch, { kind: "merge" });
    await each(type, release, type.kind === "Secret" ? `type!=${DESIRED_SECRET_TYPE}` : undefined);
  }
  for (const kind of kinds.filter(({ holder }) => holder !== PROJECTS && holder !== SECRETS))
    await each(kind.holder, (holder) => removeHolder(kind, holder));
  await each(SECRETS, removeStored, DESIRED_SECRETS);
  await each(NAMESPACES, releaseNamespace);
  const projectKind = kinds.find(({ holder }) => holder === PROJECTS);
  if (projectKind)
    await each(PROJECTS, async (holder) => {
      const { name } = holder.metadata;
      const namespace = await kube.get(NAMESPACES, name);
      if (namespace && isOurs(namespace, clusterId)) return;
      // An operator that was ended after the namespace was let go has left it.
      await removeBinding(kube, clusterId, OPERATORS_BINDING, name);
      await removeHolder(projectKind, holder);
    });
  return left;
}

async function removeBinding(kube: KubeClient, clusterId: string, name: string, namespace: string): Promise<void> {
  const found = await kube.get(ROLE_BINDINGS, name, namespace);
  if (found && isOurs(found, clusterId)) await kube.delete(ROLE_BINDINGS, name, namespace);
}
