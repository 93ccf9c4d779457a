import { ANNOTATIONS } from "@binnacle/contract";
import type { KubeObject } from "../store/kube-object.ts";
import type { Store } from "../store/store.ts";
import type { HeldApp } from "./comparison.ts";

/** The apps that a cluster holds, with what was made of them. */
export function heldApps(clusterId: string, store: Pick<Store, "list">): HeldApp[] {
  const workloads = store.list("deployments.apps");
  return store.list("apps.binnacle.dev").map(({ metadata: { name, namespace = "", annotations } }) => {
    const own = workloads.filter(
      ({ metadata }) => metadata.namespace === namespace && metadata.name.startsWith(`${name}-`),
    );
    return {
      clusterId,
      key: `${namespace}/${name}`,
      generation: Number(annotations?.[ANNOTATIONS.generation]),
      readyImage: own.map(readyImage).find((image) => image !== null) ?? null,
    };
  });
}

interface Workload {
  readonly spec: { readonly replicas?: number; readonly template: PodTemplate };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly updatedReplicas?: number;
    readonly readyReplicas?: number;
  };
}
interface PodTemplate {
  readonly spec: { readonly containers: readonly { readonly image: string }[] };
}

function readyImage(object: KubeObject): string | null {
  const { spec, status = {} } = object as unknown as Workload;
  const { replicas = 1 } = spec;
  const isReady =
    status.observedGeneration === object.metadata.generation &&
    status.updatedReplicas === replicas &&
    status.readyReplicas === replicas;
  return isReady ? (spec.template.spec.containers[0]?.image ?? null) : null;
}
