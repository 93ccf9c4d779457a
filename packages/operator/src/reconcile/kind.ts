import type { DesiredKind, Gone, LinkSettings, Reports } from "@binnacle/contract";
import type { DesiredView, StoredResource } from "../desired/desired-state.ts";
import type { StoredKind } from "../desired/stored-kind.ts";
import type { InformerLog } from "../kube/informer.adapter.ts";
import type { KubeClient, KubeObject, ResourceType } from "../kube/kube-client.ts";
import type { KubeError } from "../kube/kube-error.ts";
import type { Clock } from "../kube/work-queue.ts";
import type { StatusSink } from "../link/ports.ts";
import type { ProjectRights } from "../project/project-rights.store.ts";
import type { ChangeTraces } from "./change-traces.ts";
import type { ReconcileMetrics } from "./metrics.ts";

/** The ports that reconciling needs for any kind. A kind names what it needs beyond them in the type of its own ports. */
export interface ReconcilerPorts {
  readonly kube: KubeClient;
  readonly view: DesiredView;
  readonly sink: StatusSink;
  readonly clock: Clock;
  readonly log: InformerLog;
  readonly clusterId: string;
  readonly projectRights: ProjectRights;
  readonly traces?: Pick<ChangeTraces, "reconciling">;
  readonly metrics?: ReconcileMetrics;
  /** Wall-clock time in milliseconds. */
  readonly nowMs: () => number;
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
  /** The metadata of the objects of a watched type that the informer has seen. */
  cached(type: ResourceType): readonly KubeObject[];
  /** The metadata of one of them, by the name that it has in the cluster; null where it was not seen. */
  seen(object: KubeObject): KubeObject | null;
  /** The holder as it is after a write of ours. Without this call it is read again before the next run. */
  wrote(key: string, holder: KubeObject): void;
}

/** Objects in the cluster whose changes reconcile a resource. Only their metadata is read. */
export interface Watch {
  readonly type: ResourceType;
  readonly labelSelector: string;
  /** The labels that are kept of an object; none without it. */
  readonly labels?: readonly string[];
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
  /** What the kind keeps in the status of the custom resource, besides what every kind reports there. */
  readonly status?: Readonly<Record<string, unknown>>;
  /** Called once the status is written and reported. */
  readonly onReported?: () => void;
  /** When to reconcile again even if nothing changes; null for never. */
  readonly requeueAfterMs: number | null;
}

/** How the resources of one kind are reconciled. */
export interface KindReconciler<K extends DesiredKind = DesiredKind> {
  readonly firstRetryMs: number;
  readonly concurrency?: number;
  /** A run reads the holder's status. It is read from the API server where the cached one may be older than our last write. */
  readonly readsStatus: boolean;
  readonly watches: readonly Watch[];
  /** Subscribes to further events; returns the functions that end the subscriptions. */
  subscribe?(): readonly (() => void)[];
  /** Brings the cluster to the desired state. */
  apply(found: Found<K>): Promise<Pass<K>>;
  /** Says how a resource stands that is suspended, and changes nothing but its status; also where it is being deleted. */
  observe(found: Found<K>): Promise<Pass<K>>;
  /** Cleans up after a resource that is being deleted, and finalizes it once nothing is left. */
  remove(found: Found<K>): Promise<Pass<K>>;
  /** The report on an answer of the API server that a retry will not change, or that comes again and again; null for none. */
  rejected(found: Found<K>, error: KubeError, reason: "RefusedByCluster" | "ClusterError"): Reports[K] | null;
  /** The resource is gone, or not ours. */
  forget?(key: string): void;
  /** Takes new settings. True where every resource has to be reconciled because of them. */
  settings?(settings: LinkSettings): boolean;
}

/** A resource and the object that holds it. */
export interface Found<K extends DesiredKind = DesiredKind> {
  readonly resource: StoredResource<K>;
  /** It may be a version newer than the resource, for its status. */
  readonly holder: KubeObject;
  /** The generation in the holder's metadata that the resource was read from. */
  readonly observedGeneration: number | undefined;
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
        const found = { resource, holder, observedGeneration: holder.metadata.generation };
        if (resource.isDeleting) deleting.set(key, found);
        else deleting.delete(key);
        return found;
      }
      return holder ? null : (deleting.get(key) ?? null);
    },
    forget: (key) => void deleting.delete(key),
  };
}
