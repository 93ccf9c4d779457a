import {
  type ComponentSpec,
  unknownPlaceholders,
  type ValidationItem,
  type WorkloadSpec,
  workloadVariables,
} from "@binnacle/contract";
import { fileProblems } from "./file-mounts.ts";
import { isImageReference, scheduleProblem } from "./workload-syntax.ts";

type Loc = ValidationItem["loc"];

/** Names of objects contain both, and with what Kubernetes appends they must stay within 63 characters. */
const LONGEST_NAMES_TOGETHER = 52;

/** Returns the problems of components that a schema cannot express, each with its location in the list. */
export function componentProblems(
  appName: string,
  components: readonly ComponentSpec[],
  { isPartial = false } = {},
): ValidationItem[] {
  return [
    ...repeats(components, (component) => component.name).map((index) =>
      wrong([index, "name"], "Names must be unique"),
    ),
    ...components.flatMap((component, index) => [
      ...nameProblems(appName, component, index),
      ...(component.workload_spec
        ? workloadProblems(component, component.workload_spec, [index, "workload_spec"])
        : []),
      ...exportProblems(component, index),
    ]),
    ...sharedObjectNames(appName, components),
    ...needProblems(components, isPartial),
    ...(isPartial ? [] : affinityProblems(components)),
  ];
}

/** A name of an object in the cluster, with the component that it belongs to. */
export interface ObjectName {
  readonly name: string;
  readonly component: string;
}

/**
 * Returns the names of the objects that the components become in the cluster, as far as they can be equal to those of
 * another component: that of the workload and its Service, that of the headless Service, and those of the claims. Claims
 * are objects of their own kind, so they are told apart by a prefix.
 */
export function objectNames(appName: string, components: readonly ComponentSpec[]): ObjectName[] {
  return components.flatMap(({ name: component, workload_spec }) => {
    const base = `${appName}-${component}`;
    const headless = workload_spec?.kind === "statefulset" ? [`${base}-headless`] : [];
    // The claims of a StatefulSet begin with the name of the volume.
    const volumes = workload_spec?.kind === "statefulset" ? [] : (workload_spec?.volumes ?? []);
    const claims = volumes.map(({ name }) => `volume ${base}-${name}`);
    return [base, ...headless, ...claims].map((name) => ({ name, component }));
  });
}

/** Returns an object of one of the other apps that has one of the names. */
export function findSharedName(
  others: readonly { readonly name: string; readonly components: readonly ComponentSpec[] }[],
  wanted: readonly ObjectName[],
): { readonly app: string; readonly owner: ObjectName; readonly wanted: ObjectName } | null {
  const byName = new Map(wanted.map((name) => [name.name, name]));
  for (const { name: app, components } of others) {
    for (const owner of objectNames(app, components)) {
      const same = byName.get(owner.name);
      if (same) return { app, owner, wanted: same };
    }
  }
  return null;
}

/**
 * Reports both components of which an object would have the same name, so that a change is told of it whichever of them
 * it touches. Equal names of components are reported elsewhere.
 */
function sharedObjectNames(appName: string, components: readonly ComponentSpec[]): ValidationItem[] {
  const sharers = [...Map.groupBy(objectNames(appName, components), ({ name }) => name)].flatMap(([object, owners]) => {
    const [first, second] = new Set(owners.map(({ component }) => component));
    return first === undefined || second === undefined ? [] : [{ object, pair: [first, second] }];
  });
  return components.flatMap(({ name }, index) => {
    const shared = sharers.find(({ pair }) => pair.includes(name));
    if (!shared) return [];
    const other = shared.pair.find((each) => each !== name);
    return [wrong([index, "name"], `Component ${other} has an object of the same name, ${shared.object}`)];
  });
}

const wrong = (loc: Loc, msg: string): ValidationItem => ({ loc, msg, type: "value_error" });

function nameProblems(appName: string, { name }: ComponentSpec, index: number): ValidationItem[] {
  if (appName.length + name.length <= LONGEST_NAMES_TOGETHER) return [];
  return [wrong([index, "name"], `App and component name together are at most ${LONGEST_NAMES_TOGETHER} characters`)];
}

const LONGEST_NAMED = 100;

/** One problem for each export, because a text may hold thousands of placeholders. */
function exportProblems(component: ComponentSpec, index: number): ValidationItem[] {
  const byKey = Map.groupBy(unknownPlaceholders(component), ({ key }) => key);
  return [...byKey.values()].flatMap(([first]) => {
    if (!first) return [];
    const { key, placeholder, known } = first;
    const choice = known.length > 0 ? `use ${known.join(", ")}` : "it may use none";
    const msg = `The component has no value for the placeholder ${placeholder.slice(0, LONGEST_NAMED)}: ${choice}, or write $\${ for the text itself`;
    return [wrong([index, "exports", key], msg)];
  });
}

const NO_IMAGE =
  "Input should be the name of an image such as registry.example.com/team/app:1.2, in lower case, with at most one tag and one digest";

