import { LABELS, parseQuantity } from "@binnacle/contract";
import { isPodOf } from "../helm/release-pods.ts";
import type { KubeObject } from "../kube/kube-client.ts";
import { fieldsIn, listIn, textIn } from "../kube/object-fields.ts";
import type { SampleEvent } from "../link/ports.ts";
import type { ReleaseComponent } from "./app-components.ts";

type Amounts = SampleEvent["capacity"];
type ComponentAmounts = SampleEvent["components"][number];

/** As many as a frame takes. */
const MOST_COMPONENTS = 5_000;

export interface Measured {
  /** Null where the cluster measures nothing. */
  readonly nodes: readonly KubeObject[] | null;
  /** Of our workloads. */
  readonly pods: readonly KubeObject[];
  /** Of others, among which are those of releases. */
  readonly otherPods: readonly KubeObject[];
  readonly releases: readonly ReleaseComponent[];
  readonly capacity: Amounts;
  readonly atMs: number;
}

/** A sample of the cluster, from the nodes and pods of `metrics.k8s.io`. */
export function sampleOf({ nodes, pods, otherPods, releases, capacity, atMs }: Measured): SampleEvent {
  // A metrics server that has just started, or reaches no kubelet, knows no node. That nothing is used would be untrue.
  const isMeasured = nodes !== null && nodes.length > 0;
  return {
    at: new Date(atMs).toISOString(),
    used: isMeasured ? rounded(nodes.map(({ usage }) => usageOf(usage)).reduce(sum, NOTHING)) : null,
    capacity: { cpu_cores: capacity.cpu_cores, memory_bytes: capacity.memory_bytes },
    components: addedUp([...ofWorkloads(pods), ...ofReleases(otherPods, releases)]),
  };
}

type Place = Pick<ComponentAmounts, "namespace" | "app" | "component">;
interface PlacedPod extends Place {
  readonly pod: KubeObject;
}

function ofWorkloads(pods: readonly KubeObject[]): PlacedPod[] {
  return pods.flatMap((pod) => {
    const { namespace, labels } = pod.metadata;
    const { [LABELS.app]: app, [LABELS.component]: component } = labels ?? {};
    return namespace && app && component ? [{ namespace, app, component, pod }] : [];
  });
}

/** An addon instance that several components stand for counts for each of them. */
function ofReleases(pods: readonly KubeObject[], releases: readonly ReleaseComponent[]): PlacedPod[] {
  const byNamespace = Map.groupBy(releases, ({ namespace }) => namespace);
  return pods.flatMap((pod) =>
    (byNamespace.get(pod.metadata.namespace ?? "") ?? [])
      .filter((release) => isPodOf(release.pods, pod))
      .map(({ namespace, app, component }) => ({ namespace, app, component, pod })),
  );
}

function addedUp(pods: readonly PlacedPod[]): ComponentAmounts[] {
  const components = new Map<string, ComponentAmounts>();
  for (const { namespace, app, component, pod } of pods) {
    const key = `${namespace}/${app}/${component}`;
    const used = listIn(pod["containers"])
      .map(({ usage }) => usageOf(usage))
      .reduce(sum, components.get(key) ?? NOTHING);
    components.set(key, { namespace, app, component, ...used });
  }
  return [...components]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .slice(0, MOST_COMPONENTS)
    .map(([, one]) => ({ ...one, ...rounded(one) }));
}

/** More than these are asked for all at once, which is then less than to ask for each. */
const MOST_NAMESPACES = 20;

/** The namespaces with pods of releases; undefined stands for all. */
export function namespacesOf(releases: readonly ReleaseComponent[]): readonly (string | undefined)[] {
  const namespaces = [...new Set(releases.map(({ namespace }) => namespace))].sort();
  return namespaces.length > MOST_NAMESPACES ? [undefined] : namespaces;
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
