import {
  type AddonInstance,
  type App,
  type Cluster,
  type ComponentStatus,
  type Deployment,
  POD_TROUBLES,
  type Project,
  type ResourceNode,
} from "@binnacle/client";

/**
 * One meaning for each colour, everywhere. `good`: confirmed for the current generation. `progress`: under way. `warning`:
 * drifted, degraded or not heard of lately. `bad`: failed or blocked. `unknown`: unknown, paused or not yet reported.
 */
export type Tone = "good" | "progress" | "warning" | "bad" | "unknown";

export interface StatusView {
  readonly tone: Tone;
  readonly word: string;
  /** What is meant more exactly than by the tone: nothing is done before something else happens, or until somebody resumes it. */
  readonly sign?: "waiting" | "paused";
}

/** The tones as colours of the theme. */
export const TONE_COLOR: Readonly<Record<Tone, string>> = {
  good: "green",
  progress: "blue",
  warning: "yellow",
  bad: "red",
  unknown: "gray",
};

type Table<K extends string> = Readonly<Record<K, StatusView>>;
const view = (tone: Tone, word: string): StatusView => ({ tone, word });
/** Nobody has reported on it yet, and nothing is done here meanwhile. */
const waiting = (word: string): StatusView => ({ tone: "unknown", word, sign: "waiting" });
const PAUSED: StatusView = { tone: "unknown", word: "Paused", sign: "paused" };
const NOT_REPORTED = waiting("Not reported yet");

export const APP_PHASE: Table<App["phase"]> = {
  pending: waiting("Pending"),
  deploying: view("progress", "Deploying"),
  running: view("good", "Running"),
  degraded: view("warning", "Degraded"),
  failed: view("bad", "Failed"),
  invalid: view("bad", "Invalid"),
  paused: PAUSED,
  deleting: view("progress", "Deleting"),
};

/** Beside the phase of an app. */
export const SUSPENDED = view("warning", "Suspended");

export const COMPONENT_PHASE: Table<ComponentStatus["phase"]> = {
  waiting: waiting("Waiting"),
  deploying: view("progress", "Deploying"),
  running: view("good", "Running"),
  completed: view("good", "Completed"),
  degraded: view("warning", "Degraded"),
  failed: view("bad", "Failed"),
  paused: PAUSED,
  unknown: view("unknown", "Unknown"),
};

export const CLUSTER_STATUS: Table<Cluster["status"]> = {
  pending: waiting("Pending"),
  provisioning: view("progress", "Provisioning"),
  awaiting_operator: { ...view("progress", "Waiting for its operator"), sign: "waiting" },
  connected: view("good", "Connected"),
  disconnected: view("warning", "Disconnected"),
  installing: view("progress", "Installing"),
  install_failed: view("bad", "Install failed"),
  abandoned: view("unknown", "Abandoned"),
  detaching: view("progress", "Detaching"),
  destroying: view("progress", "Destroying"),
  error: view("bad", "Error"),
};

export const PROJECT_LIFECYCLE: Table<Project["lifecycle"]> = {
  pending: waiting("Pending"),
  ready: view("good", "Ready"),
  degraded: view("warning", "Degraded"),
  cleanup_pending: view("progress", "Cleaning up"),
  cleanup_degraded: view("unknown", "Given up with its cluster"),
};

/** An abandoned or detached cluster takes no changes. */
export const isGivenUp = (status: keyof typeof CLUSTER_STATUS): boolean =>
  status === "abandoned" || status === "detaching";

/** A project that is being deleted, also where nobody confirms it any more. */
export const isGoing = (lifecycle: Project["lifecycle"] | undefined): boolean =>
  lifecycle === "cleanup_pending" || lifecycle === "cleanup_degraded";

export const ADDON_PHASE: Table<AddonInstance["phase"]> = {
  pending: waiting("Pending"),
  installing: view("progress", "Installing"),
  ready: view("good", "Ready"),
  upgrading: view("progress", "Upgrading"),
  degraded: view("warning", "Degraded"),
  failed: view("bad", "Failed"),
  deleting: view("progress", "Deleting"),
};

export const DRIFT_STATE: Table<App["drift"]["state"]> = {
  unknown: view("unknown", "Not compared yet"),
  in_sync: view("good", "In sync"),
  drifted: view("warning", "Drifted"),
  blocked_sync: view("bad", "Blocked"),
};

export const DEPLOYMENT_STATUS: Table<Deployment["status"]> = {
  pending: view("progress", "Under way"),
  succeeded: view("good", "Succeeded"),
  failed: view("bad", "Failed"),
  superseded: view("unknown", "Superseded"),
};

