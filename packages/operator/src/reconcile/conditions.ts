import {
  type AddonReport,
  type AppReport,
  type ProjectReport,
  REASONS,
  type Reason,
  safeText,
} from "@binnacle/contract";
import type { KubeObject } from "../kube/kube-client.ts";
import { type Condition, conditionOf, listIn, statusOf, textIn } from "../kube/object-fields.ts";

/** The outcome of a run as people read it on the cluster, whatever the kind of the resource. */
export interface Verdict {
  readonly phase: Phase;
  /** One word in CamelCase. */
  readonly reason: string;
  readonly message: string;
  readonly isSuspended: boolean;
}

type Phase = AppReport["phase"] | AddonReport["phase"] | ProjectReport["state"];

/** `held`: as it is asked for, without being ready, and nothing is done about it. */
type State = "current" | "progressing" | "stalled" | "held";

const STATES: Readonly<Record<Phase, State | "troubled">> = {
  running: "current",
  ready: "current",
  deploying: "progressing",
  installing: "progressing",
  upgrading: "progressing",
  degraded: "troubled",
  failed: "troubled",
  invalid: "stalled",
  paused: "held",
  deleting: "progressing",
  apply_failed: "stalled",
  namespace_conflict: "stalled",
  cleaning: "progressing",
  cleanup_blocked: "stalled",
};

/** Trouble that mostly ends by itself; of any other, somebody has to look. */
const PASSING: ReadonlySet<string> = new Set<Reason>([
  "RollingOut",
  "WaitingForComponents",
  "WaitingForExports",
  "WaitingForAddonInstance",
  "VolumeGrowing",
  "WorkloadMissing",
  "ReplicasMissing",
  "NoReplicas",
  "DeletedOnCluster",
  "StateUnknown",
  "ClusterError",
  "NamespaceMissing",
  "Waiting",
  "Installing",
  "Upgrading",
  "NotReady",
  "ObjectMissing",
]);

/** A removal that does not come to its end without somebody. */
const HELD_UP: ReadonlySet<string> = new Set<Reason>(["HeldByFinalizers", "UninstallFailed"]);

/** The operator could not see what there is, so it says neither yes nor no. */
const UNSEEN: ReadonlySet<string> = new Set<Reason>(["StateUnknown", "ClusterError", "RefusedByCluster"]);

export function verdictOf(report: AppReport | AddonReport | ProjectReport): Verdict {
  const phase = "phase" in report ? report.phase : report.state;
  const reason = ("reason" in report ? report.reason : null) ?? camelCase(phase);
  const meaning = (REASONS[reason as Reason] ?? REASONS[phase as Reason])?.meaning ?? "";
  const isSuspended = reason === "Suspended" || ("suspended" in report && report.suspended === true);
  return { phase, reason, message: safeText(report.message ?? meaning), isSuspended };
}

const camelCase = (phase: string): string =>
  phase
    .split("_")
    .map((word) => `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`)
    .join("");

export function stateOf({ phase, reason, isSuspended }: Verdict): State {
  const state = STATES[phase];
  const isHeldUp = (phase === "deleting" || phase === "cleaning") && HELD_UP.has(reason);
  if (state === "troubled" ? !PASSING.has(reason) : isHeldUp) return "stalled";
  if (state === "current") return "current";
  return isSuspended && state !== "stalled" ? "held" : state === "troubled" ? "progressing" : state;
}

/** A condition as `kubectl wait` and kstatus read it. */
export interface WrittenCondition extends Condition {
  readonly type: ConditionType;
  /** That of the object's own metadata, which is another number than the generation of the control plane. */
  readonly observedGeneration?: number;
  readonly lastTransitionTime: string;
}

type ConditionType = "Ready" | "Reconciling" | "Stalled" | "Suspended";

/** The conditions that follow those in the status. The time of one changes with its status alone. */
export function conditionsAfter(
  before: KubeObject,
  verdict: Verdict,
  { observedGeneration, nowMs }: { readonly observedGeneration: number | undefined; readonly nowMs: number },
): WrittenCondition[] {
  const { reason, message, isSuspended } = verdict;
  const state = stateOf(verdict);
  const ready = UNSEEN.has(reason) ? "Unknown" : state === "current" ? "True" : "False";
  const statuses: readonly (readonly [ConditionType, string])[] = [
    ["Ready", ready],
    ["Reconciling", state === "progressing" ? "True" : "False"],
    ["Stalled", state === "stalled" ? "True" : "False"],
    ...(isSuspended ? [["Suspended", "True"] as const] : []),
  ];
  return statuses.map(([type, status]) => ({
    type,
    status,
    reason,
    message: type === "Ready" || status === "True" ? message : "",
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
    lastTransitionTime: transitionTime(before, type, status) ?? secondsOf(nowMs),
  }));
}

/** Null where the condition has another status now, or had none. */
function transitionTime(before: KubeObject, type: ConditionType, status: string): string | null {
  if (conditionOf(before, type)?.status !== status) return null;
  const found = listIn(statusOf(before)["conditions"]).find((condition) => condition["type"] === type);
  return textIn(found?.["lastTransitionTime"]) || null;
}

/** As Kubernetes writes times of conditions and events. */
export const secondsOf = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
