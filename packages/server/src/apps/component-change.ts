import {
  type AppProblem,
  type ComponentChange,
  ComponentInput,
  ComponentSpec,
  type ComponentInput as Given,
  type JudgedApp,
  type ComponentSpec as Kept,
  mergePatch,
  missingSecretsOf,
  needsOf,
  type ProjectFacts,
  problemsOf,
  secretPathsOfChart,
  type ValidationItem,
  valueAt,
} from "@binnacle/contract";
import type { TSchema } from "typebox";
import { componentDowngrade } from "../addons/downgrade.ts";
import { codedConflict, Fault, invalid, notFound } from "../fault.ts";
import { compileCheck } from "../http/validation.ts";
import { type ComponentRules, type ResolvedComponent, resolveAddonComponent } from "./addon-component.ts";
import {
  combineSecretChanges,
  dropSecrets,
  keysOf,
  NO_SECRET_CHANGES,
  type SecretChanges,
  secretPathsAfter,
  setSecrets,
} from "./app-secrets.ts";
import { keepSealedPaths, resolveChartComponent } from "./chart-component.ts";
import { missingSecretsAdded, projectProblemsAdded } from "./project-facts.ts";
import { impossibleVolumes, losesVolumes, recreateRequired } from "./volume.ts";

type Loc = ValidationItem["loc"];

/** The rules for changes of a stored app. */
export interface ChangeRules extends ComponentRules {
  readonly project: ProjectFacts;
}

export interface ChangedComponents {
  readonly components: Kept[];
  readonly secrets: SecretChanges;
}
interface OneChange extends ChangedComponents {
  readonly problems: readonly ValidationItem[];
}

const at = (index: number): Loc => ["body", "components", index];
/** The item of a 422 for a problem of the app. */
export const itemAt = (loc: Loc, { message }: AppProblem): ValidationItem => ({
  loc,
  msg: message,
  type: "value_error",
});
const placed = (items: readonly ValidationItem[], index: number): ValidationItem[] =>
  items.map((item) => ({ ...item, loc: [...at(index), ...item.loc] }));
const checkWhole = checkOf(ComponentInput);
const checkStored = checkOf(ComponentSpec);

/** Validates a copy and fills in its defaults. */
function checkOf<S extends TSchema>(schema: S) {
  const check = compileCheck({ body: schema });
  return (value: unknown, loc: Loc) => {
    const body = structuredClone(value);
    const items = check({ path: {}, query: {}, cookie: {}, body });
    return { value: body, problems: items.map((item) => ({ ...item, loc: [...loc, ...item.loc.slice(1)] })) };
  };
}

interface About {
  /** The name of the app, which references to secrets contain. A new component has no secrets to refer to. */
  readonly app?: string;
  /** The keys of the secrets in the request, and of those that the component already has. */
  readonly given?: readonly string[];
  readonly held?: readonly string[];
  /** The paths of the chart's values that were secret before. */
  readonly before?: readonly string[];
}

/** Validates a component of any type. */
function settle(component: Kept, rules: ComponentRules, about: About): ResolvedComponent {
  const { app = "", given = [], held = [], before = [] } = about;
  const { chartHosts } = rules;
  if (component.chart_spec) return resolveChartComponent(component, { app, chartHosts, given, held, before });
  return resolveAddonComponent(component, rules.findDefinition, given);
}

/** Splits a component of a request into the stored component and its secrets. */
export function storedPart(
  { secrets = {}, ...given }: Given,
  rules: ComponentRules,
): { kept: Kept; secrets: SecretChanges; problems: readonly ValidationItem[] } {
  const { component: kept, inline, problems } = settle(given, rules, { given: Object.keys(secrets) });
  return { kept, secrets: secretsGiven(kept.name, { ...inline, ...secrets }), problems };
}

const secretsGiven = (name: string, secrets: Readonly<Record<string, string | null>>): SecretChanges =>
  Object.keys(secrets).length === 0 ? NO_SECRET_CHANGES : setSecrets(name, secrets);

/**
 * Returns the problems of the changes that do not depend on the app: an addition must be complete, and a removal only
 * names the component.
 */
