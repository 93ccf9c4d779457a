import { addonKind } from "./addons/addon-kind.store.ts";
import { appKind } from "./apps/app-kind.store.ts";
import type { Catalog } from "./catalog/catalog.adapter.ts";
import type { DispatchedKind } from "./dispatch/kind.ts";
import { projectKind } from "./projects/project-kind.store.ts";
import { registrySecretsKind } from "./registry-secrets/registry-secret.store.ts";
import type { Vault } from "./vault/vault.ts";

/**
 * All kinds of resources that are dispatched to clusters. Records are locked in the order of this list: a project
 * before its contents, as everywhere.
 */
export function dispatchedKinds(vault: Vault, { addons }: Pick<Catalog, "addons">): readonly DispatchedKind[] {
  const definitions = new Map(addons.map((definition) => [definition.id, definition]));
  const findDefinition = (id: string) => definitions.get(id.toLowerCase());
  return [projectKind, registrySecretsKind(vault), appKind(vault, findDefinition), addonKind(vault, findDefinition)];
}
