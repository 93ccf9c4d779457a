import type { AddonDefinitionFile, AvailableExport } from "@binnacle/contract";

/** An export as its definition declares it. */
export interface DeclaredExport {
  readonly key: string;
  readonly description: string;
  readonly secret: boolean;
}

/** Returns the declared exports in order of their keys. Only the cluster knows their values. */
export function exportKeysOf({ export_schema }: Pick<AddonDefinitionFile, "export_schema">): DeclaredExport[] {
  return Object.entries(export_schema)
    .map(([key, { description, secret }]) => ({ key, description, secret }))
    .sort((one, other) => (one.key < other.key ? -1 : 1));
}

/** With the definition that declares it. */
interface CatalogExport extends DeclaredExport {
  readonly definition_id: string;
}

/** The ids of the definitions, and what they declare. */
export interface CatalogExports {
  readonly definitions: readonly string[];
  readonly declared: readonly CatalogExport[];
}

export const exportsOfCatalog = (
  addons: readonly (Pick<AddonDefinitionFile, "export_schema"> & { readonly id: string })[],
): CatalogExports => ({
  definitions: addons.map(({ id }) => id),
  declared: addons.flatMap((addon) => exportKeysOf(addon).map((each) => ({ definition_id: addon.id, ...each }))),
});

/** An export of an instance. Description and secrecy are those of the catalog, where that has the definition. */
export interface FoundExport {
  readonly id: string;
  readonly name: string;
  readonly key: string;
  readonly description: string | null;
  readonly secret: boolean | null;
  /** The kind of JSON value that the cluster has reported: a reference for a secret. */
  readonly reported: string | null;
}

export const availableExport = ({ id, name, key, description, secret, reported }: FoundExport): AvailableExport => ({
  addon_instance_id: id,
  addon_instance_name: name,
  key,
  description,
  secret: secret ?? reported === "object",
  published: reported !== null,
});
