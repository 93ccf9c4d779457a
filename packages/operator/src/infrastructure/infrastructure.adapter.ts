import { INFRASTRUCTURE_LIMITS, type InfrastructureRequest, type LeftObject, safeText } from "@binnacle/contract";
import type { KubeClient, KubeObject, ResourceType } from "../kube/kube-client.ts";
import { KubeError } from "../kube/kube-error.ts";
import { pathOf } from "../kube/kube-path.ts";
import { refusalOf } from "../kube/refusal.ts";
import { CLAIMS, NODES, PERSISTENT_VOLUMES, PODS, SERVICES } from "../kube/resource-types.ts";
import type { Clock } from "../kube/work-queue.ts";
import { AnswerError, type Answerer } from "../link/ports.ts";
import { pause } from "../telemetry/waiting.ts";
import {
  claimOf,
  holdsLoadBalancer,
  isBalanced,
  isCloudVolume,
  isOwned,
  uses,
  WITHOUT_LOAD_BALANCER,
} from "./cloud-objects.ts";
import { isLeaving, leftObject, mustLeave } from "./drain.ts";

export interface InfrastructurePorts {
  readonly kube: Pick<KubeClient, "list" | "patch" | "delete" | "raw">;
  readonly clock: Clock;
}

const LOOK_EVERY_MS = 500;

/** Clears the cluster of what must not be there when machines are taken away. */
export function createInfrastructure({ kube, clock }: InfrastructurePorts): Answerer["infrastructure"] {
  const all = async (type: ResourceType, fieldSelector?: string): Promise<readonly KubeObject[]> =>
    (await kube.list(type, fieldSelector ? { fieldSelector } : {})).items;

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

  async function drain(names: readonly string[]): Promise<LeftObject[]> {
    const nodes = (await all(NODES)).filter(({ metadata }) => names.includes(metadata.name));
    await Promise.all(nodes.map(cordon));
    const left: LeftObject[] = [];
    for (const { metadata } of nodes) {
      const pods = (await all(PODS, `spec.nodeName=${metadata.name}`)).filter(mustLeave);
      for (const pod of pods) {
        left.push(leftObject(pod, "Pod", isLeaving(pod) ? "It is being stopped." : await evict(pod)));
      }
    }
    return left;
  }

  async function removeLoadBalancers(): Promise<LeftObject[]> {
    const services = (await all(SERVICES)).filter(holdsLoadBalancer);
    for (const service of services) {
      const { name, namespace } = service.metadata;
      if (isLeaving(service) || !isBalanced(service)) continue;
      if (isOwned(service)) {
        await kube.patch(SERVICES, name, namespace, WITHOUT_LOAD_BALANCER, { kind: "merge" }).catch(unlessGone);
      } else await kube.delete(SERVICES, name, namespace);
    }
    return services.map((service) => leftObject(service, "Service", "Its load balancer is being removed."));
  }

  /** A claim stays while a pod uses it, so those pods go too; budgets do not count any more. */
  async function removeVolumes(): Promise<LeftObject[]> {
    const volumes = (await all(PERSISTENT_VOLUMES)).filter(isCloudVolume);
    if (volumes.length === 0) return [];
    const claims = volumes.flatMap((volume) => claimOf(volume) ?? []);
    for (const { name, namespace } of claims) await kube.delete(CLAIMS, name, namespace);
    const pods = (await all(PODS)).filter((pod) => !isLeaving(pod) && claims.some((claim) => uses(pod, claim)));
    for (const { metadata } of pods) await kube.delete(PODS, metadata.name, metadata.namespace);
    return volumes.map((volume) => leftObject(volume, "PersistentVolume", volumeWords(volume)));
  }

  async function removeCloudObjects(): Promise<LeftObject[]> {
    // A StatefulSet makes its claims anew; without a node for its pod, no disk is made for them.
    await Promise.all((await all(NODES)).map(cordon));
    return [...(await removeLoadBalancers()), ...(await removeVolumes())];
  }

  return async (request) => {
    const pass = () => (request.name === "drain_nodes" ? drain(request.nodes) : removeCloudObjects());
    try {
      const endMs = clock.now() + request.timeout_seconds * 1000;
      for (;;) {
        const left = await pass();
        if (left.length === 0 || clock.now() >= endMs) return { left: left.slice(0, INFRASTRUCTURE_LIMITS.left) };
        await pause(clock, LOOK_EVERY_MS, NEVER);
      }
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      const refusal = refusalOf(error, titles[request.name]);
      if (refusal) throw new AnswerError("failed", refusal.message);
      throw new AnswerError("unavailable", "The cluster's API server does not answer.");
    }
  };
}

const NEVER = new AbortController().signal;

const titles: Readonly<Record<InfrastructureRequest["name"], string>> = {
  drain_nodes: "Draining the nodes",
  remove_cloud_objects: "Removing load balancers and volumes",
};

function volumeWords(volume: KubeObject): string {
  const claim = claimOf(volume);
  return claim ? `The disk of the claim ${claim.namespace}/${claim.name} is being deleted.` : "It is being deleted.";
}

function unlessGone(error: unknown): void {
  if (!(error instanceof KubeError && error.status === 404)) throw error;
}
