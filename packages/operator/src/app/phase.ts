import {
  type AppReport,
  type ComponentPhase,
  type ComponentStatus,
  LONGEST_COMPONENT_MESSAGE,
  MOST_PODS_TOGETHER,
  type Reason,
  type Reasoned,
  safeText,
} from "@binnacle/contract";
import type { KubeObject } from "../kube/kube-client.ts";
import { lostNodes } from "../kube/lost-nodes.ts";
import { podStatuses, restartsOf } from "../kube/pod-view.ts";
import type { Invalid, RenderedComponent } from "./render/rendering.ts";

/** The observed state of a component. */
export interface ComponentState {
  readonly name: string;
  readonly type: RenderedComponent["type"];
  readonly state: "ready" | "progressing" | "failed" | "unknown";
  /** One word for programs, such as `ImagePullBackOff`, where there is one. */
  readonly reason?: Reason | null;
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
  /** All that it lacks is on nodes that do not answer: nobody knows when they will. */
  readonly isStranded?: boolean;
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

type Verdict = Pick<AppReport, "phase" | "message"> & Reasoned;
export type PhaseReport = Verdict & Pick<AppReport, "components" | "components_status">;

export function phaseReport(seen: AppFacts): PhaseReport {
  const facts = { ...seen, components: seen.components.map((component) => withLostNodes(component)) };
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
      return isMissed(component, ranGeneration === generation) ? "degraded" : "deploying";
    case "unknown":
      return "unknown";
  }
}

const verdictOf = (phase: Verdict["phase"], reason: Reason, message: string | null = null): Verdict => ({
  phase,
  reason,
  message,
});

/** The first that holds. What is not known is never taken for good. */
function verdict(facts: AppFacts): Verdict {
  if (facts.isDeleting) return verdictOf("deleting", "Deleting");
  if (facts.invalid) return verdictOf("invalid", facts.invalid.invalid, facts.invalid.message);
  if (facts.isPaused) return pausedVerdict(facts);
  return (
    failure(facts) ?? notKnown(facts) ?? waiting(facts) ?? progress(facts) ?? verdictOf("running", "RolloutComplete")
  );
}

/** Addons and charts go on while the app is paused. */
function pausedVerdict({ components }: AppFacts): Verdict {
  const left = components.filter(({ type, readyReplicas }) => type === "workload" && readyReplicas > 0);
  if (left.length === 0) return verdictOf("paused", "Paused");
  return verdictOf("deploying", "Pausing", `Still running: ${left.map(({ name }) => name).join(", ")}.`);
}

/** An app that has run, or of which a part runs, serves somebody: it is degraded. One that never has is failed. */
function failure({ components, ranGeneration }: AppFacts): Verdict | null {
  const failed = components.filter(({ state }) => state === "failed");
  const [first] = failed;
  if (!first) return null;
  const serves = ranGeneration !== null || components.some(({ readyReplicas }) => readyReplicas > 0);
  return verdictOf(serves ? "degraded" : "failed", first.reason ?? "ComponentFailed", messageOf(failed));
}

function notKnown({ components, ranGeneration }: AppFacts): Verdict | null {
  const unknown = components.filter(({ state }) => state === "unknown");
  if (unknown.length === 0) return null;
  return verdictOf(ranGeneration === null ? "deploying" : "degraded", "StateUnknown", messageOf(unknown));
}

function waiting({ components }: AppFacts): Verdict | null {
  const waits = components.filter(({ waitingFor = [] }) => waitingFor.length > 0);
  if (waits.length === 0) return null;
  const texts = waits.map(({ name, waitingFor = [] }) => `${name} waits for ${waitingFor.join(", ")}`);
  return verdictOf("deploying", "WaitingForExports", `${texts.join("; ")}.`);
}

/** A workload that has run as it is and has lost replicas is not on its way: somebody misses them. */
function progress({ components, generation, ranGeneration }: AppFacts): Verdict | null {
  const under = components.filter(({ state }) => state === "progressing");
  if (under.length === 0) return null;
  const hasRun = ranGeneration === generation;
  const short = under.filter((component) => isMissed(component, hasRun));
  const worst = short.find(({ readyReplicas }) => readyReplicas === 0) ?? short[0];
  if (worst && (hasRun || short.length === under.length)) {
    const reason = worst.readyReplicas === 0 ? "NoReplicas" : "ReplicasMissing";
    return verdictOf("degraded", worst.reason ?? reason, messageOf(short));
  }
  return verdictOf("deploying", under.find(({ reason }) => reason)?.reason ?? "RollingOut", messageOf(under));
}

const isShort = ({ readyReplicas, desiredReplicas, leastReplicas = desiredReplicas }: ComponentState): boolean =>
  readyReplicas < leastReplicas;

/** It lacks replicas that will not come by themselves. */
const isMissed = (component: ComponentState, hasRun: boolean): boolean =>
  isShort(component) && (hasRun || component.isStranded === true);

const MOST_NODES = 3;

/** A DaemonSet lacks a replica for as long as a node is down, also while it is replaced. */
function withLostNodes(component: ComponentState): ComponentState {
  const { state, readyReplicas, desiredReplicas, leastReplicas = desiredReplicas, message, pods = [] } = component;
  const missing = leastReplicas - readyReplicas;
  const nodes = state === "progressing" && missing > 0 ? [...lostNodes(pods)].sort() : [];
  if (nodes.length === 0 || missing > nodes.length) return component;
  const more = nodes.length > MOST_NODES ? ` and ${nodes.length - MOST_NODES} more` : "";
  const where = `No answer comes from ${nodes.slice(0, MOST_NODES).join(", ")}${more}.`;
  return { ...component, isStranded: true, message: message === null ? where : `${message} ${where}` };
}

const messageOf = (components: readonly ComponentState[]): string =>
  components.map(({ name, state, message }) => `${name}: ${message ?? state}`).join("; ");
