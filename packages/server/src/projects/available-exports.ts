import type { AddonDefinitionFile, AvailableExport } from "@binnacle/contract";
import { exportKeysOf } from "../addons/export-keys.ts";

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
