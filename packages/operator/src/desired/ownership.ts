import { ANNOTATIONS, LABELS, MANAGED_BY } from "@binnacle/contract";
import type { KubeObject } from "../kube/kube-client.ts";

/**
 * The labels of all our objects. Operators of other clusters may work in the same Kubernetes; their objects carry
 * another id.
 */
export const ownLabels = (clusterId: string): Readonly<Record<string, string>> => ({
  [LABELS.managedBy]: MANAGED_BY,
  [LABELS.cluster]: clusterId,
});

/** Selects what is ours and nothing else. */
export const ownSelector = (clusterId: string): string =>
  Object.entries(ownLabels(clusterId))
    .map(([name, value]) => `${name}=${value}`)
    .join(",");

export const isOurs = ({ metadata: { labels } }: KubeObject, clusterId: string): boolean =>
  Object.entries(ownLabels(clusterId)).every(([name, value]) => labels?.[name] === value);

export const isDeleting = ({ metadata: { deletionTimestamp } }: KubeObject): boolean => deletionTimestamp !== undefined;

/** The id of the resource for which an object of ours was made. */
export const resourceIdOf = ({ metadata: { annotations } }: KubeObject): string | null =>
  annotations?.[ANNOTATIONS.resourceId] ?? null;