/** Returns the problems of one workload that a schema cannot express. */
export function workloadProblems(
  component: Pick<ComponentSpec, "name">,
  spec: WorkloadSpec,
  loc: Loc,
): ValidationItem[] {
  const { env = [], ports = [], volumes = [], topology_spread = [], autoscale, image, schedule } = spec;
  const cron = schedule === undefined ? null : scheduleProblem(schedule);
  const repeated = <T>(field: string, items: readonly T[], keyOf: (item: T) => unknown, key: string) =>
    repeats(items, keyOf).map((at) => wrong([...loc, field, at, key], "Values must be unique"));
  return [
    ...repeated("env", env, ({ name }) => name, "name"),
    ...repeated("ports", ports, ({ name }) => name, "name"),
    ...repeated("ports", ports, ({ port, protocol = "TCP" }) => `${port}/${protocol}`, "port"),
    ...repeated("volumes", volumes, ({ name }) => name, "name"),
    ...repeated("volumes", volumes, ({ mount_path }) => mount_path, "mount_path"),
    ...repeated("topology_spread", topology_spread, spreadOf, "topology_key"),
    ...fileProblems(spec, loc),
    ...containerProblems(component, spec, loc),
    ...(image === undefined || isImageReference(image) ? [] : [wrong([...loc, "image"], NO_IMAGE)]),
    ...(cron === null ? [] : [wrong([...loc, "schedule"], cron)]),
    ...(autoscale && autoscale.min > autoscale.max
      ? [wrong([...loc, "autoscale", "max"], "The most replicas must not be fewer than the least")]
      : []),
  ];
}

/** All containers of a pod have names of their own. The one of the component has the component's. */
function containerProblems({ name: own }: Pick<ComponentSpec, "name">, spec: WorkloadSpec, loc: Loc): ValidationItem[] {
  const taken = new Set([own]);
  return (["init_containers", "sidecars"] as const).flatMap((list) =>
    (spec[list] ?? []).flatMap(({ name, image, env = [] }, index) => {
      const at = [...loc, list, index];
      const isTaken = taken.has(name);
      taken.add(name);
      const msg = name === own ? `The container of the component itself is called ${own}` : "Values must be unique";
      return [
        ...(isTaken ? [wrong([...at, "name"], msg)] : []),
        ...(isImageReference(image) ? [] : [wrong([...at, "image"], NO_IMAGE)]),
        ...repeats(env, (variable) => variable.name).map((each) =>
          wrong([...at, "env", each, "name"], "Values must be unique"),
        ),
      ];
    }),
  );
}

/** Kubernetes takes one constraint for each. */
const spreadOf = ({ topology_key, when_unsatisfiable }: NonNullable<WorkloadSpec["topology_spread"]>[number]) =>
  `${when_unsatisfiable ?? "ScheduleAnyway"} ${topology_key}`;

/** Pods of other apps are not addressed, so a name that is none of the app's would silently match nothing. */
function affinityProblems(components: readonly ComponentSpec[]): ValidationItem[] {
  const names = new Set(components.map(({ name }) => name));
  return components.flatMap(({ workload_spec }, index) =>
    (["pod_affinity", "pod_anti_affinity"] as const).flatMap((field) =>
      (["required", "preferred"] as const).flatMap((strength) =>
        (workload_spec?.affinity?.[field]?.[strength] ?? []).flatMap(({ component }, at) => {
          if (component === undefined || names.has(component)) return [];
          const loc = [index, "workload_spec", "affinity", field, strength, at, "component"];
          return [wrong(loc, "The app has no component of this name")];
        }),
      ),
    ),
  );
}

/**
 * An export_ref that names no component is accepted here; the cluster reports it as invalid. Of a partial list it is not
 * known what is missing.
 */
function needProblems(components: readonly ComponentSpec[], isPartial: boolean): ValidationItem[] {
  const names = new Set(components.map(({ name }) => name));
  const needs = needsOf(components);
  return [
    ...needs
      .filter(({ by, to }) => by === "depends_on" && !names.has(to) && !isPartial)
      .map(({ loc }) => wrong(loc, "The app has no component of this name")),
    ...circularNeeds(needs).map(({ loc, from, to }) => wrong(loc, `${from} and ${to} need each other in a circle`)),
  ];
}

/** Returns the indexes of items with the same key as an earlier one. */
function repeats<T>(items: readonly T[], keyOf: (item: T) => unknown): number[] {
  const seen = new Set<unknown>();
  return items.flatMap((item, index) => {
    const key = keyOf(item);
    if (seen.has(key)) return [index];
    seen.add(key);
    return [];
  });
}

/** A dependency of one component on another, with its location. */
export interface Need {
  readonly from: string;
  readonly to: string;
  readonly by: "depends_on" | "export_ref";
  /** The location, starting at the list of components. */
  readonly loc: ValidationItem["loc"];
}

export function needsOf(components: readonly ComponentSpec[]): Need[] {
  return components.flatMap(({ name: from, depends_on = [], export_refs = [], workload_spec }, index) => [
    ...depends_on.map((to, at): Need => ({ from, to, by: "depends_on", loc: [index, "depends_on", at] })),
    ...export_refs.map(({ component: to }, at): Need => {
      return { from, to, by: "export_ref", loc: [index, "export_refs", at, "component"] };
    }),
    ...workloadVariables(workload_spec).flatMap(({ variable: { export_ref }, at }): Need[] => {
      if (!export_ref) return [];
      const loc = [index, "workload_spec", ...at, "export_ref", "component"];
      return [{ from, to: export_ref.component, by: "export_ref", loc }];
    }),
  ]);
}

/** Returns the dependencies that are part of a cycle. */
export function circularNeeds(needs: readonly Need[]): Need[] {
  const next = new Map<string, Set<string>>();
  for (const { from, to } of needs) next.set(from, (next.get(from) ?? new Set()).add(to));
  const reached = new Map([...next.keys()].map((name) => [name, reachableFrom(name, next)]));
  return needs.filter(({ from, to }) => from === to || reached.get(to)?.has(from));
}

function reachableFrom(start: string, next: ReadonlyMap<string, ReadonlySet<string>>): Set<string> {
  const reached = new Set<string>();
  const waiting = [start];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    for (const to of next.get(name) ?? []) {
      if (reached.has(to)) continue;
      reached.add(to);
      waiting.push(to);
    }
  }
  return reached;
}
