import type { DesiredBodies, DesiredKind, Reports } from "@binnacle/contract";
import type { ResourceType } from "../kube/kube-client.ts";

/** How resources of one kind are stored in the cluster. Each slice exports such a value for its kind. */
export interface StoredKind<K extends DesiredKind = DesiredKind> {
  readonly kind: K;
  /** The type of the object that holds the spec. A kind that is held by Secrets keeps its secret part in them as well. */
  readonly holder: ResourceType;
  /** The name of the holder, for kinds of which a namespace has one resource at most. Other keys end with the name. */
  readonly nameIn?: (namespace: string) => string;
  /** How the names of the Secrets beside the holders begin; null for kinds without such Secrets. */
  readonly companionPrefix: string | null;
  /** The secret part of a resource that has none, or has lost it. */
  readonly emptySecret: DesiredBodies[K]["secret"];
  /** The report while an object of somebody else keeps the resource from being stored. */
  readonly nameTaken: (message: string) => Reports[K];
}

/** Where in the cluster a resource is stored. */
export interface Address<K extends DesiredKind = DesiredKind> {
  readonly kind: StoredKind<K>;
  /** A project names the namespace that is made for it, without being in it. */
  readonly namespace: string;
  readonly name: string;
}

interface ObjectName {
  readonly name: string;
  readonly namespace?: string;
}

/** Null where the key does not fit the kind. */
export function addressOf<K extends DesiredKind>(kind: StoredKind<K>, key: string): Address<K> | null {
  const [prefix, namespace, name, ...rest] = key.split("/");
  if (prefix !== kind.kind || !namespace || rest.length > 0) return null;
  if (kind.nameIn) return name === undefined ? { kind, namespace, name: kind.nameIn(namespace) } : null;
  return name ? { kind, namespace, name } : null;
}

/** The key that the hub uses for the resource. */
export const keyAt = ({ kind: { kind, nameIn }, namespace, name }: Address): string =>
  nameIn ? `${kind}/${namespace}` : `${kind}/${namespace}/${name}`;

/** Whether the content of a resource names the same place as its key. */
export const isAt = ({ namespace, name }: Address, spec: DesiredBodies[DesiredKind]["spec"]): boolean =>
  spec.namespace === namespace && (!("name" in spec) || spec.name === name);

/** The name of the Secret beside the holder; null for kinds that have none. */
export const companionName = ({ kind: { companionPrefix }, name }: Address): string | null =>
  companionPrefix === null ? null : `${companionPrefix}${name}`;

/** The resource that a Secret is the companion of; null for any other Secret. */
export function addressOfCompanion(kinds: readonly StoredKind[], { name, namespace }: ObjectName): Address | null {
  for (const kind of kinds) {
    const { companionPrefix: prefix } = kind;
    if (prefix !== null && namespace && name.startsWith(prefix)) {
      return { kind, namespace, name: name.slice(prefix.length) };
    }
  }
  return null;
}

/** The resource that an object of this type and name holds; null where it holds none, as a companion does. */
export function addressOfHolder(
  kinds: readonly StoredKind[],
  { kind: objectKind }: Pick<ResourceType, "kind">,
  { name, namespace }: ObjectName,
): Address | null {
  for (const kind of kinds) {
    const place = kind.holder.namespaced ? namespace : name;
    if (kind.holder.kind !== objectKind || place === undefined) continue;
    if (!kind.nameIn || kind.nameIn(place) === name) return { kind, namespace: place, name };
  }
  return null;
}
