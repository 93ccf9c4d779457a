import type { DesiredBodies, DesiredKind, HubFrames, InventoryEntry, LinkSettings } from "@binnacle/contract";
import type { KubeObject } from "../kube/kube-client.ts";

/** A resource as the cluster stores it: the complete content that the hub sent last. */
export interface StoredResource<K extends DesiredKind = DesiredKind> extends InventoryEntry {
  readonly kind: K;
  readonly spec: DesiredBodies[K]["spec"];
  readonly secret: DesiredBodies[K]["secret"];
  /** Its removal is on record; it goes once nothing of it is left. */
  readonly isDeleting: boolean;
}

/** Why a frame was not carried out; the same words as in a `nack`. */
export interface Refusal {
  readonly code: "stale" | "unable" | "invalid";
  readonly message: string;
}

export interface StoredMemory {
  readonly revision: number | null;
  readonly settings: LinkSettings;
  /** The operator lets go of the cluster and reconciles nothing any more. Left out where it does not. */
  readonly isDetaching?: true;
}

/**
 * Stores desired state in the cluster, as custom resources with Secrets beside them. The operator works from there
 * alone, so a cluster goes on healing while the hub is away.
 */
export interface DesiredStore {
  /** Null once it is stored. The same again changes nothing, an older generation is `stale`. */
  apply(frame: HubFrames["apply"]): Promise<Refusal | null>;
  /** Null once the removal is on record, also where there is nothing to remove. */
  remove(frame: HubFrames["remove"]): Promise<Refusal | null>;
  /** The last revision that was synced completely, and the organization's settings. */
  memory(): Promise<StoredMemory>;
  remember(memory: Partial<StoredMemory>): Promise<void>;
}

/** The stored resources that are not being deleted, for the comparison with the hub. */
export interface Inventory {
  inventory(): readonly InventoryEntry[];
}

/** The desired state as reconcilers read it: from memory, with a notification of every change. */
export interface DesiredView {
  /** Null also where somebody has changed the stored content: it is not acted on until the hub sends it again. */
  get<K extends DesiredKind>(kind: K, key: string): StoredResource<K> | null;
  list<K extends DesiredKind>(kind: K): readonly StoredResource<K>[];
  /** The object that holds it, for its uid and its status; also where `get` is null. */
  holder(kind: DesiredKind, key: string): KubeObject | null;
  /** Calls with the key whenever `get` may answer otherwise than before. The answer ends it. */
  onChange(kind: DesiredKind, listener: (key: string) => void): () => void;
}
