import { type AppReport, type Gone, safeText } from "@binnacle/contract";
import type { InventoryItem } from "../kube/inventory.ts";
import { UNKNOWN_DRIFT } from "./drift-report.ts";

export const NOTHING_LEFT: Gone = { state: "gone" };

const MOST_NAMED = 5;

/** Says what an app that is leaving still waits for. */
export function stillThere(
  items: readonly Pick<InventoryItem, "kind" | "name">[],
  releases: readonly string[],
  finalizers: readonly string[] = [],
): AppReport {
  const names = [
    ...items.map(({ kind, name }) => `${kind} ${name}`),
    ...releases.map((name) => `release ${name}`),
    ...finalizers.map((name) => `finalizer ${name}`),
  ];
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : "";
  return {
    phase: "deleting",
    reason: finalizers.length > 0 ? "HeldByFinalizers" : "Deleting",
    message: safeText(`Still on the cluster: ${names.slice(0, MOST_NAMED).join(", ")}${more}.`),
    components: [],
    drift: UNKNOWN_DRIFT,
  };
}
