import type { App, Suspension } from "@binnacle/client";
import { explanationOf } from "../status/reason.ts";
import { attachedInstances } from "./components.ts";

/** The operations on an app that the page offers. `edit` leads to the configuration. */
export type AppAction =
  | "edit"
  | "scale"
  | "pause"
  | "resume"
  | "suspend"
  | "unsuspend"
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
  readonly suspended: boolean;
  /** What has been suspended, where that is known: its project or cluster holds it, too. */
  readonly suspended_scope?: Suspension["scope"] | undefined;
  readonly drift_state: App["drift"]["state"];
  /** Left out where the components are not known, as in a list. */
  readonly hasAttached?: boolean | undefined;
}

export const stateOf = (app: Pick<App, "phase" | "paused" | "suspended" | "drift" | "components">): AppState => ({
  phase: app.phase,
  paused: app.paused,
  suspended: app.suspended !== null,
  suspended_scope: app.suspended?.scope,
  drift_state: app.drift.state,
  hasAttached: attachedInstances(app.components).size > 0,
});

/**
 * Why the API would refuse an operation in this state, or null. A conflict over fields prevents everything except a deletion and
 * a redeploy that takes the fields over.
 */
export function obstacle(action: AppAction, state: AppState): string | null {
  const { phase, paused, drift_state } = state;
  if (action === "save_template") return null;
  if (phase === "deleting") return "The app is being deleted.";
  if (action === "suspend" || action === "unsuspend" || action === "delete") return suspensionObstacle(action, state);
  if (drift_state === "blocked_sync") {
    return action === "take_over" ? null : "Another manager holds fields of the app. Take them over first.";
  }
  if (action === "take_over") return "No other manager holds fields of the app.";
  if (paused && (action === "pause" || action === "scale")) return "The app is paused.";
  if (!paused && action === "resume") return "The app is not paused.";
  if (action === "detach_addon" && state.hasAttached === false) return "No addon is attached to the app.";
  return null;
}

function suspensionObstacle(
  action: "suspend" | "unsuspend" | "delete",
  { suspended, suspended_scope: scope = "app" }: AppState,
): string | null {
  const isOwn = suspended && scope === "app";
  if (action === "suspend") return isOwn ? "The app is suspended already." : null;
  if (action === "delete") return suspended ? `The ${scope} is suspended. Unsuspend it first.` : null;
  if (!suspended) return "The app is not suspended.";
  return isOwn ? null : `The ${scope} is suspended, and not the app by itself.`;
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

/** Of the phases that the control plane sets by itself; the cluster gives a reason with every other. */
const TEXTS: Readonly<Partial<Record<App["phase"], string>>> = {
  pending: "The change is recorded; the cluster has not reported on it yet.",
  deleting: "The cluster is removing the objects of the app.",
};

const RAN = "All components ran as they were asked for when the cluster was last heard of.";

/** The reason of an app's phase in words: the cluster's own where it gives some, and in the past where nobody confirms it. */
export function reasonText(app: Pick<App, "phase" | "phase_reason" | "phase_message" | "drift" | "stale">): string {
  if (app.drift.state === "blocked_sync") return app.drift.summary ?? "Another manager holds fields of the app.";
  if (app.stale && app.phase === "running" && app.phase_message === null) return RAN;
  const { phase, phase_reason: reason, phase_message: message } = app;
  return message ?? explanationOf(reason)?.meaning ?? TEXTS[phase] ?? `The cluster reports ${reason ?? phase}.`;
}
