import { type DesiredKind, type InventoryEntry, inventoryText } from "@binnacle/contract";
import type { Reissue } from "../dispatch/dispatch.store.ts";
import type { PendingRow } from "../dispatch/kind.ts";
import { kindOfKey } from "./frame-reader.ts";

/** A row with what the cluster has confirmed to hold of it. */
export interface ExpectedRow extends PendingRow {
  readonly acked_generation: number | null;
  /** Null once the cluster has confirmed a removal. */
  readonly acked_hash: string | null;
}

/** The text whose digest equals that of the operator when the cluster holds what is expected. */
export function expectedText(rows: readonly ExpectedRow[]): string {
  return inventoryText(
    rows.flatMap(({ key, acked_generation: generation, acked_hash: hash }) =>
      generation !== null && hash !== null ? [{ key, generation, hash }] : [],
    ),
  );
}

/** A confirmed removal is sent again in each session until the operator reports that nothing is left. */
export const isConfirmedRemoval = ({ removed_at, generation, acked_generation }: ExpectedRow): boolean =>
  removed_at !== null && acked_generation === generation;

export interface InventoryDiff {
  /** Rows that the cluster does not hold as expected. They are sent again. */
  readonly pending: readonly ExpectedRow[];
  /** Rows of which the cluster holds a later generation than the database. */
  readonly reissued: readonly Reissue[];
  /** Keys that the cluster holds and the database does not know. */
  readonly unknown: readonly string[];
}

/**
 * Compares what the cluster holds with what it is expected to hold, in both directions. `isRestored` says that the cluster
 * has been sent more than the database knows. Then the same generation may mean two contents, and is issued again.
 */
export function diffInventory(
  rows: readonly ExpectedRow[],
  entries: readonly InventoryEntry[],
  isRestored: boolean,
): InventoryDiff {
  const held = new Map(entries.map((entry) => [idOf(kindOfKey(entry.key), entry.resource_id), entry]));
  const pending: ExpectedRow[] = [];
  const reissued: Reissue[] = [];
  for (const row of rows) {
    const id = idOf(row.kind, row.resource_id);
    const entry = held.get(id);
    held.delete(id);
    if (isAsExpected(row, entry)) continue;
    const { kind, resource_id: resourceId, generation } = row;
    const isAhead = entry !== undefined && entry.generation > generation;
    const isDoubtful = isRestored && entry?.generation === generation;
    if (isAhead || isDoubtful) reissued.push({ kind, resourceId, above: entry.generation });
    else pending.push(row);
  }
  return { pending, reissued, unknown: [...held.values()].map(({ key }) => key) };
}

function isAsExpected(row: ExpectedRow, entry: InventoryEntry | undefined): boolean {
  if (!entry) return row.acked_hash === null && (row.acked_generation === null || isConfirmedRemoval(row));
  return entry.key === row.key && entry.generation === row.acked_generation && entry.hash === row.acked_hash;
}

const idOf = (kind: DesiredKind, resourceId: string) => `${kind} ${resourceId}`;
