import type { ComponentSpec } from "./component.ts";
import { workloadVariables } from "./exports.ts";

type Needing = Pick<ComponentSpec, "name" | "depends_on" | "export_refs"> & {
  readonly workload_spec?: Parameters<typeof workloadVariables>[0];
};

/** A dependency of one component on another, with its place. */
export interface Need {
  readonly from: string;
  readonly to: string;
  readonly by: "depends_on" | "export_ref";
  /** The export that it takes; absent where it takes all, or depends only. */
  readonly key?: string;
  /** The place in the list of components. */
  readonly at: readonly (string | number)[];
  /** The field in words, for messages. */
  readonly field: string;
}

/** The dependencies of the components, each at the field that names the other component. */
export function needsOf(components: readonly Needing[]): Need[] {
  return components.flatMap(({ name: from, depends_on = [], export_refs = [], workload_spec }, index) => [
    ...depends_on.map(
      (to, at): Need => ({ from, to, by: "depends_on", at: [index, "depends_on", at], field: "depends_on" }),
    ),
    ...export_refs.map(({ component: to, key }, at): Need => {
      const place = [index, "export_refs", at, "component"];
      return { from, to, by: "export_ref", ...keyed(key), at: place, field: `export_refs[${at}]` };
    }),
    ...workloadVariables(workload_spec).flatMap(({ variable: { name, export_ref }, at }): Need[] => {
      if (!export_ref) return [];
      const { component: to, key } = export_ref;
      const place = [index, "workload_spec", ...at, "export_ref", "component"];
      return [{ from, to, by: "export_ref", key, at: place, field: `the export_ref of variable ${name}` }];
    }),
  ]);
}

const keyed = (key: string | undefined) => (key === undefined ? {} : { key });

type Graph = ReadonlyMap<string, ReadonlySet<string>>;

export interface CircularNeed {
  readonly need: Need;
  /** One circle in the knot that the need is part of: each needs the next, and the last the first. */
  readonly circle: readonly string[];
}

/** Returns the dependencies that are part of a circle. */
export function circularNeeds(needs: readonly Need[]): CircularNeed[] {
  const next = new Map<string, Set<string>>();
  for (const { from, to } of needs) next.set(from, (next.get(from) ?? new Set()).add(to));
  const reached = new Map([...next.keys()].map((name) => [name, reachableFrom(name, next)]));
  const isWithin = (from: string, to: string) => from === to || reached.get(to)?.has(from) === true;
  // Two components are in one knot if they need each other. One circle says enough about it, and a thousand needs of
  // it must not search for a thousand circles.
  const circles = new Map<string, readonly string[]>();
  return needs
    .filter(({ from, to }) => isWithin(from, to))
    .map((need) => {
      const { from, to } = need;
      const known = [...circles.keys()].find((name) => isWithin(from, name) && isWithin(name, from));
      const circle = circles.get(known ?? from) ?? [from, ...pathBetween(to, from, next)];
      circles.set(known ?? from, circle);
      return { need, circle };
    });
}

function reachableFrom(start: string, next: Graph): Set<string> {
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

/** The shortest way from one to the other, without the other. */
function pathBetween(from: string, to: string, next: Graph): string[] {
  const cameFrom = new Map<string, string | null>([[from, null]]);
  for (const name of cameFrom.keys()) {
    if (name === to) break;
    for (const other of next.get(name) ?? []) if (!cameFrom.has(other)) cameFrom.set(other, name);
  }
  const path: string[] = [];
  for (let name = cameFrom.get(to) ?? null; name !== null; name = cameFrom.get(name) ?? null) path.unshift(name);
  return path;
}
