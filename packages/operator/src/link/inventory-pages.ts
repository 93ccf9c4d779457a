import { type InventoryEntry, LINK_LIMITS } from "@binnacle/contract";
import type { BulkSource } from "./outgoing.ts";

/** What the cluster has stored, as the hub is told it. */
export interface Holding {
  readonly revision: number | null;
  /** SHA-256 of the entries' `inventoryText`. */
  readonly digest: string;
  readonly entries: readonly InventoryEntry[];
}

/** All entries in pages; at least one, which may be empty. */
export function inventoryPages(entries: readonly InventoryEntry[]): BulkSource {
  let sent = 0;
  let isOver = false;
  return {
    next() {
      if (isOver) return null;
      const page = entries.slice(sent, sent + LINK_LIMITS.inventoryPage);
      sent += page.length;
      isOver = sent >= entries.length;
      return { type: "inventory", entries: page, more: !isOver };
    },
  };
}
