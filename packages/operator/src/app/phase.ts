import {
  type AppReport,
  type ComponentPhase,
  type ComponentStatus,
  LONGEST_COMPONENT_MESSAGE,
  MOST_PODS_TOGETHER,
  safeText,
} from "@binnacle/contract";
import type { KubeObject } from "../kube/kube-client.ts";
import { podStatuses, restartsOf } from "../kube/pod-view.ts";
import type { Invalid, RenderedComponent } from "./render/rendering.ts";

/** The observed state of a component. */
export interface ComponentState {
  readonly name: string;
  readonly type: RenderedComponent["type"];
  readonly state: "ready" | "progressing" | "failed" | "unknown";
  /** One word for programs, such as `ImagePullBackOff`, where there is one. */
  readonly reason?: string | null;
  readonly message: string | null;
  readonly readyReplicas: number;
  /** As many as it is to have. */
  readonly desiredReplicas: number;
  /** With fewer it has lost some; the same where nothing else is said. An autoscaler may ask for more. */
  readonly leastReplicas?: number;
  readonly updatedReplicas?: number;
  readonly image?: string | null;
  readonly pods?: readonly KubeObject[];
  /** A Job that is done. */
  readonly isCompleted?: boolean;
  /** Exports that it waits for, as `db.url`. */
  readonly waitingFor?: readonly string[];
}

export interface AppFacts {
  readonly isPaused: boolean;
  readonly isDeleting: boolean;
  readonly generation: number;
  /** The last generation that was seen to run whole; null where none ever was. */
  readonly ranGeneration: number | null;
  readonly invalid: Invalid | null;
  readonly nowMs: number;
  /** In the order in which they start. */
  readonly components: readonly ComponentState[];
}

type Verdict = Pick<AppReport, "phase" | "reason" | "message">;
export type PhaseReport = Verdict & Pick<AppReport, "components" | "components_status">;

export function phaseReport(facts: AppFacts): PhaseReport {
  const { phase, reason, message } = verdict(facts);
  return {
    phase,
    reason,
    message: message === null ? null : safeText(message),
    components: facts.components.map(({ name, readyReplicas }) => ({ name, ready_replicas: readyReplicas })),
    components_status: componentStatuses(
      facts.components.map((component) => ({ ...component, phase: componentPhase(component, facts) })),
      facts.nowMs,
    ),
  };
}

export interface SeenComponent extends Omit<ComponentState, "type" | "state" | "waitingFor"> {
  readonly phase: ComponentPhase;
}

/** The pods of an app or an instance with many components are shared out among them, so that a report stays small. */
export function componentStatuses(components: readonly SeenComponent[], nowMs: number): ComponentStatus[] {
  const most = Math.max(1, Math.floor(MOST_PODS_TOGETHER / Math.max(1, components.length)));
  return components.map((component) => {
    const { name, phase, reason = null, message, pods = [] } = component;
    return {
      name,
      phase,
      reason,
      message: message === null ? null : safeText(message).slice(0, LONGEST_COMPONENT_MESSAGE),
      desired: component.desiredReplicas,
      ready: component.readyReplicas,
      updated: component.updatedReplicas ?? 0,
      restarts: pods.reduce((sum, pod) => sum + restartsOf(pod), 0),
      image: component.image ?? null,
      pods: podStatuses(pods, nowMs, most),
    };
  });
}

type PhaseFacts = Pick<AppFacts, "isPaused" | "generation" | "ranGeneration">;

function componentPhase(component: ComponentState, facts: PhaseFacts): ComponentPhase {
  const { type, state, reason, readyReplicas, waitingFor = [] } = component;
  const { isPaused, generation, ranGeneration } = facts;
  if (isPaused && type === "workload") return readyReplicas > 0 ? "deploying" : "paused";
  if (waitingFor.length > 0 || reason === "WaitingForComponents") return "waiting";
  switch (state) {
    case "ready":
      return component.isCompleted ? "completed" : "running";
    case "failed":
      return ranGeneration !== null || readyReplicas > 0 ? "degraded" : "failed";
    case "progressing":
      return ranGeneration === generation && isShort(component) ? "degraded" : "deploying";
    case "unknown":
      return "unknown";
  }
}

const say = (phase: Verdict["phase"], reason: string, message: string | null = null): Verdict => ({
  phase,
  reason,
  message,
});

/** The first that holds. What is not known is never taken for good. */
function verdict(facts: AppFacts): Verdict {
  if (facts.isDeleting) return say("deleting", "Deleting");
  if (facts.invalid) return say("invalid", facts.invalid.invalid, facts.invalid.message);
  if (facts.isPaused) return pausedVerdict(facts);
  return failure(facts) ?? notKnown(facts) ?? waiting(facts) ?? progress(facts) ?? say("running", "RolloutComplete");
}

/** Addons and charts go on while the app is paused. */
function pausedVerdict({ components }: AppFacts): Verdict {
  const left = components.filter(({ type, readyReplicas }) => type === "workload" && readyReplicas > 0);
  if (left.length === 0) return say("paused", "Paused");
  return say("deploying", "Pausing", `Still running: ${left.map(({ name }) => name).join(", ")}.`);
}

/** An app that has run, or of which a part runs, serves somebody: it is degraded. One that never has is failed. */
function failure({ components, ranGeneration }: AppFacts): Verdict | null {
  const failed = components.filter(({ state }) => state === "failed");
  const [first] = failed;
  if (!first) return null;
  const serves = ranGeneration !== null || components.some(({ readyReplicas }) => readyReplicas > 0);
  return say(serves ? "degraded" : "failed", first.reason ?? "ComponentFailed", messageOf(failed));
}

function notKnown({ components, ranGeneration }: AppFacts): Verdict | null {
  const unknown = components.filter(({ state }) => state === "unknown");
  if (unknown.length === 0) return null;
  return say(ranGeneration === null ? "deploying" : "degraded", "StateUnknown", messageOf(unknown));
}

function waiting({ components }: AppFacts): Verdict | null {
  const waits = components.filter(({ waitingFor = [] }) => waitingFor.length > 0);
  if (waits.length === 0) return null;
  const texts = waits.map(({ name, waitingFor = [] }) => `${name} waits for ${waitingFor.join(", ")}`);
  return say("deploying", "WaitingForExports", `${texts.join("; ")}.`);
}

/** A workload that has run as it is and has lost replicas is not on its way: somebody misses them. */
function progress({ components, generation, ranGeneration }: AppFacts): Verdict | null {
  const under = components.filter(({ state }) => state === "progressing");
  if (under.length === 0) return null;
  const short = under.filter(isShort);
  const worst = short.find(({ readyReplicas }) => readyReplicas === 0) ?? short[0];
  if (ranGeneration === generation && worst) {
    const reason = worst.readyReplicas === 0 ? "NoReplicas" : "ReplicasMissing";
    return say("degraded", worst.reason ?? reason, messageOf(short));
  }
  return say("deploying", under.find(({ reason }) => reason)?.reason ?? "RollingOut", messageOf(under));
}

const isShort = ({ readyReplicas, desiredReplicas, leastReplicas = desiredReplicas }: ComponentState): boolean =>
  readyReplicas < leastReplicas;

const messageOf = (components: readonly ComponentState[]): string =>
  components.map(({ name, state, message }) => `${name}: ${message ?? state}`).join("; ");
