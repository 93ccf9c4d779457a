import type { App } from "@binnacle/client";

/** The operations on an app that the page offers. `edit` leads to the configuration. */
export type AppAction =
  | "edit"
  | "scale"
  | "pause"
  | "resume"
  | "redeploy"
  | "take_over"
  | "roll_back"
  | "attach_addon"
  | "detach_addon"
  | "save_template"
  | "delete";

/** The parts of an app that decide what can be done with it. */
export interface AppState {
  readonly phase: App["phase"];
  readonly paused: boolean;
  readonly drift_state: App["drift"]["state"];
}

export const stateOf = ({ phase, paused, drift }: Pick<App, "phase" | "paused" | "drift">): AppState => ({
  phase,
  paused,
  drift_state: drift.state,
});

/**
 * Why the API would refuse an operation in this state, or null. A conflict over fields prevents everything except a deletion and
 * a redeploy that takes the fields over.
 */
export function obstacle(action: AppAction, { phase, paused, drift_state }: AppState): string | null {
  if (action === "save_template") return null;
  if (phase === "deleting") return "The app is being deleted.";
  if (action === "delete") return null;
  if (drift_state === "blocked_sync") {
    return action === "take_over" ? null : "Another manager holds fields of the app. Take them over first.";
  }
  if (action === "take_over") return "No other manager holds fields of the app.";
  if (paused && (action === "pause" || action === "scale")) return "The app is paused.";
  if (!paused && action === "resume") return "The app is not paused.";
  return null;
}

export interface PrimaryAction {
  readonly action: AppAction;
  readonly label: string;
}

/** The one action that most likely helps now. Null where there is nothing left to do. */
export function primaryAction(state: AppState): PrimaryAction | null {
  if (state.phase === "deleting") return null;
  if (state.drift_state === "blocked_sync") return { action: "take_over", label: "Take over fields" };
  if (state.paused) return { action: "resume", label: "Resume" };
  if (state.phase === "failed") return { action: "redeploy", label: "Retry" };
  return { action: "edit", label: state.phase === "invalid" ? "Fix configuration" : "Edit configuration" };
}

const WORDS: Readonly<Record<App["phase"], string>> = {
  pending: "The change is recorded; the cluster has not reported on it yet.",
  deploying: "The cluster is bringing the change into place.",
  running: "All components run as they were asked for.",
  degraded: "Some replicas are not ready.",
  failed: "The cluster could not bring the app into place.",
  invalid: "The cluster refuses the configuration.",
  paused: "All workloads have 0 replicas. Resume brings back their counts.",
  deleting: "The cluster is removing the objects of the app.",
};

const RAN = "All components ran as they were asked for when the cluster was last heard of.";

/** The reason of an app's phase in words: the cluster's own where it gives some, and in the past where nobody confirms it. */
export function reasonWords(app: Pick<App, "phase" | "phase_reason" | "phase_message" | "drift" | "stale">): string {
  if (app.drift.state === "blocked_sync") return app.drift.summary ?? "Another manager holds fields of the app.";
  if (app.stale && app.phase === "running" && app.phase_message === null) return RAN;
  return app.phase_message ?? WORDS[app.phase];
}