export function changeProblems(changes: readonly ComponentChange[], rules: ComponentRules): ValidationItem[] {
  const added = changes.flatMap(({ op, ...component }, index) => {
    if (op !== "add" || checkWhole(component, at(index)).problems.length > 0) return [];
    // What the rest of the app may have is not missing.
    const own = problemsOf({ name: "", components: [component as Given] }, { isPartial: true });
    return own.map((problem) => itemAt([...at(index), ...problem.path.slice(2)], problem));
  });
  return [...formProblems(changes, rules), ...added];
}

function formProblems(changes: readonly ComponentChange[], rules: ComponentRules): ValidationItem[] {
  return changes.flatMap(({ op, ...component }, index) => {
    if (op === "add") {
      const { value, problems } = checkWhole(component, at(index));
      return problems.length > 0 ? problems : placed(storedPart(value as Given, rules).problems, index);
    }
    if (op === "patch") return [];
    return Object.keys(component)
      .filter((field) => field !== "name")
      .map((field) => ({ loc: [...at(index), field], msg: "Extra inputs are not permitted", type: "extra_forbidden" }));
  });
}

/**
 * Applies the changes one after the other, or returns why not: the first that is in conflict with the app, else all problems
 * of what comes of them. `secretPaths` are those of the app. The cluster has refused to change the volumes of the
 * `unchanged` components, so they may be set back.
 */
export function changeComponents(
  appName: string,
  before: readonly Kept[],
  changes: readonly ComponentChange[],
  rules: ChangeRules,
  secretPaths: readonly string[] = [],
  unchanged: ReadonlySet<string> = new Set(),
): ChangedComponents | Fault {
  let components = [...before];
  let secrets = NO_SECRET_CHANGES;
  const problems = formProblems(changes, rules);
  for (const [index, change] of changes.entries()) {
    const held = keysOf(secretPathsAfter(secretPaths, secrets), change.name);
    const mayChangeVolumes = unchanged.has(change.name);
    const changed = changeOne(components, change, index, rules, { app: appName, held, mayChangeVolumes });
    if (changed instanceof Fault) return changed;
    components = changed.components;
    secrets = combineSecretChanges(secrets, changed.secrets);
    problems.push(...changed.problems);
  }
  const broken = brokenReference(components, changes);
  if (broken) return broken;
  const had = { components: before, secretPaths };
  const has = { components, secretPaths: secretPathsAfter(secretPaths, secrets) };
  const added = [...projectProblemsAdded(before, components, rules.project), ...missingSecretsAdded(had, has)];
  problems.push(
    ...volumesByReplacement(before, components, changes),
    ...problemsAfter({ name: appName, components }, changes, added),
  );
  if (problems.length > 0) return invalid(problems);
  const isAllowed = (name: string) => isDowngradeAllowed(changes, name);
  return componentDowngrade(before, components, rules.findDefinition, isAllowed) ?? { components, secrets };
}

/** An addition has no such word: whoever replaces a component by an older one within a request patches it instead. */
const isDowngradeAllowed = (changes: readonly ComponentChange[], component: string): boolean =>
  changes.some(({ op, name, allow_downgrade }) => op === "patch" && name === component && allow_downgrade === true);

function changeOne(
  components: readonly Kept[],
  change: ComponentChange,
  index: number,
  rules: ComponentRules,
  { app, held, mayChangeVolumes }: Required<Pick<About, "app" | "held">> & { readonly mayChangeVolumes: boolean },
): OneChange | Fault {
  const { op, name } = change;
  const current = components.find((component) => component.name === name);
  if (op === "add") {
    if (current) return codedConflict("name_taken", `The app already has a component ${name}.`, { component: name });
    const { op: _op, ...given } = change;
    const { value, problems } = checkWhole(given, at(index));
    if (problems.length > 0) return { components: [...components], secrets: NO_SECRET_CHANGES, problems: [] };
    const { kept, secrets } = storedPart(value as Given, rules);
    return { components: [...components, kept], secrets, problems: [] };
  }
  if (!current) return notFound(`Component ${name}`);
  if (op === "remove") {
    const others = components.filter((component) => component !== current);
    return { components: others, secrets: dropSecrets([name]), problems: [] };
  }
  const { op: _op, secrets: patched, recreate = false, allow_downgrade: _allowed, ...patch } = change;
  const secrets = patched as Record<string, string | null> | null | undefined;
  const { value, problems } = checkStored(mergePatch(current, patch), at(index));
  if (problems.length > 0) return { components: [...components], secrets: NO_SECRET_CHANGES, problems };
  const whole = keepSealedPaths(current, value as Kept);
  const isReplaced = losesVolumes(current, whole);
  if (isReplaced && recreate !== true) return recreateRequired(name);
  const impossible = isReplaced || mayChangeVolumes ? [] : impossibleVolumes(current, whole);
  // A component whose addon or chart the patch does not touch is not validated again: the rules may be stricter by now.
  const isTouched = patch["addon_spec"] !== undefined || patch["chart_spec"] !== undefined;
  const about = {
    app,
    given: Object.keys(secrets ?? {}),
    // A secret that the request removes is not one to refer to.
    held: held.filter((key) => secrets !== null && secrets?.[key] !== null),
    before: secretPathsOfChart(current.chart_spec),
  };
  const touched = isTouched ? settle(whole, rules, about) : null;
  return {
    components: components.map((component) => (component === current ? (touched?.component ?? whole) : component)),
    secrets: patchedSecrets(name, secrets, touched?.inline ?? {}),
    problems: placed([...impossible, ...(touched?.problems ?? [])], index),
  };
}

