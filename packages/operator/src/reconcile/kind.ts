import type { DesiredKind, Gone, LinkSettings, Reports } from "@binnacle/contract";
import type { DesiredView, StoredResource } from "../desired/desired-state.ts";
import type { StoredKind } from "../desired/stored-kind.ts";
import type { InformerLog } from "../kube/informer.adapter.ts";
import type { KubeClient, KubeObject, ResourceType } from "../kube/kube-client.ts";
import type { KubeError } from "../kube/kube-error.ts";
import type { Clock } from "../kube/work-queue.ts";
import type { StatusSink } from "../link/ports.ts";
import type { ChangeTraces } from "./change-traces.ts";

/** The ports that reconciling needs for any kind. A kind names what it needs beyond them in the type of its own ports. */
export interface ReconcilerPorts {
  readonly kube: KubeClient;
  readonly view: DesiredView;
  readonly sink: StatusSink;
  readonly clock: Clock;
  readonly log: InformerLog;
  readonly clusterId: string;
  readonly traces?: Pick<ChangeTraces, "reconciling">;
}

/**
 * A kind of resource that the hub dispatches to this cluster. Each slice exports one such value, and `kinds.ts` lists them.
 * `reconciler` is declared as a method, so that kinds with different ports fit into one list.
 */
export interface DispatchedKind<K extends DesiredKind = DesiredKind, P extends ReconcilerPorts = ReconcilerPorts>
  extends StoredKind<K> {
  reconciler(ports: P, work: Work): KindReconciler<K>;
}

/** The queue of a kind, as its description uses it. Nothing is queued before the reconciler has started. */
export interface Work {
  /** Reconciles the resource soon, or after this time. */
  enqueue(key: string, afterMs?: number): void;
  /** Reconciles all resources of the kind in a namespace. */
  enqueueIn(namespace: string): void;
  /** The objects of a watched type that the informer has seen. */
  cached(type: ResourceType): readonly KubeObject[];
}

/** Objects in the cluster whose changes reconcile a resource. */
export interface Watch {
  readonly type: ResourceType;
  readonly labelSelector: string;
  /** Reduces an object to what is needed of it, which saves memory in large clusters. */
  readonly trim?: (object: KubeObject) => KubeObject;
  /** Waits this long, so that many changes in a moment cause one run. */
  readonly afterMs?: number;
  /** The key of the resource to reconcile; null for none. The name is that of an informer: `namespace/name` or `name`. */
  keyOf(name: string, object: KubeObject | null, before: KubeObject | undefined): string | null;
}

/** The result of reconciling one resource once. */
export interface Pass<K extends DesiredKind = DesiredKind> {
  /** Null where there is nothing to report yet. */
  readonly report: Reports[K] | Gone | null;
  /** The generation that the report is about, where it is not that of the resource as it was found. */
  readonly generation?: number | null;
  /** When to reconcile again even if nothing changes; null for never. */
  readonly requeueAfterMs: number | null;
}

/** How the resources of one kind are reconciled. */
export interface KindReconciler<K extends DesiredKind = DesiredKind> {
  readonly firstRetryMs: number;
  readonly concurrency?: number;
  /** The holder's status is read from the API server before each run, because the cached one may be older than our last write. */
  readonly readsStatus: boolean;
  readonly watches: readonly Watch[];
  /** Subscribes to further events; returns the functions that end the subscriptions. */
  subscribe?(): readonly (() => void)[];
  /** Brings the cluster to the desired state. */
  apply(found: Found<K>): Promise<Pass<K>>;
  /** Cleans up after a resource that is being deleted, and finalizes it once nothing is left. */
  remove(found: Found<K>): Promise<Pass<K>>;
  /** The report on an answer of the API server that a retry will not change; null for none. */
  rejected(found: Found<K>, error: KubeError): Reports[K] | null;
  /** The resource is gone, or not ours. */
  forget?(key: string): void;
  /** Takes new settings. True where every resource has to be reconciled because of them. */
  settings?(settings: LinkSettings): boolean;
}

/** A resource and the object that holds it. */
export interface Found<K extends DesiredKind = DesiredKind> {
  readonly resource: StoredResource<K>;
  readonly holder: KubeObject;
}

/**
 * Finds resources of one kind. A resource that was being deleted is found also after its holder is gone, whoever removed the
 * last finalizer: its absence still has to be confirmed and reported.
 */
export interface Finder<K extends DesiredKind> {
  find(key: string): Found<K> | null;
  /** Call once the absence is reported. */
  forget(key: string): void;
}

export function createFinder<K extends DesiredKind>(view: Pick<DesiredView, "get" | "holder">, kind: K): Finder<K> {
  const deleting = new Map<string, Found<K>>();
  return {
    find(key) {
      const resource = view.get(kind, key);
      const holder = view.holder(kind, key);
      if (resource && holder) {
        const found = { resource, holder };
        if (resource.isDeleting) deleting.set(key, found);
        else deleting.delete(key);
        return found;
      }
      return holder ? null : (deleting.get(key) ?? null);
    },
    forget: (key) => void deleting.delete(key),
  };
}
