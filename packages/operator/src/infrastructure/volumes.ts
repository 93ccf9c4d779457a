import type { DescribedDisk, LocalVolume } from "@binnacle/contract";
import type { KubeObject } from "../kube/kube-client.ts";
import { type Fields, fieldsIn, listIn, specOf, statusOf, textIn } from "../kube/object-fields.ts";
import { claimOf, diskOf, isCloudVolume } from "./cloud-objects.ts";

function claimName(volume: KubeObject): string | null {
  const claim = claimOf(volume);
  return claim && `${claim.namespace}/${claim.name}`;
}

/** The volumes on these disks. Those that keep a disk come first, because an answer may be cut. */
export const describedDisks = (volumes: readonly KubeObject[], disks: readonly string[]): DescribedDisk[] =>
  volumes
    .flatMap((volume) => {
      const disk = diskOf(volume);
      return disk !== null && disks.includes(disk)
        ? [{ disk, claim: claimName(volume), deletable: isCloudVolume(volume) }]
        : [];
    })
    .sort((one, other) => Number(one.deletable) - Number(other.deletable));

/** Somebody uses the volume, or has kept it after its claim. */
function hasData(volume: KubeObject): boolean {
  const phase = textIn(statusOf(volume)["phase"]);
  return phase === "Bound" || (phase === "Released" && specOf(volume)["persistentVolumeReclaimPolicy"] === "Retain");
}

const HOST_NAME = "kubernetes.io/hostname";

/** Whether the node has one of the values; `otherwise` for an expression of another kind, which no volume of a machine has. */
function matches(expression: Fields, { metadata }: KubeObject, otherwise: boolean): boolean {
  const { key, operator, values } = expression;
  if (operator !== "In" || !Array.isArray(values)) return otherwise;
  const isName = key === HOST_NAME || key === "metadata.name";
  const value = metadata.labels?.[textIn(key)] ?? (isName ? metadata.name : undefined);
  return values.includes(value);
}

/** Whether a pod on the node can use the volume. One that is not tied to nodes is used from all. */
function isReachedFrom(volume: KubeObject, node: KubeObject, otherwise: boolean): boolean {
  const required = fieldsIn(fieldsIn(specOf(volume)["nodeAffinity"])["required"]);
  const terms = listIn(required["nodeSelectorTerms"]);
  if (terms.length === 0) return true;
  return terms.some((term) =>
    [...listIn(term["matchExpressions"]), ...listIn(term["matchFields"])].every((expression) =>
      matches(expression, node, otherwise),
    ),
  );
}

/**
 * The volumes whose data goes with the nodes of these names: no node that stays reaches it. A disk of the cloud outlives its machine,
 * although it can seem to belong to the only node of its zone.
 */
export function localVolumes(
  volumes: readonly KubeObject[],
  nodes: readonly KubeObject[],
  names: readonly string[],
): LocalVolume[] {
  const leaving = nodes.filter(({ metadata }) => names.includes(metadata.name));
  const staying = nodes.filter((node) => !leaving.includes(node));
  return volumes
    .filter((volume) => diskOf(volume) === null && hasData(volume))
    .flatMap((volume) => {
      const node = leaving.find((one) => isReachedFrom(volume, one, true));
      if (!node || staying.some((one) => isReachedFrom(volume, one, false))) return [];
      return [{ node: node.metadata.name, name: volume.metadata.name, claim: claimName(volume) }];
    });
}
