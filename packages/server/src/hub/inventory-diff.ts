import { type DesiredKind, type InventoryEntry, inventoryText } from "@binnacle/contract";
import type { PendingRow } from "../dispatch/kind.ts";
import type { Reissue } from "../dispatch/reissue.store.ts";
import { kindOfKey } from "./frame-reader.ts";

/** A row with what the cluster is believed to hold of it. */
export interface BelievedRow extends PendingRow {
  readonly acked_generation: number | null;
  /** Null once the cluster has a removal on record. */
  readonly acked_hash: string | null;
}

/** The text behind the digest that the operator's must equal. */
export function believedText(rows: readonly BelievedRow[]): string {
  return inventoryText(
    rows.flatMap(({ key, acked_generation: generation, acked_hash: hash }) =>
      generation !== null && hash !== null ? [{ key, generation, hash }] : [],
    ),
  );
}

/** Told again in each session, until the operator says that nothing is left of it. */
export const isConfirmedRemoval = ({ removed_at, generation, acked_generation }: BelievedRow): boolean =>
  removed_at !== null && acked_generation === generation;

export interface InventoryDiff {
  /** What the cluster is believed of is wrong: it is told again. */
  readonly untold: readonly BelievedRow[];
  /** The cluster is ahead of what is on record. */
  readonly reissued: readonly Reissue[];
  /** Keys of what is on the cluster and on no record. */
  readonly strays: readonly string[];
}

/**
 * What the cluster holds against what it is believed to hold, in both directions. `isRestored` says that the cluster has
 * been told more than the database knows of: then the same generation may stand for two things, and is not trusted.
 */
export function diffInventory(
  rows: readonly BelievedRow[],
  entries: readonly InventoryEntry[],
  isRestored: boolean,
): InventoryDiff {
  const held = new Map(entries.map((entry) => [idOf(kindOfKey(entry.key), entry.resource_id), entry]));
  const untold: BelievedRow[] = [];
  const reissued: Reissue[] = [];
  for (const row of rows) {
    const id = idOf(row.kind, row.resource_id);
    const entry = held.get(id);
    held.delete(id);
    if (isAsBelieved(row, entry)) continue;
    const { kind, resource_id: resourceId, generation } = row;
    const isAhead = entry !== undefined && entry.generation > generation;
    const isDoubtful = isRestored && entry?.generation === generation;
    if (isAhead || isDoubtful) reissued.push({ kind, resourceId, above: entry.generation });
    else untold.push(row);
  }
  return { untold, reissued, strays: [...held.values()].map(({ key }) => key) };
}

function isAsBelieved(row: BelievedRow, entry: InventoryEntry | undefined): boolean {
  if (!entry) return row.acked_hash === null && (row.acked_generation === null || isConfirmedRemoval(row));
  return entry.key === row.key && entry.generation === row.acked_generation && entry.hash === row.acked_hash;
}

const idOf = (kind: DesiredKind, resourceId: string) => `${kind} ${resourceId}`;
