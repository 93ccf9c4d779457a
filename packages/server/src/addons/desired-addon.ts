import type { AddonBody, AddonDefinitionFile } from "@binnacle/contract";
import type { Instance } from "./addon.ts";
import { overlay, type Values } from "./addon-values.ts";

/** What a cluster is told of an addon instance; its secrets, by path, are already opened. */
export function addonBody(
  instance: Instance,
  { chart: { repo, name }, default_values, export_schema }: AddonDefinitionFile,
  secrets: ReadonlyMap<string, string>,
): AddonBody {
  return {
    spec: {
      project_id: instance.project_id,
      namespace: instance.namespace,
      name: instance.name,
      chart: { repo, name, version: instance.chart_version },
      export_schema,
    },
    secret: { values: withSecrets(overlay(default_values, instance.values), secrets) },
  };
}

/** Each secret at the end of its path, instead of the reference that stands there in what people read. */
export function withSecrets(values: Values, secrets: ReadonlyMap<string, string>): Record<string, unknown> {
  return [...secrets].reduce<Values>((filled, [path, secret]) => overlay(filled, alongPath(path, secret)), values);
}

const alongPath = (path: string, secret: string): Values =>
  path.split(".").reduceRight<unknown>((inner, step) => ({ [step]: inner }), secret) as Values;
