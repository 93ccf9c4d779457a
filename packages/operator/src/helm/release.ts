import type { Revision } from "./revision.ts";

/** What is done next to bring a release to what is wanted. */
export type Step =
  | { readonly step: "nothing" }
  | { readonly step: "install" }
  | { readonly step: "upgrade" }
  /** What a killed process has left half done is undone, which Helm asks for before anything else. */
  | { readonly step: "rollback"; readonly to: number }
  | { readonly step: "uninstall" }
  /** Uninstalled; its history goes once nothing of it is left. */
  | { readonly step: "purge" }
  /** It belongs to somebody else. */
  | { readonly step: "leave" };

export interface Goal {
  readonly digest: string;
  /** Upgrade, whatever is believed. */
  readonly isForced?: boolean;
}

const HALF_DONE = new Set(["pending-upgrade", "pending-rollback"]);
/** Best first. */
const WORTH_RETURNING_TO = ["deployed", "superseded", "failed"];

/** Without a goal the release is to go. */
export function nextStep(revisions: readonly Revision[], goal: Goal | null): Step {
  const last = revisions.at(-1);
  if (!last) return { step: goal ? "install" : "nothing" };
  if (!last.isOurs) return { step: "leave" };
  if (!goal) return { step: last.status === "uninstalled" ? "purge" : "uninstall" };
  if (last.status === "uninstalled") return { step: "install" };
  if (last.status === "uninstalling" || last.status === "pending-install") return { step: "uninstall" };
  if (HALF_DONE.has(last.status)) return repair(revisions);
  const isDone = last.status === "deployed" && last.digest === goal.digest && !goal.isForced;
  return { step: isDone ? "nothing" : "upgrade" };
}

function repair(revisions: readonly Revision[]): Step {
  const target = WORTH_RETURNING_TO.map((status) => revisions.findLast((one) => one.status === status)).find(Boolean);
  return target ? { step: "rollback", to: target.version } : { step: "uninstall" };
}

/** Something of it has run as Helm sees it: what fails now fails somebody. */
export const hasRun = (revisions: readonly Revision[]): boolean =>
  revisions.some(({ status, isOurs }) => isOurs && (status === "deployed" || status === "superseded"));

/** What Helm will number the next revision. */
export const nextVersion = (revisions: readonly Revision[]): number => (revisions.at(-1)?.version ?? 0) + 1;
