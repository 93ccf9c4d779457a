import type { AppComponent, ComponentInput } from "@binnacle/client";
import { withHiddenSecrets } from "@binnacle/contract/secret-names";
import { type AppManifest, type Fields, isFields } from "./read.ts";

const HIDDEN = "(hidden)";

/**
 * Secrets are written and never read back; where a text is shown to be compared, they are covered, as is what the server would
 * seal among the values of a chart.
 */
export const withCoveredSecrets = <T extends Pick<AppManifest, "components">>(app: T): T => ({
  ...app,
  components: app.components.map((component) => ({
    ...withCoveredValues(component),
    ...(component.secrets
      ? { secrets: Object.fromEntries(Object.keys(component.secrets).map((key) => [key, HIDDEN])) }
      : {}),
  })),
});

function withCoveredValues<T extends object>(component: T): T {
  const covered = Object.entries(component)
    .filter(([name, spec]) => (name === "addon_spec" || name === "chart_spec") && isFields(spec?.values))
    .map(([name, spec]) => [name, { ...spec, values: withHiddenSecrets(spec, HIDDEN) }]);
  return { ...component, ...Object.fromEntries(covered) };
}

/** Values of charts that are kept as secrets read as references; they cannot be compared. */
export function withoutSecretValues<T extends object>(component: T, keys: readonly string[]): T {
  let cleaned = component;
  for (const spec of ["addon_spec", "chart_spec"]) {
    const holder = (cleaned as Fields)[spec];
    if (!isFields(holder) || !isFields(holder["values"])) continue;
    const values = keys.reduce<Fields>((at, key) => without(at, key.split(".")), holder["values"]);
    // The server lists what it has sealed by its name.
    const { sealed_values: _, ...given } = holder;
    cleaned = { ...cleaned, [spec]: { ...given, values } };
  }
  return cleaned;
}

function without(value: Fields, [key = "", ...rest]: readonly string[]): Fields {
  if (!(key in value)) return value;
  const { [key]: child, ...others } = value;
  return rest.length > 0 && isFields(child) ? { ...others, [key]: without(child, rest) } : others;
}

/** The secrets of a file that are sent: those that the component does not have, or all. Values cannot be compared. */
export function secretsToSend(component: ComponentInput, now: AppComponent, all: boolean): Record<string, string> {
  const { secrets = {} } = component;
  if (all) return { ...sealedTexts(component, now), ...secrets };
  return Object.fromEntries(Object.entries(secrets).filter(([key]) => !now.secrets.includes(key)));
}

/** The texts of the file at those paths of a chart's values that the server keeps as secrets. */
function sealedTexts({ chart_spec }: ComponentInput, now: AppComponent): Record<string, string> {
  const textAt = (path: string) =>
    path.split(".").reduce<unknown>((inner, step) => (isFields(inner) ? inner[step] : undefined), chart_spec?.values);
  return Object.fromEntries(
    now.secrets
      .map((path) => [path, textAt(path)])
      .filter((pair): pair is [string, string] => typeof pair[1] === "string"),
  );
}
