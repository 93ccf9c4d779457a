import type { DesiredBodies, DesiredKind, HubFrames, InventoryEntry, LinkSettings } from "@binnacle/contract";

/** A resource as the cluster holds it: what it was told last, whole. */
export interface StoredResource<K extends DesiredKind = DesiredKind> extends InventoryEntry {
  readonly kind: K;
  readonly spec: DesiredBodies[K]["spec"];
  readonly secret: DesiredBodies[K]["secret"];
  /** Its removal is on record; it goes once nothing of it is left. */
  readonly isLeaving: boolean;
}

/** Why a frame was not carried out; the same words as in a `nack`. */
export interface Refusal {
  readonly code: "stale" | "unable" | "invalid";
  readonly message: string;
}

/**
 * What the hub has said, kept in the cluster itself: custom resources, and Secrets beside them. All that the operator
 * does, it does from here, so a cluster goes on healing while the hub is away.
 */
export interface DesiredStore {
  /** What is stored and not leaving. */
  inventory(): Promise<readonly InventoryEntry[]>;
  /** Null once it is stored. The same again changes nothing, an older generation is `stale`. */
  apply(frame: HubFrames["apply"]): Promise<Refusal | null>;
  /** Null once the removal is on record, also where there is nothing to remove. */
  remove(frame: HubFrames["remove"]): Promise<Refusal | null>;
  /** The last revision that was told in full, and what the organization has decided. */
  memory(): Promise<{ readonly revision: number | null; readonly settings: LinkSettings }>;
  remember(memory: { readonly revision?: number; readonly settings?: LinkSettings }): Promise<void>;
}
