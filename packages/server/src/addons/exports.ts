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

interface Exporting {
  readonly id: string;
  readonly name: string;
  /** The exports that the cluster has reported. */
  readonly exports: Readonly<Record<string, unknown>>;
}

/**
 * Returns every export that the definition declares; where the catalog no longer has the definition, the reported ones.
 */
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
