import type { KubeObject } from "../kube/kube-client.ts";
import { fieldsIn, listIn, specOf, textIn } from "../kube/object-fields.ts";

/** An object that our labels or the manifest of a release name as one of a component. */
export interface RootObject {
  readonly component: string;
  readonly object: KubeObject;
  /** From the manifest of a Helm release; `keep` where the chart says that it stays when the release goes. */
  readonly release: "own" | "keep" | null;
}

export interface OwnedObject extends Omit<RootObject, "release"> {
  /** That of the root above it, or its own. */
  readonly root: RootObject;
  readonly parentUid: string | null;
  /** Of the StatefulSet whose template it was made of, which is not an owner by reference. */
  readonly claimedBy: KubeObject | null;
  readonly depth: number;
}

const uidOf = ({ metadata }: KubeObject): string => metadata.uid ?? "";

/**
 * Everything that belongs to the roots. An object that is not a root counts only where an owner reference has the uid of one that
 * counts, or where it is a claim of a StatefulSet that counts: names and labels alone could be anybody's. Those above come
 * before those below.
 */
export function ownedObjects(roots: readonly RootObject[], candidates: readonly KubeObject[]): OwnedObject[] {
  const rootsByUid = new Map<string, RootObject>();
  for (const root of roots) if (!rootsByUid.has(uidOf(root.object))) rootsByUid.set(uidOf(root.object), root);
  const others = candidates.filter((object) => uidOf(object) !== "" && !rootsByUid.has(uidOf(object)));
  const all = [...[...rootsByUid.values()].map(({ object }) => object), ...others];
  const childrenOf = new Map<string, KubeObject[]>();
  const claims = all.filter(({ kind }) => kind === "PersistentVolumeClaim");
  for (const object of all) {
    for (const { uid } of object.metadata.ownerReferences ?? []) {
      childrenOf.set(uid, [...(childrenOf.get(uid) ?? []), object]);
    }
  }

  const owned = new Map<string, OwnedObject>();
  let level: OwnedObject[] = [];
  function add(found: Omit<OwnedObject, "component">): void {
    const uid = uidOf(found.object);
    if (owned.has(uid)) return;
    const root = rootsByUid.get(uid) ?? found.root;
    const one = { ...found, root, component: root.component };
    owned.set(uid, one);
    level.push(one);
  }
  function descend(): void {
    while (level.length > 0) {
      const above = level;
      level = [];
      for (const { object: parent, root, depth } of above) {
        const below = { root, parentUid: uidOf(parent), depth: depth + 1 };
        for (const object of childrenOf.get(uidOf(parent)) ?? []) add({ ...below, object, claimedBy: null });
        if (parent.kind !== "StatefulSet") continue;
        for (const object of claims) if (isClaimOf(parent, object)) add({ ...below, object, claimedBy: parent });
      }
    }
  }

  const begin = (root: RootObject) => add({ root, object: root.object, parentUid: null, claimedBy: null, depth: 0 });
  const isBelowOther = ({ object }: RootObject): boolean =>
    (object.metadata.ownerReferences ?? []).some(({ uid }) => rootsByUid.has(uid)) ||
    (object.kind === "PersistentVolumeClaim" &&
      [...rootsByUid.values()].some((one) => one.object.kind === "StatefulSet" && isClaimOf(one.object, object)));
  for (const root of rootsByUid.values()) if (!isBelowOther(root)) begin(root);
  descend();
  // References in a circle: whichever comes first is on top.
  for (const root of rootsByUid.values()) {
    begin(root);
    descend();
  }
  return [...owned.values()].sort((one, other) => one.depth - other.depth);
}

/** Kubernetes finds the claims of a StatefulSet by name, and writes its `matchLabels` onto those that it makes. */
export function isClaimOf(set: KubeObject, { metadata }: KubeObject): boolean {
  const { selector, volumeClaimTemplates } = specOf(set);
  const labels = Object.entries(fieldsIn(fieldsIn(selector)["matchLabels"]));
  if (set.metadata.namespace !== metadata.namespace) return false;
  if (!labels.every(([name, value]) => metadata.labels?.[name] === value)) return false;
  return listIn(volumeClaimTemplates).some((template) => {
    const prefix = `${textIn(fieldsIn(template["metadata"])["name"])}-${set.metadata.name}-`;
    return metadata.name.startsWith(prefix) && /^\d+$/.test(metadata.name.slice(prefix.length));
  });
}
