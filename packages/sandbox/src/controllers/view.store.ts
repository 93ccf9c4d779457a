import type { KubeObject } from "../store/kube-object.ts";
import type { GroupResource, Store } from "../store/store.ts";
import { type Owned, type Place, placeOf, type View } from "./control.ts";

const keyOf = ({ resource, namespace = "", name }: Place): string => `${resource}/${namespace}/${name}`;

/**
 * The store with an index of owners. The index holds names only; objects are read from the store, so that changes in
 * the meantime are seen.
 */
export class StoreView implements View {
  readonly #store: Store;
  readonly #places = new Map<string, Place>();
  readonly #ownedBy = new Map<string, Map<string, Place>>();

  constructor(store: Store) {
    this.#store = store;
  }

  note(resource: GroupResource, object: KubeObject): void {
    const { uid = "", ownerReferences = [] } = object.metadata;
    const place = placeOf(resource, object);
    if (!this.#places.has(uid)) this.#places.set(uid, place);
    for (const owner of ownerReferences) {
      const owned = this.#ownedBy.get(owner.uid) ?? new Map<string, Place>();
      owned.set(keyOf(place), place);
      this.#ownedBy.set(owner.uid, owned);
    }
  }

  forget(resource: GroupResource, object: KubeObject): void {
    const { uid = "", ownerReferences = [] } = object.metadata;
    this.#places.delete(uid);
    for (const owner of ownerReferences) {
      const owned = this.#ownedBy.get(owner.uid);
      const place = placeOf(resource, object);
      // Another object may have come under the name and the same owner since.
      if (this.get(resource, place.name, place.namespace)) continue;
      owned?.delete(keyOf(place));
      if (owned?.size === 0) this.#ownedBy.delete(owner.uid);
    }
  }

  get(resource: GroupResource, name: string, namespace?: string): KubeObject | null {
    return this.#store.get(resource, name, namespace);
  }

  list(resource: GroupResource, namespace?: string): readonly KubeObject[] {
    return this.#store.list(resource, namespace === undefined ? {} : { namespace });
  }

  owned(uid: string): readonly Owned[] {
    return [...(this.#ownedBy.get(uid)?.values() ?? [])].flatMap(({ resource, name, namespace }) => {
      const object = this.get(resource, name, namespace);
      return object?.metadata.ownerReferences?.some((owner) => owner.uid === uid) ? [{ resource, object }] : [];
    });
  }

  byUid(uid: string): Owned | null {
    const place = this.#places.get(uid);
    const object = place && this.get(place.resource, place.name, place.namespace);
    return object?.metadata.uid === uid ? { resource: place?.resource ?? "", object } : null;
  }

  namespacedResources(): readonly GroupResource[] {
    return this.#store.resources().flatMap(({ resource, namespaced }) => (namespaced ? [resource] : []));
  }
}
