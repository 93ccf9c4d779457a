import type { ComponentSpec, ValidationItem } from "@binnacle/contract";
import { chartVersionProblems } from "../addons/addon.ts";
import { settleValues, type Values, valueProblems, withoutPaths } from "../addons/addon-values.ts";
import type { AddonDefinition } from "../catalog/catalog.adapter.ts";

export type FindDefinition = (id: string) => AddonDefinition | undefined;

/** What components are held against when they are written. */
export interface ComponentRules {
  readonly findDefinition: FindDefinition;
  /** Hosts that charts may come from whatever their address. */
  readonly chartHosts: readonly string[];
}

/** Ids are compared as ids: the case of letters is nothing. */
export function definitionFinder(definitions: readonly AddonDefinition[]): FindDefinition {
  const byId = new Map(definitions.map((definition) => [definition.id, definition]));
  return (id) => byId.get(id.toLowerCase());
}

/** A component as it may be kept. */
export interface Settled<C extends ComponentSpec = ComponentSpec> {
  /** Without the secrets that were among its values. */
  readonly component: C;
  /** Those secrets, by the path that led to each. */
  readonly inline: Readonly<Record<string, string>>;
  /** What there is against it, each where it is in the component. */
  readonly problems: readonly ValidationItem[];
}

/**
 * Holds a component against the definition it names, as an instance of that addon would be. What the definition calls
 * secret is taken out of the values, because these are shown to whoever reads the app and kept in each of its revisions.
 */
export function settleAddon<C extends ComponentSpec>(
  component: C,
  find: FindDefinition,
  secretKeys: readonly string[] = [],
): Settled<C> {
  const { addon_spec } = component;
  if (addon_spec?.definition_id === undefined) return { component, inline: {}, problems: [] };
  const definition = find(addon_spec.definition_id);
  const refused = (problems: readonly ValidationItem[]) => ({ component, inline: {}, problems });
  if (!definition) return refused([wrong(["addon_spec", "definition_id"], "The catalog has no addon of this id")]);

  const { values = {}, chart_version } = addon_spec;
  const settled = settleValues(values, rulesOf(definition), { name: component.name, held: [] });
  const problems = [
    ...(chart_version === undefined ? [] : chartVersionProblems(definition, chart_version)).map((item) => ({
      ...item,
      loc: ["addon_spec", "chart_version"],
    })),
    ...("problems" in settled ? settled.problems : twiceGiven([...settled.given.keys()], secretKeys)).map((item) => ({
      ...item,
      loc: ["addon_spec", "values", ...item.loc],
    })),
  ];
  if (problems.length > 0 || "problems" in settled) return refused(problems);
  const open = { ...addon_spec, definition_id: definition.id };
  return {
    component: {
      ...component,
      addon_spec: addon_spec.values ? { ...open, values: withoutPaths(values, [...settled.given.keys()]) } : open,
    },
    inline: Object.fromEntries(settled.given),
    problems: [],
  };
}

const rulesOf = (definition: AddonDefinition) => ({
  ...definition,
  check: (candidate: Values) => valueProblems(definition.values_schema, candidate),
});

const twiceGiven = (paths: readonly string[], secretKeys: readonly string[]): ValidationItem[] =>
  paths
    .filter((path) => secretKeys.includes(path))
    .map((path) => wrong(path.split("."), "It is given among the secrets too"));

const wrong = (loc: ValidationItem["loc"], msg: string): ValidationItem => ({ loc, msg, type: "value_error" });
