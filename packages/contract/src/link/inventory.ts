import type { InventoryEntry } from "./frames.ts";

/** The text whose SHA-256 is the digest of an inventory: equal digests mean that nothing has to be told. */
export function inventoryText(entries: Iterable<Pick<InventoryEntry, "key" | "generation" | "hash">>): string {
  return [...entries]
    .map(({ key, generation, hash }) => `${key}|${generation}|${hash}`)
    .sort()
    .join("\n");
}

/** JSON with its keys in order: the same content has the same text, and so the same hash. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
