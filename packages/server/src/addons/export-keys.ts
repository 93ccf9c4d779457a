import type { AddonDefinitionFile } from "@binnacle/contract";

/** A key that an addon publishes, as far as its definition tells. */
export interface DeclaredExport {
  readonly key: string;
  readonly description: string;
  readonly secret: boolean;
}

/** What instances of the addon publish, by key; the values are known only to the cluster that runs one. */
export function exportKeysOf({ export_schema }: Pick<AddonDefinitionFile, "export_schema">): DeclaredExport[] {
  return Object.entries(export_schema)
    .map(([key, { description, secret }]) => ({ key, description, secret }))
    .sort((one, other) => (one.key < other.key ? -1 : 1));
}
