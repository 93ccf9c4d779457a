import type { VisibleSecret } from "@binnacle/contract";
import type { Effective, RegistrySecret } from "../registry-secrets/registry-secret.ts";

interface Named {
  readonly id: string;
  readonly name: string;
}

/** The keys of the stored secrets of one holder. Their values are not read. */
export interface HeldSecrets {
  readonly kind: "component" | "addon";
  /** The app or the addon instance. */
  readonly id: string;
  readonly owner: string;
  /** The component of an app, or the addon instance itself. */
  readonly holder: string;
  readonly keys: readonly string[];
  /** Of the newest key. */
  readonly updated_at: Date;
}

/** The one key of a Secret of the type `kubernetes.io/dockerconfigjson`. */
const REGISTRY_KEYS = [".dockerconfigjson"];

export function registrySecretsSeen(
  secrets: readonly Effective<RegistrySecret>[],
  places: { readonly cluster: Named; readonly project: Named },
): VisibleSecret[] {
  return secrets.map(({ secret, inherited_from }) => ({
    kind: "registry",
    inherited_from,
    source: places[inherited_from],
    name: secret.name,
    keys: REGISTRY_KEYS,
    updated_at: secret.updated_at.toISOString(),
  }));
}

export const heldSecretsSeen = ({ kind, id, owner, holder, keys, updated_at }: HeldSecrets): VisibleSecret => ({
  kind,
  inherited_from: kind === "component" ? "app" : "addon",
  source: { id, name: owner },
  name: holder,
  keys: [...keys],
  updated_at: updated_at.toISOString(),
});
