import type { KubeObject } from "@binnacle/contract";
import type { ExecOptions, ExecOutput, ExecProcess } from "./exec.ts";
import type { KubeError } from "./kube-error.ts";

export type { KubeObject, ManagedFields, ObjectMeta } from "@binnacle/contract";

/** Where objects of a kind live; `group` is empty for the core group. */
export interface ResourceType {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

/** Absent for objects of the whole cluster. */
export type Namespace = string | null | undefined;

export interface ListOptions<T extends KubeObject = KubeObject> {
  /** Without it, objects of all namespaces. */
  readonly namespace?: Namespace;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly signal?: AbortSignal;
  /** Reduces each object as it arrives, so that a large list never is in memory as a whole. */
  readonly trim?: (object: T) => T;
  /** Nothing but the metadata is asked for. */
  readonly isMetadataOnly?: boolean;
  /** The API server may answer from its memory, which is cheap for it and may be a moment behind what is stored. */
  readonly mayBeStale?: boolean;
}

export interface KubeList<T extends KubeObject = KubeObject> {
  /** From here a watch goes on without a gap. Of the items some may be newer. */
  readonly resourceVersion: string;
  readonly items: readonly T[];
}

export interface WriteOptions {
  readonly dryRun?: boolean;
  /** `binnacle` unless told otherwise. */
  readonly fieldManager?: string;
  readonly subresource?: "status" | "scale";
}

export interface ApplyOptions extends WriteOptions {
  /** Takes fields from other managers instead of failing with a `KubeConflict`. */
  readonly force?: boolean;
}

export interface PatchOptions extends WriteOptions {
  readonly kind: "merge" | "json";
}

export interface DeleteOptions {
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly propagation?: "Background" | "Foreground" | "Orphan";
  readonly gracePeriodSeconds?: number;
  readonly dryRun?: boolean;
}

export interface RawOptions {
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly contentType?: string;
  readonly accept?: string;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

export interface WatchOptions {
  readonly namespace?: Namespace;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly resourceVersion: string;
  readonly signal: AbortSignal;
  /** A watch on which nothing comes for so long, not even a bookmark, is taken for dead. */
  readonly inactivityMs?: number;
  /** Nothing but the metadata is asked for. */
  readonly isMetadataOnly?: boolean;
}

export type WatchEvent<T extends KubeObject = KubeObject> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: T }
  | { readonly type: "BOOKMARK"; readonly resourceVersion: string }
  | { readonly type: "ERROR"; readonly error: KubeError };

export interface LogOptions {
  readonly container?: string;
  readonly follow?: boolean;
  readonly previous?: boolean;
  readonly tailLines?: number;
  /** RFC 3339; lines from this second on. */
  readonly sinceTime?: string;
  /** Each line begins with its RFC 3339 time and a space. */
  readonly timestamps?: boolean;
  readonly signal?: AbortSignal;
  /** Told when the lines ended because the connection was lost, which iteration does not show. */
  readonly onLost?: (error: KubeError) => void;
}

export interface KubeVersion {
  readonly major: string;
  readonly minor: string;
  readonly gitVersion: string;
  readonly platform: string;
}

/**
 * The Kubernetes API as the operator uses it. Every method fails with a `KubeError`, whose status is 0 when there was no
 * answer at all.
 */
export interface KubeClient {
  /** Null when there is no such object. */
  get<T extends KubeObject = KubeObject>(type: ResourceType, name: string, namespace?: Namespace): Promise<T | null>;
  list<T extends KubeObject = KubeObject>(type: ResourceType, options?: ListOptions<T>): Promise<KubeList<T>>;
  /** Server-side apply. Fails with a `KubeConflict` when another manager has a field, unless forced. */
  apply<T extends KubeObject = KubeObject>(object: KubeObject, options?: ApplyOptions): Promise<T>;
  create<T extends KubeObject = KubeObject>(object: KubeObject, options?: WriteOptions): Promise<T>;
  patch<T extends KubeObject = KubeObject>(
    type: ResourceType,
    name: string,
    namespace: Namespace,
    patch: unknown,
    options: PatchOptions,
  ): Promise<T>;
  /** Merges the fields into the status, whatever has changed since it was read. */
  patchStatus<T extends KubeObject = KubeObject>(
    type: ResourceType,
    name: string,
    namespace: Namespace,
    status: Readonly<Record<string, unknown>>,
  ): Promise<T>;
  /** `gone` when there was no such object; otherwise deletion has begun, and finalizers may hold it back. */
  delete(
    type: ResourceType,
    name: string,
    namespace?: Namespace,
    options?: DeleteOptions,
  ): Promise<"deleting" | "gone">;
  /** Any path of the API: discovery, metrics, the proxy of a service. JSON comes parsed, all else as text. */
  raw<T = unknown>(method: string, path: string, options?: RawOptions): Promise<T>;
  /**
   * Ends when the server or the signal ends it; fails when it cannot begin, is lost, or falls silent. After an `ERROR`
   * nothing more comes.
   */
  watch<T extends KubeObject = KubeObject>(type: ResourceType, options: WatchOptions): AsyncIterable<WatchEvent<T>>;
  /** Fails only when there are no logs to read; once lines flow, a lost connection ends them. */
  podLogs(namespace: string, pod: string, options?: LogOptions): AsyncIterable<string>;
  /** Runs a command in a container. It never throws: a failure is the end that is told to `events`. */
  exec(namespace: string, pod: string, options: ExecOptions, output: ExecOutput): ExecProcess;
  version(): Promise<KubeVersion>;
  /** Looks again when the kind is unknown, as that of a new custom resource definition is. */
  resourceTypeOf(apiVersion: string, kind: string): Promise<ResourceType>;
  /**
   * The same client with the rights of another user, over the same connections. Kubernetes adds the groups of a service
   * account by itself. Discovery stays our own: it says nothing about objects.
   */
  as(user: string): KubeClient;
  close(): Promise<void>;
}
