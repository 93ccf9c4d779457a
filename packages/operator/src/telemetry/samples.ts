import { LABELS } from "@binnacle/contract";
import type { KubeObject } from "../kube/kube-client.ts";
import { fieldsIn, listIn, textIn } from "../kube/object-fields.ts";
import { parseQuantity } from "../kube/quantity.ts";
import type { SampleNews } from "../link/news-sink.ts";

type Amounts = SampleNews["capacity"];
type ComponentAmounts = SampleNews["components"][number];

/** As many as a frame takes. */
const MOST_COMPONENTS = 5_000;

export interface Measured {
  /** Null where the cluster measures nothing. */
  readonly nodes: readonly KubeObject[] | null;
  /** Of our components. */
  readonly pods: readonly KubeObject[];
  readonly capacity: Amounts;
  readonly atMs: number;
}

/** One look at a cluster, from what `metrics.k8s.io` says of nodes and pods. */
export function sampleOf({ nodes, pods, capacity, atMs }: Measured): SampleNews {
  return {
    at: new Date(atMs).toISOString(),
    used: nodes && rounded(nodes.map(({ usage }) => usageOf(usage)).reduce(sum, NOTHING)),
    capacity: { cpu_cores: capacity.cpu_cores, memory_bytes: capacity.memory_bytes },
    components: componentsOf(pods),
  };
}

function componentsOf(pods: readonly KubeObject[]): ComponentAmounts[] {
  const components = new Map<string, ComponentAmounts>();
  for (const { metadata, containers } of pods) {
    const { namespace, labels } = metadata;
    const { [LABELS.app]: app, [LABELS.component]: component } = labels ?? {};
    if (!namespace || !app || !component) continue;
    const key = `${namespace}/${app}/${component}`;
    const used = listIn(containers)
      .map(({ usage }) => usageOf(usage))
      .reduce(sum, components.get(key) ?? NOTHING);
    components.set(key, { namespace, app, component, ...used });
  }
  return [...components]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .slice(0, MOST_COMPONENTS)
    .map(([, one]) => ({ ...one, ...rounded(one) }));
}

const NOTHING: Amounts = { cpu_cores: 0, memory_bytes: 0 };

const sum = (a: Amounts, b: Amounts): Amounts => ({
  cpu_cores: a.cpu_cores + b.cpu_cores,
  memory_bytes: a.memory_bytes + b.memory_bytes,
});

function usageOf(usage: unknown): Amounts {
  const { cpu, memory } = fieldsIn(usage);
  return { cpu_cores: amountIn(cpu), memory_bytes: amountIn(memory) };
}

const amountIn = (quantity: unknown): number => Math.max(parseQuantity(textIn(quantity)) ?? 0, 0);

/** Millionths of a core, so that adding up fractions leaves no crumbs. */
const rounded = ({ cpu_cores, memory_bytes }: Amounts): Amounts => ({
  cpu_cores: Math.round(cpu_cores * 1e6) / 1e6,
  memory_bytes: Math.round(memory_bytes),
});
