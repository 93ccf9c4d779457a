import type { KubeObject } from "../kube/kube-client.ts";
import { statusOf, textIn } from "../kube/object-fields.ts";
import { secondsOf, stateOf, type Verdict } from "./conditions.ts";

/** Where Kubernetes looks for events about objects of the whole cluster. The operator's chart names it too. */
export const CLUSTER_EVENTS_NAMESPACE = "default";
const REPORTER = "binnacle-operator";
/** The API server takes no longer ones in its newer form of events. */
const LONGEST_EVENT_MESSAGE = 1_024;

/** Whether the phase or its reason is another one than the status has. One that had no reason yet has not changed by getting one. */
export function isTransition(before: KubeObject, { phase, reason }: Verdict): boolean {
  const status = statusOf(before);
  const earlier = textIn(status["reason"]);
  return textIn(status["phase"]) !== phase || (earlier !== "" && earlier !== reason);
}

export interface EventFacts {
  /** No other event about the object has it. */
  readonly id: string;
  /** Transitions before this one that have no event. */
  readonly leftOut: number;
  readonly nowMs: number;
}

/** The event that `kubectl describe` shows below the object. */
export function transitionEvent(about: KubeObject, verdict: Verdict, { id, leftOut, nowMs }: EventFacts): KubeObject {
  const { apiVersion, kind, metadata } = about;
  const { name, namespace, uid, resourceVersion } = metadata;
  const at = secondsOf(nowMs);
  return {
    apiVersion: "v1",
    kind: "Event",
    metadata: { name: `${name}.${id}`, namespace: namespace ?? CLUSTER_EVENTS_NAMESPACE },
    involvedObject: { apiVersion, kind, name, ...(namespace ? { namespace } : {}), uid, resourceVersion },
    type: stateOf(verdict) === "stalled" || verdict.phase === "degraded" ? "Warning" : "Normal",
    reason: verdict.reason,
    message: messageOf(verdict, leftOut),
    source: { component: REPORTER },
    reportingComponent: REPORTER,
    reportingInstance: REPORTER,
    firstTimestamp: at,
    lastTimestamp: at,
    count: 1,
  };
}

function messageOf({ phase, message, isSuspended }: Verdict, leftOut: number): string {
  const state = `${phase}${isSuspended ? ", suspended" : ""}`;
  const cut = leftOut > 0 ? `(${leftOut} changes before this one have no event.) ` : "";
  const text = message === "" ? `${cut}${state}` : `${cut}${state}: ${message}`;
  return shortened(text);
}

/** In bytes, as Kubernetes counts. */
function shortened(text: string): string {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= LONGEST_EVENT_MESSAGE) return text;
  const decoder = new TextDecoder("utf-8", { fatal: false });
  return `${decoder.decode(bytes.subarray(0, LONGEST_EVENT_MESSAGE - 6)).replace(/\uFFFD$/, "")}…`;
}

/** As many events about one object may come at once as clients of Kubernetes allow themselves, and then one in this time. */
export const MOST_EVENTS_AT_ONCE = 25;
const NEXT_EVENT_MS = 300_000;

/** How many events about an object may be written, at this moment, and how many could not be. */
export interface EventAllowance {
  readonly left: number;
  readonly atMs: number;
  readonly leftOut: number;
}

export const fullAllowance = (nowMs: number): EventAllowance => ({
  left: MOST_EVENTS_AT_ONCE,
  atMs: nowMs,
  leftOut: 0,
});

/** Takes one event, as far as there is one to take. An app whose pods come and go would fill the store of the cluster otherwise. */
export function takeEvent(allowance: EventAllowance, nowMs: number): EventAllowance & { readonly isAllowed: boolean } {
  const regained = Math.max(0, nowMs - allowance.atMs) / NEXT_EVENT_MS;
  const left = Math.min(MOST_EVENTS_AT_ONCE, allowance.left + regained);
  if (left < 1) return { left, atMs: nowMs, leftOut: allowance.leftOut + 1, isAllowed: false };
  return { left: left - 1, atMs: nowMs, leftOut: 0, isAllowed: true };
}
