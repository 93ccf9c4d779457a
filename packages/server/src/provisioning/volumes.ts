import type { DescribedDisk, PlannedVolume } from "@binnacle/contract";
import type { CloudResource, ProvisioningFailure } from "../cloud/provider.ts";
import type { LocalVolumes } from "../hub/operator-requests.ts";

const DELETED = "Its claim says that it is deleted with it.";
const RETAINED = "It is retained, or no claim has it: Kubernetes would not delete it.";
const NAMELESS = "No volume of the cluster is on it.";
const UNKNOWN = "The operator did not answer, so it is not known whether it is retained.";

/**
 * Decides which disks a destruction deletes: those alone of which the operator has said that Kubernetes deletes them with their claim. It
 * may have said so to an earlier run of the job, which has taken the cluster away since. `described` is null without an answer.
 */
export function decideDisks(
  existing: readonly CloudResource[],
  described: readonly DescribedDisk[] | null,
  earlier: readonly PlannedVolume[],
): PlannedVolume[] {
  const wasDeletable = new Set(earlier.filter(({ action }) => action === "delete").map(({ id }) => id));
  return existing.flatMap(({ id, data }) => {
    if (!data) return [];
    const volumes = described?.filter(({ disk }) => disk === id) ?? [];
    const claim = volumes.find((volume) => volume.claim !== null)?.claim ?? data.claim;
    const decided = (action: PlannedVolume["action"], reason: string) => [{ action, id, claim, node: null, reason }];
    if (volumes.some(({ deletable }) => !deletable)) return decided("keep", RETAINED);
    if (volumes.length > 0 || wasDeletable.has(id)) return decided("delete", DELETED);
    return decided("keep", described ? NAMELESS : UNKNOWN);
  });
}

/** Whether a destruction may remove the resource. */
export const mayGo = ({ id, data }: CloudResource, volumes: readonly PlannedVolume[]): boolean =>
  !data || volumes.some((volume) => volume.id === id && volume.action === "delete");

const volumeName = ({ id, claim }: Pick<PlannedVolume, "id" | "claim">) => (claim ? `${id} (${claim})` : id);

export const diskLine = (volume: PlannedVolume): string =>
  `The disk ${volumeName(volume)} is ${volume.action === "keep" ? "kept" : "deleted"}. ${volume.reason}`;

/** Of very many, an entry in the audit log names the first. */
const MOST_ON_RECORD = 100;
export function keptOnRecord(volumes: readonly PlannedVolume[]): { kept_disks?: string[]; kept_disk_count?: number } {
  const kept = volumes.filter(({ action }) => action === "keep").map(volumeName);
  return kept.length === 0 ? {} : { kept_disks: kept.slice(0, MOST_ON_RECORD), kept_disk_count: kept.length };
}

/** What is known of the data on nodes that leave; `unknown` says why nothing is. */
export type LocalData = LocalVolumes | { readonly unknown: string };

export const NO_LOCAL_DATA: LocalVolumes = { named: [], total: 0 };

export const lostVolumes = (local: LocalData): PlannedVolume[] =>
  "unknown" in local
    ? []
    : local.named.map(({ node, name, claim }) => ({
        action: "delete" as const,
        id: name,
        claim,
        node,
        reason: "Its data is on the machine of the node.",
      }));

const MOST_NAMED = 5;

/** What is lost with the nodes, or may be; null where nothing is. */
export function lossText(local: LocalData, nodes: readonly string[]): string | null {
  const list = nodes.join(", ");
  if ("unknown" in local)
    return `It is not known whether ${list} have local volumes, whose data would be lost: ${local.unknown}`;
  if (local.total === 0) return null;
  const words = local.named.slice(0, MOST_NAMED).map(({ node, name, claim }) => `${claim ?? name} on ${node}`);
  const further = local.total - words.length;
  const more = further > 0 ? `, and ${further} more` : "";
  return `The data of these local volumes would be lost with ${list}: ${words.join(", ")}${more}.`;
}

export const localVolumesFailure = (loss: string): ProvisioningFailure => ({
  code: "local_volumes",
  message: `${loss} Nothing was changed. Move the data and retry the job, or ask again with \`force\`.`,
});
