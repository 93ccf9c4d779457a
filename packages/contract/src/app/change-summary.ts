import {
  addLeaves,
  diffLeaves,
  type FieldChange,
  hiddenLeaf,
  type Leaf,
  type Leaves,
  shownLeaf,
} from "../field-change.ts";
import { mayBeSecret } from "../secret-names.ts";
import type { DeploymentOperation } from "../states.ts";
import { changeSentence, creationSentence } from "./change-sentence.ts";
import { type ComponentSpec, secretPathsOfChart, type WorkloadSpec } from "./component.ts";

/** What a change of an app can touch. Secrets are named and never read. */
export interface Revision {
  readonly components: readonly ComponentSpec[];
  readonly paused: boolean;
  readonly description: string | null;
  /** Each as `component/key`. */
  readonly secrets: readonly string[];
}

export const EMPTY_REVISION: Revision = { components: [], paused: false, description: null, secrets: [] };

/**
 * Compares two revisions of an app. `touched` are the secrets that were set between them, each as `component/key`. Contents of
 * files, commands and what either revision calls secret are named without their values.
 */
export function appChanges(before: Revision, after: Revision, touched: readonly string[] = []): FieldChange[] {
  const keys = { old: keysByComponent(before.secrets), now: keysByComponent(after.secrets), set: new Set(touched) };
  const names = new Set([...after.components, ...before.components].map(({ name }) => name));
  const components = [...names].flatMap((name): FieldChange[] => {
    const [old, now] = [before, after].map((revision) => revision.components.find((one) => one.name === name));
    const secrets = secretChanges(name, keys);
    if (!old || !now) return [presence(name, old, now), ...secrets];
    // A component that a request does not mention is the same object.
    if (old === now) return secrets;
    const hidden = [old, now].flatMap(({ chart_spec }) => secretPathsOfChart(chart_spec));
    return [...diffLeaves(name, leavesOf(old, hidden), leavesOf(now, hidden)), ...secrets].toSorted(byRank);
  });
  return [...diffLeaves(null, leavesOfWhole(before), leavesOfWhole(after)), ...components];
}

const leavesOfWhole = ({ paused, description }: Revision): Leaves =>
  new Map([
    ["paused", shownLeaf(paused, paused)],
    ...(description === null ? [] : ([["description", shownLeaf(description, description)]] as const)),
  ]);

const presence = (component: string, old?: ComponentSpec, now?: ComponentSpec): FieldChange => ({
  component,
  field: "component",
  change: old ? "removed" : "added",
  before: old ? headline(old) : null,
  after: now ? headline(now) : null,
});

/** The image, chart or addon by which people recognize a component. */
function headline({ type = "workload", workload_spec, chart_spec, addon_spec }: ComponentSpec): string {
  const chart = chart_spec && [chart_spec.name, chart_spec.version].filter(Boolean).join(" ");
  const text = workload_spec?.image ?? chart ?? addon_spec?.instance ?? type;
  return String(shownLeaf(text, text).shown);
}

type Keys = ReadonlyMap<string, ReadonlySet<string>>;

const keysByComponent = (paths: readonly string[]): Keys => {
  const keys = new Map<string, Set<string>>();
  for (const path of paths) {
    const slash = path.indexOf("/");
    const component = path.slice(0, slash);
    keys.set(component, (keys.get(component) ?? new Set()).add(path.slice(slash + 1)));
  }
  return keys;
};

const NO_KEYS: ReadonlySet<string> = new Set();

function secretChanges(
  component: string,
  keys: { readonly old: Keys; readonly now: Keys; readonly set: ReadonlySet<string> },
): FieldChange[] {
  const [old, now] = [keys.old.get(component) ?? NO_KEYS, keys.now.get(component) ?? NO_KEYS];
  return [...new Set([...old, ...now])].sort().flatMap((key): FieldChange[] => {
    const isSet = keys.set.has(`${component}/${key}`);
    const change = !old.has(key) ? "added" : !now.has(key) ? "removed" : isSet ? "changed" : null;
    return change ? [{ component, field: `secrets.${key}`, change, before: null, after: null }] : [];
  });
}

