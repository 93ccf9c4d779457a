import {
  INFRASTRUCTURE_LIMITS,
  type InfrastructureAnswer,
  type InfrastructureRequest,
  type LeftObject,
} from "@binnacle/contract";
import type { KubeClient, KubeObject, ResourceType } from "../kube/kube-client.ts";
import { KubeError } from "../kube/kube-error.ts";
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
import { createDrain, unlessGone } from "./drain.adapter.ts";
import { isLeaving, leftObject } from "./drain.ts";
import { describedDisks, localVolumes } from "./volumes.ts";

export interface InfrastructurePorts {
  readonly kube: Pick<KubeClient, "list" | "patch" | "delete" | "raw">;
  readonly clock: Clock;
}

const LOOK_EVERY_MS = 500;

/** Clears the cluster of what must not be there when machines are taken away. */
export function createInfrastructure({ kube, clock }: InfrastructurePorts): Answerer["infrastructure"] {
  const all = async (type: ResourceType): Promise<readonly KubeObject[]> => (await kube.list(type)).items;
  const { cordon, drain } = createDrain({ kube, clock });

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
    return volumes.map((volume) => leftObject(volume, "PersistentVolume", volumeText(volume)));
  }

  async function removeCloudObjects(): Promise<LeftObject[]> {
    // A StatefulSet makes its claims anew; without a node for its pod, no disk is made for them.
    await Promise.all((await all(NODES)).map(cordon));
    return [...(await removeLoadBalancers()), ...(await removeVolumes())];
  }

  async function cleared(pass: () => Promise<LeftObject[]>, seconds: number): Promise<InfrastructureAnswer> {
    const endMs = clock.now() + seconds * 1000;
    for (;;) {
      const left = await pass();
      if (left.length === 0 || clock.now() >= endMs) return { left: left.slice(0, INFRASTRUCTURE_LIMITS.left) };
      await pause(clock, LOOK_EVERY_MS, NEVER);
    }
  }

  async function answer(request: InfrastructureRequest): Promise<InfrastructureAnswer> {
    switch (request.name) {
      case "drain_nodes":
        return cleared(() => drain(request.nodes), request.timeout_seconds);
      case "remove_cloud_objects":
        return cleared(removeCloudObjects, request.timeout_seconds);
      case "describe_disks": {
        const disks = describedDisks(await all(PERSISTENT_VOLUMES), request.disks);
        return { disks: disks.slice(0, 2 * INFRASTRUCTURE_LIMITS.disks) };
      }
      case "local_volumes": {
        const found = localVolumes(await all(PERSISTENT_VOLUMES), await all(NODES), request.nodes);
        return { local_volumes: found.slice(0, INFRASTRUCTURE_LIMITS.volumes), total: found.length };
      }
    }
  }

  return async (request) => {
    try {
      return await answer(request);
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
  describe_disks: "Reading which volumes the disks are",
  local_volumes: "Reading the volumes of the nodes",
};

function volumeText(volume: KubeObject): string {
  const claim = claimOf(volume);
  return claim ? `The disk of the claim ${claim.namespace}/${claim.name} is being deleted.` : "It is being deleted.";
}
