import type { ComponentSpec, ValidationItem } from "@binnacle/contract";
import { chartVersionProblems } from "../addons/addon.ts";
import { resolveValues, rulesOf, withoutPaths } from "../addons/addon-values.ts";
import type { AddonDefinition } from "../catalog/catalog.adapter.ts";
import { keysOf } from "./app-secrets.ts";

export type FindDefinition = (id: string) => AddonDefinition | undefined;

/** The rules that components are validated by. */
export interface ComponentRules {
  readonly findDefinition: FindDefinition;
  /** Hosts that charts may be fetched from even if their address is private. */
  readonly chartHosts: readonly string[];
}

/** Finds a definition by id. Upper and lower case are equal. */
export function definitionFinder(definitions: readonly AddonDefinition[]): FindDefinition {
  const byId = new Map(definitions.map((definition) => [definition.id, definition]));
  return (id) => byId.get(id.toLowerCase());
}

/** The result of validating a component. */
export interface ResolvedComponent<C extends ComponentSpec = ComponentSpec> {
  /** The component without the secrets of its values. */
  readonly component: C;
  /** Those secrets, by path. */
  readonly inline: Readonly<Record<string, string>>;
  /** The problems, each with its location in the component. */
  readonly problems: readonly ValidationItem[];
}

/**
 * Validates a component by its addon definition, like an instance of that addon. Secret values are split off, because
 * the values are shown to everybody who reads the app and are stored in each of its revisions.
 */
export function resolveAddonComponent<C extends ComponentSpec>(
  component: C,
  find: FindDefinition,
  secretKeys: readonly string[] = [],
): ResolvedComponent<C> {
  const { addon_spec } = component;
  if (addon_spec?.definition_id === undefined) return { component, inline: {}, problems: [] };
  const definition = find(addon_spec.definition_id);
  const refused = (problems: readonly ValidationItem[]) => ({ component, inline: {}, problems });
  if (!definition) return refused([wrong(["addon_spec", "definition_id"], "The catalog has no addon of this id")]);

  const { values = {}, chart_version } = addon_spec;
  const settled = resolveValues(values, rulesOf(definition), { name: component.name, held: [] });
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

interface AddonChange {
  readonly before: readonly ComponentSpec[];
  readonly after: readonly ComponentSpec[];
  /** The paths of the app's secrets after the change, and the components whose secrets it has removed. */
  readonly secretPaths: readonly string[];
  readonly dropped: ReadonlySet<string>;
}

/**
 * Returns the secrets that new addon components lack, by component: they are generated, as those of an addon instance are.
 * An addon that is already there keeps what it has, because its chart may have made a password of its own.
 */
export function missingAddonSecrets(
  { before, after, secretPaths, dropped }: AddonChange,
  find: FindDefinition,
): ReadonlyMap<string, readonly string[]> {
  const missing = after.flatMap(({ name, addon_spec }) => {
    const id = addon_spec?.definition_id;
    const earlier = dropped.has(name) ? undefined : before.find((component) => component.name === name);
    if (id === undefined || earlier?.addon_spec?.definition_id === id) return [];
    const held = keysOf(secretPaths, name);
    const paths = (find(id)?.secret_values ?? []).filter((path) => !held.includes(path));
    return paths.length > 0 ? [[name, paths] as const] : [];
  });
  return new Map(missing);
}

const twiceGiven = (paths: readonly string[], secretKeys: readonly string[]): ValidationItem[] =>
  paths
    .filter((path) => secretKeys.includes(path))
    .map((path) => wrong(path.split("."), "It is given among the secrets too"));

const wrong = (loc: ValidationItem["loc"], msg: string): ValidationItem => ({ loc, msg, type: "value_error" });
