import type { ComponentSpec } from "./component.ts";
import { servedExports, unknownPlaceholders } from "./exports.ts";
import { LONGEST_NAMES_TOGETHER, objectNames } from "./names.ts";
import { circularNeeds, type Need, needsOf } from "./needs.ts";
import { type AppProblem, problem, repeats } from "./problem.ts";
import type { WarningCode } from "./reasons.ts";
import { ingressAddress, type Workload, workloadProblems } from "./workload-problems.ts";

/** What is judged of a component, as a request, a template or the operator has it. */
export type JudgedComponent = Pick<ComponentSpec, "name" | "type" | "depends_on" | "export_refs" | "exports"> & {
  readonly workload_spec?: Workload;
};

export interface JudgedApp {
  readonly name: string;
  readonly components: readonly JudgedComponent[];
}

/** More are not reported by operators, and not shown together. */
export const MOST_COMPONENTS = 100;
/** As JSON. An app and its secrets have to fit into one frame to its cluster, and into one object there. */
const LARGEST_APP_BYTES = 1_000_000;

/**
 * Returns everything that keeps the app from ever running, whatever the cluster has, and that no schema can express. Of a
 * partial app some fields or components were taken out, so nothing is said about what it seems not to have.
 */
export function problemsOf({ name, components }: JudgedApp, { isPartial = false } = {}): AppProblem[] {
  if (components.length === 0 && !isPartial) {
    return [problem("NoComponents", ["components"], `The app ${name} has no components.`)];
  }
  return [
    ...sizeProblems(name, components),
    ...repeats(components, (component) => component.name).map(({ index, item }) =>
      problem("DuplicateName", at(index, "name"), `Two components have the name ${item.name}.`),
    ),
    ...components.flatMap((component, index) => [
      ...nameProblems(name, component, index),
      ...(component.workload_spec
        ? workloadProblems({
            name: component.name,
            spec: component.workload_spec,
            at: at(index, "workload_spec"),
            isPartial,
          })
        : []),
      ...(isPartial ? [] : exportProblems(component, index)),
    ]),
    ...sharedObjectNames(name, components),
    ...sharedAddresses(components),
    ...needProblems(components, isPartial),
    ...(isPartial ? [] : affinityProblems(components)),
  ];
}

const at = (index: number, ...steps: AppProblem["path"]): AppProblem["path"] => ["components", index, ...steps];

function sizeProblems(app: string, components: readonly JudgedComponent[]): AppProblem[] {
  const text = JSON.stringify(components);
  // Of few characters the bytes are not counted: each has three at most.
  const bytes = text.length * 3 > LARGEST_APP_BYTES ? new TextEncoder().encode(text).length : 0;
  const tooMany = `The app ${app} has ${components.length} components; ${MOST_COMPONENTS} are the most. Make two apps of it.`;
  const tooLarge = `The components of the app ${app} have ${bytes} bytes as JSON; ${LARGEST_APP_BYTES} are the most. Move files into the image or a volume.`;
  return [
    ...(components.length > MOST_COMPONENTS ? [problem("TooManyComponents", ["components"], tooMany)] : []),
    ...(bytes > LARGEST_APP_BYTES ? [problem("AppTooLarge", ["components"], tooLarge)] : []),
  ];
}

function nameProblems(app: string, { name }: JudgedComponent, index: number): AppProblem[] {
  if (app.length + name.length <= LONGEST_NAMES_TOGETHER) return [];
  const message = `The names of app ${app} and component ${name} are together longer than ${LONGEST_NAMES_TOGETHER} characters.`;
  return [problem("NameTooLong", at(index, "name"), message)];
}

const KEYS_NAMED = 10;
const LONGEST_NAMED = 100;
const named = (keys: readonly string[]) => keys.slice(0, KEYS_NAMED).join(", ") || "nothing";

/** One problem for each export, because a text may hold thousands of placeholders. */
function exportProblems(component: JudgedComponent, index: number): AppProblem[] {
  const byKey = Map.groupBy(unknownPlaceholders(component), ({ key }) => key);
  return [...byKey.values()].flatMap(([first]) => {
    if (!first) return [];
    const { key, placeholder, known } = first;
    const message = `Component ${component.name} uses \${${placeholder.slice(0, LONGEST_NAMED)}} in exports.${key}, but its exports may use ${named(known)}; $\${ is the text itself.`;
    return [problem("UnknownExport", at(index, "exports", key), message)];
  });
}

/**
 * Reports both components of which an object would have the same name, so that a change is told of it whichever of them
 * it touches. Equal names of components are reported elsewhere.
 */
function sharedObjectNames(app: string, components: readonly JudgedComponent[]): AppProblem[] {
  const sharers = [...Map.groupBy(objectNames(app, components), ({ name }) => name)].flatMap(([object, owners]) => {
    const [first, second] = new Set(owners.map(({ component }) => component));
    return first === undefined || second === undefined ? [] : [{ object, pair: [first, second] }];
  });
  return components.flatMap(({ name }, index) => {
    const shared = sharers.find(({ pair }) => pair.includes(name));
    if (!shared) return [];
    const message = `Components ${shared.pair.join(" and ")} would both have an object ${shared.object}: rename one of them.`;
    return [problem("DuplicateName", at(index, "name"), message)];
  });
}

function sharedAddresses(components: readonly JudgedComponent[]): AppProblem[] {
  const owners = new Map<string, string>();
  return components.flatMap(({ name, workload_spec }, index) => {
    const ingress = workload_spec?.ingress;
    if (!ingress) return [];
    const address = ingressAddress(ingress);
    const owner = owners.get(address);
    owners.set(address, owner ?? name);
    if (owner === undefined) return [];
    const message = `Components ${owner} and ${name} both have ${address} in workload_spec.ingress.`;
    return [problem("IngressConflict", at(index, "workload_spec", "ingress"), message)];
  });
}

