import type { Readiness } from "../kube/readiness-state.ts";
import type { ResolvedExports } from "./exports.ts";
import type { ReleaseLook } from "./release.reconciler.ts";
import type { ReleaseReadiness } from "./release-readiness.ts";

/** What can be said of a release. */
export interface ReleaseVerdict {
  readonly state: "ready" | "progressing" | "failed" | "unknown";
  readonly reason: string;
  readonly message: string | null;
}

export interface ReleaseFindings {
  readonly look: ReleaseLook;
  /** Null before there is anything. */
  readonly readiness: ReleaseReadiness | null;
  /** A hook whose pods the API server does not take; null where there is none. */
  readonly hook: Readiness | null;
  readonly exports: ResolvedExports;
  /** The Secret for its exports is somebody else's. */
  readonly isSecretTaken: boolean;
}

const say = (state: ReleaseVerdict["state"], reason: string, message: string | null = null): ReleaseVerdict => ({
  state,
  reason,
  message,
});

/** The first that holds. */
export function verdictOn({ look, readiness, hook, exports, isSecretTaken }: ReleaseFindings): ReleaseVerdict {
  if (look.isForeign) {
    return say("failed", "ReleaseConflict", "The namespace has a Helm release of this name that is somebody else's.");
  }
  if (hook) return say(hook.state, hook.reason ?? "NotReady", hook.message);
  // Kept while it is tried again, or people would see it come and go.
  if (look.failure !== null) {
    const { message, reason } = look.failure;
    return say("failed", reason ?? (look.hasRun ? "UpgradeFailed" : "InstallFailed"), message);
  }
  if (look.doing === "installing") return say("progressing", "Installing", "Helm installs it.");
  if (look.doing !== null) return say("progressing", "Upgrading", "Helm brings it to what is wanted.");
  if (!look.isCurrent || !readiness) return say("progressing", "Waiting", "It waits for Helm.");
  if (readiness.state !== "ready") {
    return say(readiness.state, readiness.reason ?? "NotReady", readiness.message);
  }
  if (isSecretTaken) {
    return say("failed", "ExportsConflict", "The Secret for its exports exists and is somebody else's.");
  }
  if (exports.missing.length > 0) {
    return say("progressing", "WaitingForExports", `It waits for ${exports.missing.slice(0, 5).join(", ")}.`);
  }
  return say("ready", "ReleaseReady");
}
