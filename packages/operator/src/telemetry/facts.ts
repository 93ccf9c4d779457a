import { type ClusterFacts, parseQuantity } from "@binnacle/contract";
import type { KubeObject } from "../kube/kube-client.ts";

/** What counts of a node; the rest is large and changes all the time. */
export interface NodeCapacity extends KubeObject {
  readonly status?: { readonly capacity?: Readonly<Record<string, string>> };
}

export function trimNode({ apiVersion, kind, metadata, status }: NodeCapacity): NodeCapacity {
  const { name, uid, resourceVersion } = metadata;
  const { cpu = "0", memory = "0", pods = "0" } = status?.capacity ?? {};
  return {
    apiVersion,
    kind,
    metadata: { name, ...(uid ? { uid } : {}), ...(resourceVersion ? { resourceVersion } : {}) },
    status: { capacity: { cpu, memory, pods } },
  };
}

/** What the cluster is, as its owner sees it in Binnacle. */
export function factsOf(kubernetesVersion: string, nodes: readonly NodeCapacity[]): ClusterFacts {
  const sum = (resource: string) =>
    nodes.reduce((total, { status }) => total + (parseQuantity(status?.capacity?.[resource] ?? "0") ?? 0), 0);
  return {
    kubernetes_version: kubernetesVersion,
    node_count: nodes.length,
    capacity: {
      // Whole thousandths, so that adding up fractions leaves no crumbs.
      cpu_cores: Math.round(sum("cpu") * 1_000) / 1_000,
      memory_bytes: Math.round(sum("memory")),
      pods: Math.round(sum("pods")),
    },
  };
}