/** `secrets: null` removes all secrets, as in a merge patch. */
function patchedSecrets(
  name: string,
  secrets: Readonly<Record<string, string | null>> | null | undefined,
  inline: Readonly<Record<string, string>>,
): SecretChanges {
  const given = secretsGiven(name, { ...inline, ...secrets });
  return secrets === null ? combineSecretChanges(dropSecrets([name]), given) : given;
}

function brokenReference(components: readonly Kept[], changes: readonly ComponentChange[]): Fault | null {
  const names = new Set(components.map(({ name }) => name));
  const removed = new Set(changes.flatMap(({ op, name }) => (op === "remove" && !names.has(name) ? [name] : [])));
  const broken = needsOf(components).find(({ by, to }) => by === "export_ref" && removed.has(to));
  if (!broken) return null;
  const { from, to } = broken;
  return codedConflict("export_ref_in_use", `Component ${to} is needed by an export_ref of ${from}.`, {
    component: to,
    referenced_by: from,
  });
}

/** A component that is removed and added in one request keeps its volumes in the cluster. */
function volumesByReplacement(
  before: readonly Kept[],
  after: readonly Kept[],
  changes: readonly ComponentChange[],
): ValidationItem[] {
  return changes.flatMap(({ op, name }, index) => {
    const [old, added] = [before, after].map((components) => components.find((component) => component.name === name));
    return op === "add" && added && !losesVolumes(old, added) ? placed(impossibleVolumes(old, added), index) : [];
  });
}

/**
 * Returns the problems of the app as it would be, each at the change that caused it: the one that touched the component, or
 * the one that removed what it names. A problem that the app has already is reported too, so that a change does not
 * succeed with an app that cannot run; of what the app may lack, only what is `added` is.
 */
function problemsAfter(
  app: JudgedApp,
  changes: readonly ComponentChange[],
  added: readonly AppProblem[],
): ValidationItem[] {
  if (changes.length === 0) return [];
  const lastChangeOf = (name: unknown, op?: string) =>
    changes.findLastIndex((change) => change.name === name && (op === undefined || change.op === op));
  return [...problemsOf(app), ...added].map((problem) => {
    const [, position, ...rest] = problem.path;
    const touched = lastChangeOf(app.components[Number(position)]?.name);
    if (touched >= 0) return itemAt([...at(touched), ...rest], problem);
    const removal = lastChangeOf(valueAt(app, problem.path), "remove");
    return itemAt(removal < 0 ? ["body", "components"] : [...at(removal), "name"], problem);
  });
}

/** Problems of a new app that its schema cannot express, each at its place in the request. */
export const newAppProblems = (
  name: string,
  components: readonly Given[],
  rules: ComponentRules,
  { isPartial = false } = {},
): ValidationItem[] => [
  ...[
    ...problemsOf({ name, components }, { isPartial }),
    ...(isPartial ? [] : missingSecretsOf(components, (component) => secretsGivenTo(components, component))),
  ].map((problem) => itemAt(["body", ...problem.path], problem)),
  ...components.flatMap((component, index) => placed(storedPart(component, rules).problems, index)),
];

const secretsGivenTo = (components: readonly Given[], name: string): string[] =>
  components.flatMap((component) => (component.name === name ? Object.keys(component.secrets ?? {}) : []));
