import type { DesiredKind } from "@binnacle/contract";

/** A resource that a cluster is told about. */
export interface DesiredResource {
  readonly clusterId: string;
  readonly kind: DesiredKind;
  readonly resourceId: string;
  /** How the operator addresses it: `project/shop`, `app/shop/web`. */
  readonly key: string;
}

export interface Raised {
  readonly generation: number;
  readonly revision: number;
}

/** The topic of the bus that says: a cluster has something new to be told. */
export const DESIRED_TOPIC = "desired";

export const projectKey = (namespace: string) => `project/${namespace}`;
export const appKey = (namespace: string, name: string) => `app/${namespace}/${name}`;
export const addonKey = (namespace: string, name: string) => `addon_instance/${namespace}/${name}`;
/** The pull secrets of a namespace go as one set: a workload names all of them. */
export const registrySecretsKey = (namespace: string) => `registry_secrets/${namespace}`;
