import { type ClusterFacts, parseQuantity } from "@binnacle/contract";
import { type InformerLog, startInformer } from "../kube/informer.adapter.ts";
import type { KubeClient, KubeObject, ResourceType } from "../kube/kube-client.ts";
import type { Clock } from "../kube/work-queue.ts";

const NODES: ResourceType = { group: "", version: "v1", plural: "nodes", kind: "Node", namespaced: false };

/** A cluster is upgraded while the operator runs. */
const VERSION_EVERY_MS = 60_000;
const NODES_WITHIN_MS = 10_000;

export interface Facts {
  current(): ClusterFacts;
  stop(): Promise<void>;
}

export interface FactsPorts {
  readonly kube: Pick<KubeClient, "list" | "watch" | "version">;
  readonly clock: Clock;
  readonly log: InformerLog;
}

/** Comes back once the cluster has said what it is, and keeps up with it. */
export async function startFacts({ kube, clock, log }: FactsPorts): Promise<Facts> {
  let { gitVersion: version } = await kube.version();
  let isStopped = false;
  let stopTimer = () => {};

  const nodes = startInformer<NodeCapacity>({
    client: kube,
    type: NODES,
    trim: trimNode,
    mayBeStale: true,
    log,
    onChange: () => undefined,
  });

  async function lookAgain(): Promise<void> {
    try {
      ({ gitVersion: version } = await kube.version());
    } catch (err) {
      log.warn({ err }, "the version of the cluster could not be read");
    }
    if (!isStopped) reportLater();
  }

  function reportLater(): void {
    stopTimer = clock.after(VERSION_EVERY_MS, () => void lookAgain());
  }

  // An operator that may not see nodes does all the rest.
  let stopWaiting = () => {};
  const enough = new Promise<void>((resolve) => {
    stopWaiting = clock.after(NODES_WITHIN_MS, resolve);
  });
  await Promise.race([nodes.synced, enough]);
  stopWaiting();
  reportLater();
  return {
    current: () => factsOf(version, nodes.list()),
    async stop() {
      isStopped = true;
      stopTimer();
      await nodes.stop();
    },
  };
}

/** The used part of a node. The rest is large and changes all the time. */
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

/** The facts about the cluster that Binnacle shows. */
export function factsOf(kubernetesVersion: string, nodes: readonly NodeCapacity[]): ClusterFacts {
  const sum = (resource: string) =>
    nodes.reduce((total, { status }) => total + (parseQuantity(status?.capacity?.[resource] ?? "0") ?? 0), 0);
  return {
    kubernetes_version: kubernetesVersion,
    node_count: nodes.length,
    capacity: {
      // Whole thousandths, so that a sum of fractions has no rounding error.
      cpu_cores: Math.round(sum("cpu") * 1_000) / 1_000,
      memory_bytes: Math.round(sum("memory")),
      pods: Math.round(sum("pods")),
    },
  };
}
