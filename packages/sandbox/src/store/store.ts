import type { KubeObject, ObjectDraft } from "./kube-object.ts";

/** A kind of objects as kubectl names it: `pods`, `deployments.apps`, `jobs.batch`. */
export type GroupResource = string;

export interface Selection {
  /** Without it, objects of all namespaces. */
  readonly namespace?: string;
  /** As in a query: `app=web,tier!=db`. */
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

export interface WriteOptions {
  /** The field manager; `kube-controller-manager` by default. */
  readonly manager?: string;
  readonly dryRun?: boolean;
}

export interface DeleteOptions {
  readonly propagation?: "Background" | "Foreground" | "Orphan";
  /** 0 removes a pod at once; without it, a pod has the grace of its spec. */
  readonly gracePeriodSeconds?: number;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly dryRun?: boolean;
}

export interface StoreEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly resource: GroupResource;
  /** As it is now, or as it was last. */
  readonly object: KubeObject;
  /** As it was before; null for a new object. */
  readonly previous: KubeObject | null;
}

/**
 * The cluster as its controllers see it: the same defaulting, validation, versions and field managers as over HTTP,
 * without the way over HTTP. A refusal is thrown as an `ApiFault` with the status and reason of the HTTP answer.
 * Nothing here waits, so what was read is still true when the next line writes.
 */
export interface Store {
  /** Null when there is none. `namespace` is left out for objects of the whole cluster. */
  get(resource: GroupResource, name: string, namespace?: string): KubeObject | null;
  list(resource: GroupResource, selection?: Selection): readonly KubeObject[];
  create(resource: GroupResource, object: ObjectDraft, options?: WriteOptions): KubeObject;
  /** Replaces all but the status; a `resourceVersion` in the object must be the newest one. */
  update(resource: GroupResource, object: KubeObject, options?: WriteOptions): KubeObject;
  /** Replaces the status and nothing else. */
  updateStatus(resource: GroupResource, object: KubeObject, options?: WriteOptions): KubeObject;
  /** A JSON merge patch of the whole object but its status. */
  patch(
    resource: GroupResource,
    name: string,
    namespace: string | undefined,
    patch: Readonly<Record<string, unknown>>,
    options?: WriteOptions,
  ): KubeObject;
  /** A JSON merge patch of the status: fields that are null go, lists are replaced as a whole. */
  patchStatus(
    resource: GroupResource,
    name: string,
    namespace: string | undefined,
    status: Readonly<Record<string, unknown>>,
    options?: WriteOptions,
  ): KubeObject;
  /** Sets `spec.replicas` as an autoscaler does, through the subresource `scale`. */
  scale(resource: GroupResource, name: string, namespace: string, replicas: number): KubeObject;
  /**
   * Begins the deletion. The object is gone at once unless a finalizer or the grace of a pod holds it: it then has a
   * `deletionTimestamp`, and goes when its last finalizer is taken away, or, a pod, when it is deleted with grace 0.
   * Null when there was no such object.
   */
  delete(
    resource: GroupResource,
    name: string,
    namespace: string | undefined,
    options?: DeleteOptions,
  ): KubeObject | null;
  /** Takes the finalizer `kubernetes` from a namespace that is going, once nothing is left in it. */
  finalizeNamespace(name: string): void;
  /**
   * Tells of every change from now on, in order, never from within the call that made it. `"*"` stands for all kinds,
   * custom ones too. Returns how to stop.
   */
  watch(resource: GroupResource, listener: (event: StoreEvent) => void): () => void;
  /** All kinds that are served now, custom ones too. */
  resources(): readonly ServedResource[];
}

export interface ServedResource {
  readonly resource: GroupResource;
  readonly group: string;
  /** The version in which objects are stored and given out here. */
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
}
