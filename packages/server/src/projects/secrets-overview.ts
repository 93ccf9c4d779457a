import type { VisibleSecret } from "@binnacle/contract";
import type { Effective, RegistrySecret } from "../registry-secrets/registry-secret.ts";

interface Named {
  readonly id: string;
  readonly name: string;
}

/** The key of a stored secret. Its value is not read. */
export interface StoredKey {
  readonly owner: Named;
  /** The component of an app, or the addon instance itself. */
  readonly holder: string;
  readonly key: string;
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

export const componentSecretsSeen = (held: readonly StoredKey[]) => grouped(held, "component", "app");
export const addonSecretsSeen = (held: readonly StoredKey[]) => grouped(held, "addon", "addon");

/** Groups keys by holder. An entry has the time of its newest key. */
function grouped(
  held: readonly StoredKey[],
  kind: VisibleSecret["kind"],
  inherited_from: VisibleSecret["inherited_from"],
): VisibleSecret[] {
  const holders = Map.groupBy(held, ({ owner, holder }) => `${owner.id}/${holder}`);
  return [...holders.values()].flatMap((keys) => {
    const [first] = keys;
    if (!first) return [];
    const newest = Math.max(...keys.map(({ updated_at }) => updated_at.getTime()));
    return [
      {
        kind,
        inherited_from,
        source: first.owner,
        name: first.holder,
        keys: keys.map(({ key }) => key).toSorted(),
        updated_at: new Date(newest).toISOString(),
      },
    ];
  });
}
