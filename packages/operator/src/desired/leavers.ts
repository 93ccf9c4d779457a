import type { DesiredKind } from "@binnacle/contract";
import type { KubeObject } from "../kube/kube-client.ts";
import type { StoredResource } from "./desired-store.ts";
import type { DesiredView } from "./desired-view.ts";

export interface Seen<K extends DesiredKind> {
  readonly resource: StoredResource<K>;
  readonly holder: KubeObject;
}

/**
 * Resources of one kind, with those that were seen leaving and are not there any more: whoever took the last finalizer,
 * that they are gone is still to be found out and reported.
 */
export interface Leavers<K extends DesiredKind> {
  see(key: string): Seen<K> | null;
  /** It is reported as gone. */
  forget(key: string): void;
}

export function createLeavers<K extends DesiredKind>(view: Pick<DesiredView, "get" | "holder">, kind: K): Leavers<K> {
  const leaving = new Map<string, Seen<K>>();
  return {
    see(key) {
      const resource = view.get(kind, key);
      const holder = view.holder(kind, key);
      if (resource && holder) {
        const seen = { resource, holder };
        if (resource.isLeaving) leaving.set(key, seen);
        else leaving.delete(key);
        return seen;
      }
      return holder ? null : (leaving.get(key) ?? null);
    },
    forget: (key) => void leaving.delete(key),
  };
}
