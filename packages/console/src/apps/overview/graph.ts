import type { AppComponent } from "@binnacle/client";

export interface GraphNode {
  readonly id: string;
  /** `outside`: an addon instance of the project, or a name that nothing in the app has. */
  readonly kind: "component" | "outside";
}

export interface GraphEdge {
  /** What is needed. */
  readonly from: string;
  /** Who needs it. */
  readonly to: string;
  /** Whether it only has to start before, or also hands something over. */
  readonly kind: "dependency" | "export";
  /** The exports that are handed over; empty for all of them. */
  readonly keys: readonly string[];
}

export interface Graph {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

interface Need {
  readonly component: string;
  /** Null where it is only waited for, or where all exports are used. */
  readonly key: string | null;
  readonly kind: GraphEdge["kind"];
}

function needsOf({ depends_on = [], export_refs = [], workload_spec }: AppComponent): readonly Need[] {
  const containers = [...(workload_spec?.init_containers ?? []), ...(workload_spec?.sidecars ?? [])];
  const variables = [...(workload_spec?.env ?? []), ...containers.flatMap(({ env = [] }) => env)];
  return [
    ...depends_on.map((component) => ({ component, key: null, kind: "dependency" as const })),
    ...export_refs.map(({ component, key = null }) => ({ component, key, kind: "export" as const })),
    ...variables.flatMap(({ export_ref: ref }) =>
      ref ? [{ component: ref.component, key: ref.key, kind: "export" as const }] : [],
    ),
  ];
}

/** The components of an app and what each needs of the others. One edge joins two of them, whatever the number of reasons. */
export function graphOf(components: readonly AppComponent[]): Graph {
  const names = new Set(components.map(({ name }) => name));
  const edges = components.flatMap((component): readonly GraphEdge[] =>
    [...Map.groupBy(needsOf(component), (need) => need.component)].map(([from, needs]) => ({
      from,
      to: component.name,
      kind: needs.some(({ kind }) => kind === "export") ? "export" : "dependency",
      keys: [...new Set(needs.flatMap(({ key }) => (key === null ? [] : [key])))],
    })),
  );
  const outside = new Set(edges.map(({ from }) => from).filter((name) => !names.has(name)));
  return {
    nodes: [
      ...[...names].map((id) => ({ id, kind: "component" as const })),
      ...[...outside].map((id) => ({ id, kind: "outside" as const })),
    ],
    edges,
  };
}

/** An edge in words, for those who hear it. */
export const edgeText = ({ from, to, kind, keys }: GraphEdge): string =>
  kind === "dependency"
    ? `${to} starts after ${from}`
    : `${to} uses ${keys.length > 0 ? keys.join(", ") : "all exports"} of ${from}`;
