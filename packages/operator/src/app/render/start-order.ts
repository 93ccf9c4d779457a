import { needsOf as allNeedsOf, type DesiredComponent } from "@binnacle/contract";

type Needing = Pick<DesiredComponent, "name" | "depends_on" | "export_refs" | "workload_spec">;

/** Components that each component needs, by name. */
export function needsOf(components: readonly Needing[]): ReadonlyMap<string, readonly string[]> {
  const needs = Map.groupBy(allNeedsOf(components), ({ from }) => from);
  const names = components.map(({ name }) => name);
  return new Map(
    names.map((name) => {
      const needed = new Set((needs.get(name) ?? []).map(({ to }) => to));
      return [name, names.filter((other) => needed.has(other)).sort()];
    }),
  );
}

/** Waves of components: each needs nothing but what is in those before it. Components that need each other have none. */
export function startOrder(components: readonly Needing[]): string[][] {
  const needs = needsOf(components);
  const placed = new Set<string>();
  const waves: string[][] = [];
  for (;;) {
    const wave = [...needs].flatMap(([name, its]) =>
      !placed.has(name) && its.every((need) => placed.has(need)) ? [name] : [],
    );
    if (wave.length === 0) return waves;
    for (const name of wave) placed.add(name);
    waves.push(wave);
  }
}
