import type { DesiredBodies, DesiredKind } from "@binnacle/contract";

/** The Secret that holds the pull secrets of a namespace as the hub has told them. */
export const REGISTRIES_NAME = "binnacle-registries";

/** Where in the cluster a resource is kept, and by which name. */
export interface Address {
  readonly kind: DesiredKind;
  /** The namespace that the resource is about; a project is about one without being in it. */
  readonly namespace: string;
  /** Of the object that holds it. */
  readonly name: string;
}

const PREFIXES = {
  project: /^project\/([^/]+)$/,
  app: /^app\/([^/]+)\/([^/]+)$/,
  addon_instance: /^addon_instance\/([^/]+)\/([^/]+)$/,
  registry_secrets: /^registry_secrets\/([^/]+)$/,
} as const;

/** Null where the key does not fit the kind. */
export function addressOf(kind: DesiredKind, key: string): Address | null {
  const [, namespace, name] = PREFIXES[kind].exec(key) ?? [];
  if (namespace === undefined) return null;
  if (kind === "project") return { kind, namespace, name: namespace };
  return { kind, namespace, name: name ?? REGISTRIES_NAME };
}

/** As the hub names it. */
export function keyAt({ kind, namespace, name }: Address): string {
  return kind === "app" || kind === "addon_instance" ? `${kind}/${namespace}/${name}` : `${kind}/${namespace}`;
}

/** Whether a resource's content says the same place as its key. */
export function isAt({ kind, namespace, name }: Address, spec: DesiredBodies[DesiredKind]["spec"]): boolean {
  if (spec.namespace !== namespace) return false;
  return kind === "registry_secrets" || !("name" in spec) || spec.name === name;
}

const COMPANIONS = { app: "binnacle-app-", addon_instance: "binnacle-addon-" } as const;

/** The Secret beside a custom resource; null for kinds that have no secrets, or nothing else. */
export const companionName = ({ kind, name }: Address): string | null =>
  kind === "app" || kind === "addon_instance" ? `${COMPANIONS[kind]}${name}` : null;

/** The other way round; null for any other Secret. */
export function addressOfCompanion({ name, namespace }: { name: string; namespace?: string }): Address | null {
  const kind = (["app", "addon_instance"] as const).find((candidate) => name.startsWith(COMPANIONS[candidate]));
  return kind && namespace ? { kind, namespace, name: name.slice(COMPANIONS[kind].length) } : null;
}
