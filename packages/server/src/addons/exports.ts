import type { AddonDefinitionFile, AvailableExport } from "@binnacle/contract";

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

interface Exporting {
  readonly id: string;
  readonly name: string;
  /** What the cluster has reported so far. */
  readonly exports: Readonly<Record<string, unknown>>;
}

/** Every key that the instance's definition declares. Where the catalog no longer has it, those that were reported. */
export function availableExports(
  instance: Exporting,
  definition: Pick<AddonDefinitionFile, "export_schema"> | undefined,
): AvailableExport[] {
  const declared = definition
    ? exportKeysOf(definition)
    : Object.entries(instance.exports).map(([key, value]) => ({
        key,
        description: null,
        secret: typeof value === "object",
      }));
  return declared.map((declaration) => ({
    addon_instance_id: instance.id,
    addon_instance_name: instance.name,
    ...declaration,
    published: Object.hasOwn(instance.exports, declaration.key),
  }));
}