/** An export_ref that names no component is not a problem here: it is recorded, and `warningsOf` has it. */
function needProblems(components: readonly JudgedComponent[], isPartial: boolean): AppProblem[] {
  const names = new Set(components.map(({ name }) => name));
  const needs = needsOf(components);
  return [
    ...needs
      .filter(({ by, to }) => by === "depends_on" && !names.has(to) && !isPartial)
      .map((need) => problem("UnknownComponent", ["components", ...need.at], unknownComponent(need))),
    ...circularNeeds(needs).map(({ need, circle }) => {
      const pass = [...circle, circle[0]].join(" → ");
      const message = `Components need each other in a circle, by depends_on or export_ref: ${pass}.`;
      return problem("DependencyCircle", ["components", ...need.at], message);
    }),
  ];
}

const unknownComponent = ({ from, to, field }: Pick<Need, "from" | "to" | "field">): string =>
  `Component ${from} names ${to} in ${field}, but the app has no such component.`;

/** Pods of other apps are not addressed, so a name that is none of the app's would silently match nothing. */
function affinityProblems(components: readonly JudgedComponent[]): AppProblem[] {
  const names = new Set(components.map(({ name }) => name));
  return components.flatMap(({ name: from, workload_spec }, index) =>
    (["pod_affinity", "pod_anti_affinity"] as const).flatMap((kind) =>
      (["required", "preferred"] as const).flatMap((strength) =>
        (workload_spec?.affinity?.[kind]?.[strength] ?? []).flatMap(({ component: to }, term) => {
          if (to === undefined || names.has(to)) return [];
          const path = at(index, "workload_spec", "affinity", kind, strength, term, "component");
          const field = `workload_spec.affinity.${kind}`;
          return [problem("UnknownAffinity", path, unknownComponent({ from, to, field }))];
        }),
      ),
    ),
  );
}

export interface Warning extends AppProblem {
  readonly code: WarningCode;
  /** The component with the problem. */
  readonly component: string;
  /** The component that it names and the app does not have. */
  readonly missing: string | null;
}

/** The keys of the secrets that a component has. */
export type SecretKeys = (component: string) => readonly string[];

/**
 * Returns what the app names and does not have. An image or another component may come later, and a secret may have been
 * removed, so the app is recorded nevertheless; until it has them the phase is `invalid`.
 */
export function warningsOf({ components }: Pick<JudgedApp, "components">, secretKeysOf: SecretKeys): Warning[] {
  const byName = new Map(components.map((component) => [component.name, component]));
  return [
    ...components.flatMap((component, index) => missingImage(component, index)),
    ...missingSecretsOf(components, secretKeysOf),
    ...needsOf(components).flatMap((need) => missingExport(need, byName)),
  ];
}

function missingImage({ name, type = "workload", workload_spec }: JudgedComponent, index: number): Warning[] {
  if (type !== "workload" || workload_spec?.image) return [];
  const message = `Component ${name} has no image in workload_spec.image.`;
  return [{ ...problem("MissingImage", at(index, "workload_spec", "image"), message), component: name, missing: null }];
}

/** Secrets of files that are not set. Requests that would add one are refused; apps get there when a secret is removed. */
export const missingSecretsOf = (components: readonly JudgedComponent[], secretKeysOf: SecretKeys): Warning[] =>
  components.flatMap((component, index) => missingSecrets(component, index, secretKeysOf));

/** Pods with a file of a secret that is not set would wait for it without a word. */
function missingSecrets({ name, workload_spec }: JudgedComponent, index: number, keysOf: SecretKeys): Warning[] {
  const { files = [] } = workload_spec ?? {};
  const keys = files.length > 0 ? keysOf(name) : [];
  return files.flatMap(({ path, secret }, file) => {
    if (secret === undefined || keys.includes(secret)) return [];
    const message = `Component ${name} has no secret ${secret}, which workload_spec.files has at ${path}: set it, or remove the file.`;
    const place = at(index, "workload_spec", "files", file, "secret");
    return [{ ...problem("MissingSecret", place, message), component: name, missing: null }];
  });
}

function missingExport(need: Need, byName: ReadonlyMap<string, JudgedComponent>): Warning[] {
  const { by, from: component, to, at: place, key } = need;
  if (by === "depends_on") return [];
  const publisher = byName.get(to);
  if (!publisher) {
    const way = ` Add it; for an addon instance ${to}, add a component ${to} of type addon with addon_spec.instance ${to}.`;
    const found = problem("UnknownComponent", ["components", ...place], unknownComponent(need) + way);
    return [{ ...found, component, missing: to }];
  }
  // What an addon or a chart exports is known to its definition and to the cluster.
  if (key === undefined || (publisher.type ?? "workload") !== "workload") return [];
  const keys = [
    ...new Set([...Object.keys(servedExports(publisher, "")), ...Object.keys(publisher.exports ?? {})]),
  ].sort();
  if (keys.includes(key)) return [];
  const found = problem("UnknownExport", ["components", ...place.slice(0, -1), "key"], unknownExport(need, keys));
  return [{ ...found, component, missing: null }];
}

export const unknownExport = ({ from, to, key, field }: Need, keys: readonly string[]): string =>
  `Component ${from} asks for ${key} of ${to} in ${field}, but ${to} exports ${named(keys)}.`;