export const RESOURCE_STATUS: Table<ResourceNode["status"]> = {
  ready: view("good", "Ready"),
  progressing: view("progress", "Progressing"),
  failed: view("bad", "Failed"),
  deleting: view("progress", "Deleting"),
  missing: view("bad", "Missing"),
  unknown: view("unknown", "Unknown"),
};

/** The deployment of an app on which the cluster has not reported: it is recorded, and nothing is done before the cluster has it. */
export const deploymentStatus = (status: Deployment["status"], phase: App["phase"]): StatusView =>
  status === "pending" && phase === "pending" ? waiting("Not delivered yet") : DEPLOYMENT_STATUS[status];

/** The parts of a resource that say what its status is based on. */
export interface Observed {
  readonly stale: boolean;
  readonly observed_at: string | null;
  readonly generation?: number;
  readonly observed_generation?: number | null;
}

/**
 * Nothing is green from memory. A state that was true for the current generation and was confirmed lately keeps its tone;
 * otherwise a good state is shown as one that was not heard of, or as one that is under way.
 */
export function confirmedStatus(
  status: StatusView,
  { stale, observed_at, generation, observed_generation }: Observed,
): StatusView {
  if (status.tone !== "good") return status;
  if (observed_at === null) return NOT_REPORTED;
  if (stale) return view("warning", `${status.word}, not confirmed`);
  const isBehind = generation !== undefined && observed_generation !== undefined && observed_generation !== generation;
  return isBehind ? view("progress", "Change under way") : status;
}

const TROUBLES: ReadonlySet<string> = new Set(POD_TROUBLES);
const HELD_UP = view("warning", "Deploying, held up");

interface Reported {
  readonly phase: ComponentStatus["phase"];
  readonly reason: string | null;
  readonly ready?: number;
  readonly desired?: number;
}

/** Somebody has scaled it on the cluster, which the app has not asked for. */
const SURPLUS = view("warning", "Running, more than asked for");

const isHeldUp = (phase: string, reason: string | null): boolean =>
  phase === "deploying" && reason !== null && TROUBLES.has(reason);

/** The status of a component, as far as the report of its app is current. */
export function componentStatus(reported: Reported | null, app: Observed): StatusView {
  if (!reported) return NOT_REPORTED;
  if (isHeldUp(reported.phase, reported.reason)) return HELD_UP;
  const status = confirmedStatus(COMPONENT_PHASE[reported.phase], app);
  const { phase, ready = 0, desired = ready } = reported;
  return status.tone === "good" && phase === "running" && ready > desired ? SURPLUS : status;
}

/**
 * While a change is rolled out, ready replicas may be of the version before. Null where all are of the present one, or where
 * nothing is rolled out.
 */
export function rolloutText(status: Pick<ComponentStatus, "phase" | "desired" | "updated">): string | null {
  const { phase, desired, updated } = status;
  return phase === "deploying" && updated < desired ? `${updated} of the new version` : null;
}

/** An app that runs but does not match what was asked for is not green, and one whose pods cannot start is not just under way. */
export function appStatus(
  app: Observed & {
    readonly phase: App["phase"];
    readonly phase_reason: string | null;
    readonly drift_state: App["drift"]["state"];
  },
): StatusView {
  if (isHeldUp(app.phase, app.phase_reason)) return HELD_UP;
  const status = confirmedStatus(APP_PHASE[app.phase], app);
  if (status.tone !== "good") return status;
  if (app.drift_state === "blocked_sync") return view("bad", "Blocked by a conflict");
  return app.drift_state === "drifted" ? view("warning", "Running, drifted") : status;
}

/** Says what a status is based on, such as "generation 7 of 7, seen 4 s ago". */
export function basis({ generation, observed_generation, observed_at, stale }: Observed, now: number): string {
  const seen = observed_at === null ? "never seen" : `${stale ? "last seen" : "seen"} ${ago(observed_at, now)}`;
  if (generation === undefined) return seen;
  return `generation ${observed_generation ?? 0} of ${generation}, ${seen}`;
}

const UNITS = [
  [86_400 * 365, "y"],
  [86_400, "d"],
  [3_600, "h"],
  [60, "min"],
  [1, "s"],
] as const;

/** The span between a time and now in its largest unit: "4 s ago", "in 2 h". Differences between two clocks read as now. */
export function ago(time: string, now: number): string {
  const seconds = Math.round((now - Date.parse(time)) / 1_000);
  if (Math.abs(seconds) < 2) return "now";
  const [size, unit] = UNITS.find(([length]) => Math.abs(seconds) >= length) ?? [1, "s"];
  const text = `${Math.floor(Math.abs(seconds) / size)} ${unit}`;
  return seconds > 0 ? `${text} ago` : `in ${text}`;
}
