import type { DeploymentListItem } from "@binnacle/client";

export const OPERATION_LABELS: Readonly<Record<DeploymentListItem["operation"], string>> = {
  create: "Created",
  update: "Configuration changed",
  scale: "Scaled",
  pause: "Paused",
  resume: "Resumed",
  redeploy: "Redeployed",
  rollback: "Rolled back",
  attach_addon: "Addon attached",
  detach_addon: "Addon detached",
  update_secrets: "Secrets changed",
};

/** What a deployment has changed, in words; null where that is all that its operation says. */
export const changeText = ({ operation, summary }: Pick<DeploymentListItem, "operation" | "summary">): string | null =>
  summary === OPERATION_LABELS[operation] ? null : summary;

/** How long a deployment took, in words; null while it is under way. */
export function tookText({
  created_at,
  finished_at,
}: Pick<DeploymentListItem, "created_at" | "finished_at">): string | null {
  if (finished_at === null) return null;
  const seconds = Math.max(0, Math.round((Date.parse(finished_at) - Date.parse(created_at)) / 1_000));
  if (seconds < 60) return `${seconds} s`;
  return seconds < 3_600
    ? `${Math.floor(seconds / 60)} min ${seconds % 60} s`
    : `${Math.floor(seconds / 3_600)} h ${Math.floor((seconds % 3_600) / 60)} min`;
}

/** The two deployments that are compared: the older first, whichever was chosen first. */
export function comparedPair<D extends Pick<DeploymentListItem, "deployment_id" | "revision">>(
  deployments: readonly D[],
  chosen: readonly string[],
): readonly [older: D, newer: D] | null {
  const [a, b] = chosen.flatMap((revision) => deployments.filter((each) => String(each.revision) === revision));
  if (!a || !b || a === b) return null;
  return a.revision < b.revision ? [a, b] : [b, a];
}

/** The choice after a click on a deployment: at most two, the one that was chosen first goes. */
export const toggled = (chosen: readonly string[], revision: string): readonly string[] =>
  chosen.includes(revision) ? chosen.filter((each) => each !== revision) : [...chosen, revision].slice(-2);
