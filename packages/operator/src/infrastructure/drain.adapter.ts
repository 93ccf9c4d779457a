import { type LeftObject, safeText } from "@binnacle/contract";
import type { KubeClient, KubeObject } from "../kube/kube-client.ts";
import { KubeError } from "../kube/kube-error.ts";
import { pathOf } from "../kube/kube-path.ts";
import { NODES, PODS } from "../kube/resource-types.ts";
import type { Clock } from "../kube/work-queue.ts";
import { isLeaving, isReady, leftObject, mustLeave } from "./drain.ts";

interface Ports {
  readonly kube: Pick<KubeClient, "list" | "patch" | "raw">;
  readonly clock: Clock;
}

/** A kubelet that is restarted is back by then. */
const LOST_AFTER_MS = 2 * 60_000;

/** Takes pods from nodes. Each drain does what it can and returns what is left. */
export function createDrain({ kube, clock }: Ports) {
  async function cordon(node: KubeObject): Promise<void> {
    const patch = { spec: { unschedulable: true } };
    await kube.patch(NODES, node.metadata.name, null, patch, { kind: "merge" }).catch(unlessGone);
  }

  /** Why the pod stays for now. */
  async function evict(pod: KubeObject): Promise<string> {
    const { name, namespace, uid } = pod.metadata;
    const body = {
      apiVersion: "policy/v1",
      kind: "Eviction",
      metadata: { name, namespace },
      // Another pod of the same name, as a StatefulSet makes it, is on another node by now.
      deleteOptions: { preconditions: { uid } },
    };
    try {
      await kube.raw("POST", pathOf(PODS, { name, namespace, subresource: "eviction" }), { body });
      return "It is being stopped.";
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      if (error.status === 404 || error.status === 409) return "It is being stopped.";
      if (error.status === 429) return safeText(`A PodDisruptionBudget keeps it: ${error.message}`);
      throw error;
    }
  }

  /** Since when a drained node was seen without its kubelet. */
  const silentSince = new Map<string, number>();

  /** Nothing ends pods whose kubelet is gone, so waiting for them would keep a broken machine for ever. */
  function isLost(node: KubeObject): boolean {
    const { name } = node.metadata;
    if (isReady(node)) {
      silentSince.delete(name);
      return false;
    }
    const since = silentSince.get(name) ?? clock.now();
    silentSince.set(name, since);
    return clock.now() - since >= LOST_AFTER_MS;
  }

  async function drain(names: readonly string[]): Promise<LeftObject[]> {
    const nodes = (await kube.list(NODES)).items.filter(({ metadata }) => names.includes(metadata.name));
    for (const name of names) if (!nodes.some(({ metadata }) => metadata.name === name)) silentSince.delete(name);
    await Promise.all(nodes.map(cordon));
    const left: LeftObject[] = [];
    for (const node of nodes) {
      const pods = (await kube.list(PODS, { fieldSelector: `spec.nodeName=${node.metadata.name}` })).items.filter(
        mustLeave,
      );
      if (isLost(node)) continue;
      const stopping = isReady(node) ? "It is being stopped." : "Its node is not ready.";
      for (const pod of pods) left.push(leftObject(pod, "Pod", isLeaving(pod) ? stopping : await evict(pod)));
    }
    return left;
  }

  return { cordon, drain };
}

export function unlessGone(error: unknown): void {
  if (!(error instanceof KubeError && error.status === 404)) throw error;
}
