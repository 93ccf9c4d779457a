import { type DesiredComponent, workloadVariables } from "@binnacle/contract";

type Needing = Pick<DesiredComponent, "name" | "depends_on" | "export_refs" | "workload_spec">;

/** Names that a component's export_refs take from, those of its variables included. */
const exportersOf = ({ export_refs = [], workload_spec }: Omit<Needing, "name" | "depends_on">): string[] => [
  ...export_refs.map(({ component }) => component),
  ...workloadVariables(workload_spec).flatMap(({ variable: { export_ref } }) =>
    export_ref ? [export_ref.component] : [],
  ),
];

/** Components that each component needs, by name. */
export function needsOf(components: readonly Needing[]): ReadonlyMap<string, readonly string[]> {
  const names = new Set(components.map(({ name }) => name));
  return new Map(
    components.map((component) => {
      const needs = [...(component.depends_on ?? []), ...exportersOf(component)];
      return [component.name, [...new Set(needs)].filter((name) => names.has(name)).sort()];
    }),
  );
}

interface StartOrder {
  /** Each wave needs nothing but what is in those before it. */
  readonly waves: readonly (readonly string[])[];
  /** Components that need each other, each the next and the last the first; empty where all have a wave. */
  readonly circle: readonly string[];
}

export function startOrder(components: readonly Needing[]): StartOrder {
  const needs = needsOf(components);
  const placed = new Set<string>();
  const waves: string[][] = [];
  for (;;) {
    const wave = [...needs].flatMap(([name, its]) =>
      !placed.has(name) && its.every((need) => placed.has(need)) ? [name] : [],
    );
    if (wave.length === 0) break;
    for (const name of wave) placed.add(name);
    waves.push(wave);
  }
  return { waves, circle: circleOf(needs, placed) };
}

/** A component without a place needs another one without a place, so following the needs finds the cycle. */
function circleOf(needs: ReadonlyMap<string, readonly string[]>, placed: ReadonlySet<string>): string[] {
  const path: string[] = [];
  let at = [...needs.keys()].find((name) => !placed.has(name));
  while (at !== undefined && !path.includes(at)) {
    path.push(at);
    at = needs.get(at)?.find((need) => !placed.has(need));
  }
  return at === undefined ? [] : path.slice(path.indexOf(at));
}
