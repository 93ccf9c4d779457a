import { placeholdersIn, type TemplateComponent, valueAt } from "@binnacle/contract";
import type { FindDefinition } from "../apps/addon-component.ts";
import type { Problem } from "../catalog/catalog-file.ts";

/**
 * Secrets that a template would keep among the values of an addon, where whoever sees the template reads them. What a
 * parameter stands for there comes with the deployment, and is sealed then.
 */
export function addonSecretProblems(components: readonly TemplateComponent[], find: FindDefinition): Problem[] {
  return components.flatMap((component, index) => {
    const definitionId = valueAt(component, ["addon_spec", "definition_id"]);
    const definition = typeof definitionId === "string" ? find(definitionId) : undefined;
    return (definition?.secret_values ?? []).flatMap((secret) => {
      const path = ["addon_spec", "values", ...secret.split(".")];
      const value = valueAt(component, path);
      if (value === undefined || placeholdersIn(value).size > 0) return [];
      const message = `is a secret that the template would keep; let a parameter of type secret stand for it, as ${secret} of the component's secrets`;
      return [{ path: ["components", index, ...path], message }];
    });
  });
}
