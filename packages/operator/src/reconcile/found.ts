import type { DesiredKind } from "@binnacle/contract";
import type { StoredResource } from "../desired/desired-store.ts";
import type { DesiredView } from "../desired/desired-view.ts";
import type { KubeObject } from "../kube/kube-client.ts";

/** A resource and the object that holds it. */
export interface Found<K extends DesiredKind = DesiredKind> {
  readonly resource: StoredResource<K>;
  readonly holder: KubeObject;
}

/**
 * Finds resources of one kind. A resource that was being deleted is found also after its holder is gone, whoever removed the
 * last finalizer: its absence still has to be confirmed and reported.
 */
export interface Finder<K extends DesiredKind> {
  find(key: string): Found<K> | null;
  /** Call once the absence is reported. */
  forget(key: string): void;
}

export function createFinder<K extends DesiredKind>(view: Pick<DesiredView, "get" | "holder">, kind: K): Finder<K> {
  const deleting = new Map<string, Found<K>>();
  return {
    find(key) {
      const resource = view.get(kind, key);
      const holder = view.holder(kind, key);
      if (resource && holder) {
        const found = { resource, holder };
        if (resource.isLeaving) deleting.set(key, found);
        else deleting.delete(key);
        return found;
      }
      return holder ? null : (deleting.get(key) ?? null);
    },
    forget: (key) => void deleting.delete(key),
  };
}
