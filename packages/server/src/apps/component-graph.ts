import type { ComponentSpec, ValidationItem } from "@binnacle/contract";

/** That one component needs another, and where it says so. */
export interface Need {
  readonly from: string;
  readonly to: string;
  readonly by: "depends_on" | "export_ref";
  /** From the list of components on. */
  readonly loc: ValidationItem["loc"];
}

export function needsOf(components: readonly ComponentSpec[]): Need[] {
  return components.flatMap(({ name: from, depends_on = [], export_refs = [], workload_spec }, index) => [
    ...depends_on.map((to, at): Need => ({ from, to, by: "depends_on", loc: [index, "depends_on", at] })),
    ...export_refs.map(({ component: to }, at): Need => {
      return { from, to, by: "export_ref", loc: [index, "export_refs", at, "component"] };
    }),
    ...(workload_spec?.env ?? []).flatMap(({ export_ref }, at): Need[] => {
      if (!export_ref) return [];
      const loc = [index, "workload_spec", "env", at, "export_ref", "component"];
      return [{ from, to: export_ref.component, by: "export_ref", loc }];
    }),
  ]);
}

/** The needs that lead round in a circle: what each of them waits for waits for it. */
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
