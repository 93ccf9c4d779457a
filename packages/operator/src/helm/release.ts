import type { Reason } from "@binnacle/contract";
import type { Readiness } from "../kube/readiness.ts";
import type { ResolvedExports } from "./exports.ts";
import type { ReleaseObservation } from "./release.reconciler.ts";
import type { ReleaseReadiness } from "./release-readiness.ts";
import type { Revision } from "./revision.ts";

/** The next step towards the desired release. */
export type Step =
  | { readonly step: "nothing" }
  | { readonly step: "install" }
  | { readonly step: "upgrade" }
  /** Undoes what a killed process has left unfinished, which Helm requires before anything else. */
  | { readonly step: "rollback"; readonly to: number }
  | { readonly step: "uninstall" }
  /** Uninstalled; its history goes once nothing of it is left. */
  | { readonly step: "purge" }
  /** The release belongs to somebody else. */
  | { readonly step: "leave" };

export interface Goal {
  readonly digest: string;
}

const HALF_DONE = new Set(["pending-upgrade", "pending-rollback"]);
/** Best first. */
const WORTH_RETURNING_TO = ["deployed", "superseded", "failed"];

export interface Unfinished {
  /** The last revision is a first installation that the cluster has refused halfway. */
  readonly isLeftover: boolean;
}

/** Without a goal the release is to go. */
export function nextStep(
  revisions: readonly Revision[],
  goal: Goal | null,
  { isLeftover }: Unfinished = { isLeftover: false },
): Step {
  const last = revisions.at(-1);
  if (!last) return { step: goal ? "install" : "nothing" };
  if (!last.isOurs) return { step: "leave" };
  if (!goal) return { step: last.status === "uninstalled" ? "purge" : "uninstall" };
  if (last.status === "uninstalled") return { step: "install" };
  if (last.status === "uninstalling" || last.status === "pending-install") return { step: "uninstall" };
  if (isLeftover) return { step: "uninstall" };
  if (HALF_DONE.has(last.status)) return repair(revisions);
  const isDone = last.status === "deployed" && last.digest === goal.digest;
  return { step: isDone ? "nothing" : "upgrade" };
}

function repair(revisions: readonly Revision[]): Step {
  const target = WORTH_RETURNING_TO.map((status) => revisions.findLast((one) => one.status === status)).find(Boolean);
  return target ? { step: "rollback", to: target.version } : { step: "uninstall" };
}

/** Something of it has run as Helm sees it: what fails now fails somebody. */
export const hasRun = (revisions: readonly Revision[]): boolean =>
  revisions.some(({ status, isOurs }) => isOurs && (status === "deployed" || status === "superseded"));

/** The first installation failed. Its remains serve nobody. */
export const isFailedInstall = (revisions: readonly Revision[]): boolean =>
  revisions.at(-1)?.status === "failed" && revisions.slice(0, -1).every(({ status }) => status === "uninstalled");

/** The number that Helm will give to the next revision. */
export const nextVersion = (revisions: readonly Revision[]): number => (revisions.at(-1)?.version ?? 0) + 1;

/** The state of a release, with a reason and a message. */
export interface ReleaseVerdict {
  readonly state: "ready" | "progressing" | "failed" | "unknown";
  readonly reason: Reason;
  readonly message: string | null;
}

export interface ReleaseFindings {
  readonly observation: ReleaseObservation;
  /** Null before there is anything. */
  readonly readiness: ReleaseReadiness | null;
  /** A hook whose pods the API server does not take; null where there is none. */
  readonly hook: Readiness | null;
  /** Fields that others declare, where a new generation is to set them. */
  readonly blocked: { readonly summary: string } | null;
  readonly exports: ResolvedExports;
  /** The Secret for its exports is somebody else's. */
  readonly isSecretTaken: boolean;
}

const verdict = (state: ReleaseVerdict["state"], reason: Reason, message: string | null = null): ReleaseVerdict => ({
  state,
  reason,
  message,
});

/** The first that holds. */
export function verdictOn(findings: ReleaseFindings): ReleaseVerdict {
  const { observation, readiness, hook, blocked, exports, isSecretTaken } = findings;
  if (observation.isForeign) {
    return verdict(
      "failed",
      "ReleaseConflict",
      "The namespace has a Helm release of this name that is somebody else's.",
    );
  }
  if (hook) return verdict(hook.state, hook.reason ?? "NotReady", hook.message);
  // The failure stays visible during the retry, or people would see it come and go.
  if (observation.failure !== null) {
    const { message, reason } = observation.failure;
    return verdict("failed", reason ?? (observation.hasRun ? "UpgradeFailed" : "InstallFailed"), message);
  }
  if (observation.doing === "installing") return verdict("progressing", "Installing", "Helm installs it.");
  if (observation.doing !== null) return verdict("progressing", "Upgrading", "Helm upgrades it.");
  if (!observation.isCurrent || !readiness) return verdict("progressing", "Waiting", "It waits for Helm.");
  if (blocked) return verdict("failed", "BlockedSync", blocked.summary);
  if (readiness.state !== "ready") {
    return verdict(readiness.state, readiness.reason ?? "NotReady", readiness.message);
  }
  if (isSecretTaken) {
    return verdict("failed", "ExportsConflict", "The Secret for its exports exists and is somebody else's.");
  }
  if (exports.missing.length > 0) {
    return verdict("progressing", "WaitingForExports", `It waits for ${exports.missing.slice(0, 5).join(", ")}.`);
  }
  return verdict("ready", "ReleaseReady");
}