function leavesOf(component: ComponentSpec, secretPaths: readonly string[]): Leaves {
  const { name: _name, workload_spec, chart_spec, addon_spec, export_refs = [], ...rest } = component;
  const leaves = new Map<string, Leaf>();
  addLeaves(leaves, "", { type: "workload", ...rest });
  for (const ref of export_refs) {
    leaves.set(`export_refs.${[ref.component, ref.key].filter(Boolean).join(".")}`, hiddenLeaf(ref));
  }
  if (workload_spec) addWorkload(leaves, workload_spec);
  const { values: addonValues, ...addon } = addon_spec ?? {};
  const { values: chartValues, ...chart } = chart_spec ?? {};
  addLeaves(leaves, "addon", addon);
  addLeaves(leaves, "chart", chart);
  addValues(leaves, { ...addonValues, ...chartValues }, secretPaths);
  return leaves;
}

function addValues(leaves: Map<string, Leaf>, values: object, secretPaths: readonly string[]): void {
  const found = new Map<string, Leaf>();
  addLeaves(found, "values", values);
  const secret = new Set(secretPaths.map((path) => `values.${path}`));
  for (const [field, leaf] of found) {
    const steps = field.split(".");
    const isSecret = secret.size > 0 && steps.some((_, index) => secret.has(steps.slice(0, index + 1).join(".")));
    leaves.set(field, isSecret ? { ...leaf, shown: null } : leaf);
  }
}

function addWorkload(leaves: Map<string, Leaf>, spec: WorkloadSpec): void {
  const { ports = [], files = [], init_containers = [], sidecars = [], ...rest } = spec;
  const { image: _image, command: _command, args: _args, env: _env, ...fields } = rest;
  addContainer(leaves, "", rest);
  addLeaves(leaves, "", { replicas: 1, ...fields });
  for (const port of ports) {
    const { name, port: number, protocol = "TCP" } = port;
    leaves.set(`ports.${name}`, shownLeaf([number, protocol], protocol === "TCP" ? number : `${number}/${protocol}`));
  }
  for (const file of files) leaves.set(`files.${file.path}`, hiddenLeaf(file));
  for (const [field, containers] of Object.entries({ init_containers, sidecars })) {
    for (const { resources, ...container } of containers) {
      addContainer(leaves, `${field}.${container.name}.`, container);
      addLeaves(leaves, `${field}.${container.name}.resources`, resources);
    }
  }
}

type Container = Pick<WorkloadSpec, "image" | "command" | "args" | "env">;

function addContainer(leaves: Map<string, Leaf>, prefix: string, { image, command, args, env = [] }: Container): void {
  if (image !== undefined) leaves.set(`${prefix}image`, shownLeaf(image, image));
  for (const variable of env) leaves.set(`${prefix}env.${variable.name}`, variableLeaf(variable));
  // People write passwords into commands.
  if (command) leaves.set(`${prefix}command`, hiddenLeaf(command));
  if (args) leaves.set(`${prefix}args`, hiddenLeaf(args));
}

function variableLeaf(variable: NonNullable<WorkloadSpec["env"]>[number]): Leaf {
  const { name, value, export_ref } = variable;
  if (export_ref) return shownLeaf(variable, `${export_ref.component}.${export_ref.key}`);
  return value === undefined || mayBeSecret(name, value) ? hiddenLeaf(variable) : shownLeaf(variable, value);
}

const RANKS = [
  "type",
  "image",
  "chart",
  "addon",
  "replicas",
  "autoscale",
  "resources",
  "env",
  "secrets",
  "files",
  "ports",
];

/** The fields that people look for come first, the others in alphabetical order. */
function byRank(a: FieldChange, b: FieldChange): number {
  const rank = ({ field }: FieldChange) => RANKS.indexOf(field.split(".", 1)[0] ?? "") + 1 || RANKS.length + 1;
  return rank(a) - rank(b) || (a.field < b.field ? -1 : 1);
}

/** What an operation on an app has done, in one line. */
export function changeSummary(
  operation: DeploymentOperation,
  changes: readonly FieldChange[],
  { restored = null, isForced = false }: { readonly restored?: number | null; readonly isForced?: boolean } = {},
): string {
  switch (operation) {
    case "create":
      return creationSentence(changes);
    case "pause":
      return "Paused";
    case "resume":
      return "Resumed";
    case "redeploy":
      return isForced ? "Redeployed by force" : "Redeployed";
    case "rollback":
      return changeSentence(changes, `Rolled back to revision ${restored}`);
    case "update":
    case "scale":
    case "attach_addon":
    case "detach_addon":
    case "update_secrets":
      return changeSentence(changes) || "Nothing changed";
  }
}
