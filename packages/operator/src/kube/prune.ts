import type { InventoryItem } from "./inventory.ts";
import type { KubeObject } from "./kube-client.ts";

/**
 * What becomes of an object that is not desired any more:
 *  - `delete` it, or `wait` for it to go;
 *  - `retain`: it holds data, and stays in the inventory until the whole resource goes;
 *  - `forget`: it is not there, or not ours any more.
 */
export type Pruning = "delete" | "wait" | "retain" | "forget";

export interface PruneScope {
  /** Outside of it nothing is touched, whatever an inventory says. */
  readonly namespace: string;
  /** Whether the object says of itself that it was made for this resource. */
  readonly isOurs: (object: KubeObject) => boolean;
  /** The whole resource goes, its data included. */
  readonly isLast: boolean;
}

const KEEPS_DATA = new Set(["PersistentVolumeClaim"]);
const NEVER_DELETED = new Set(["CustomResourceDefinition"]);

export function pruningOf(
  item: InventoryItem,
  live: KubeObject | null,
  { namespace, isOurs, isLast }: PruneScope,
): Pruning {
  if (!live || item.namespace !== namespace || NEVER_DELETED.has(item.kind)) return "forget";
  if (item.uid !== "" && item.uid !== live.metadata.uid) return "forget";
  if (!isOurs(live)) return "forget";
  if (KEEPS_DATA.has(item.kind) && !isLast) return "retain";
  return live.metadata.deletionTimestamp ? "wait" : "delete";
}
