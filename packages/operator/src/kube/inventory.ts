import { LABELS } from "@binnacle/contract";
import type { KubeObject } from "./kube-client.ts";
import { splitApiVersion } from "./kube-path.ts";

/**
 * An object that was made for a resource. It is listed in the resource's status, so that it is found again when it is
 * no longer desired.
 */
export interface InventoryItem {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** Which component of an app it was made for. */
  readonly component: string;
  /** Empty until the object is there: an operator that dies in between knows its name at least. */
  readonly uid: string;
}

export function itemOf({ apiVersion, kind, metadata }: KubeObject): InventoryItem {
  const { name, namespace = "", uid = "", labels } = metadata;
  return { ...splitApiVersion(apiVersion), kind, namespace, name, component: labels?.[LABELS.component] ?? "", uid };
}

/** The version does not count: the same object is reached by several. */
export const itemId = ({ group, kind, namespace, name }: InventoryItem): string =>
  [group, kind, namespace, name].join("/");

export const apiVersionOf = ({ group, version }: InventoryItem): string =>
  group === "" ? version : `${group}/${version}`;

/** Both, the later entry of an object in place of the earlier; one that is not there yet does not hide one that was. */
export function union(earlier: readonly InventoryItem[], later: readonly InventoryItem[]): InventoryItem[] {
  const items = new Map(earlier.map((item) => [itemId(item), item]));
  for (const item of later) {
    const known = items.get(itemId(item));
    items.set(itemId(item), { ...item, uid: item.uid || (known?.uid ?? "") });
  }
  return [...items.values()];
}

export function without(items: readonly InventoryItem[], taken: readonly InventoryItem[]): InventoryItem[] {
  const ids = new Set(taken.map(itemId));
  return items.filter((item) => !ids.has(itemId(item)));
}

/** The entries of a status that nobody but the operator should have written, yet anybody can have. */
export function itemsIn(value: unknown): InventoryItem[] {
  return Array.isArray(value) ? value.filter(isItem) : [];
}

function isItem(value: unknown): value is InventoryItem {
  if (typeof value !== "object" || value === null) return false;
  const { group, version, kind, namespace, name, component, uid } = value as Record<string, unknown>;
  return [group, version, kind, namespace, name, component, uid].every((text) => typeof text === "string");
}

/**
 * The fate of an object that is no longer desired.
 * - `delete` it, or `wait` for it to go;
 * - `retain`: it holds data, and stays in the inventory until the whole resource is deleted;
 * - `forget`: it does not exist, or is not ours any more.
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
