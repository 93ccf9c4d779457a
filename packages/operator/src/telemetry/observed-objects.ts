import {
  LONGEST_MESSAGE,
  OBSERVED_LIMITS,
  type ObservedEvent,
  type ObservedObject,
  type ResourceStatus,
  safeText,
} from "@binnacle/contract";
import type { KubeObject } from "../kube/kube-client.ts";
import { countIn, fieldsIn, specOf, statusOf, textIn } from "../kube/object-fields.ts";
import { troubleOf } from "../kube/pod-trouble.ts";
import { podStatuses } from "../kube/pod-view.ts";
import { readinessOf } from "../kube/readiness.ts";
import { workloadCounts } from "../kube/workload-counts.ts";
import type { OwnedObject } from "./owned-objects.ts";

/** An object that should be there and is not. */
export interface MissingObject {
  readonly component: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace: string | null;
}

/** The first ones that fit into an answer, and whether there are more. */
export function fitting<T>(items: readonly T[], most: number, bytes: number = OBSERVED_LIMITS.bytes) {
  const kept: T[] = [];
  let size = 0;
  for (const item of items) {
    size += Buffer.byteLength(JSON.stringify(item)) + 1;
    if (kept.length >= most || size > bytes) return { kept, truncated: true };
    kept.push(item);
  }
  return { kept, truncated: false };
}

const NOTHING = { reason: null, message: null, desired: null, ready: null, restarts: null, node: null } as const;

/** Those above come first, so that nothing is shown whose parent was left out. Of pods those in trouble come first. */
export function resourcesOf(owned: readonly OwnedObject[], missing: readonly MissingObject[], nowMs: number) {
  const shown = owned.filter(({ object }) => !isPastRevision(object));
  const nodes = shown.map((one) => ({ depth: one.depth, node: nodeOf(one, nowMs) }));
  nodes.sort((one, other) => one.depth - other.depth || rank(one.node) - rank(other.node));
  const absent = missing.map(missingNode);
  const { kept: objects, truncated } = fitting([...absent, ...nodes.map(({ node }) => node)], OBSERVED_LIMITS.objects);
  return { objects, truncated };
}

const rank = ({ kind, status }: ObservedObject): number => (kind !== "Pod" || status === "failed" ? 0 : 1);

/** An earlier revision of a Deployment, which is kept for a rollback and runs nothing. */
const isPastRevision = (object: KubeObject): boolean =>
  object.kind === "ReplicaSet" && specOf(object)["replicas"] === 0 && countIn(statusOf(object)["replicas"]) === 0;

const missingNode = ({ component, apiVersion, kind, name, namespace }: MissingObject): ObservedObject => ({
  ...NOTHING,
  id: `missing/${apiVersion}/${kind}/${name}`,
  parent_id: null,
  component,
  api_version: apiVersion,
  kind,
  name,
  namespace,
  status: "missing",
  message: "It should be on the cluster and is not.",
  created_at: null,
});

function nodeOf({ object, component, parentUid }: OwnedObject, nowMs: number): ObservedObject {
  const { apiVersion, kind, metadata } = object;
  const state = metadata.deletionTimestamp
    ? { ...stateOf(object, nowMs), status: "deleting" as const }
    : stateOf(object, nowMs);
  return {
    ...NOTHING,
    id: metadata.uid ?? "",
    parent_id: parentUid,
    component,
    api_version: apiVersion,
    kind,
    name: metadata.name,
    namespace: metadata.namespace ?? null,
    ...state,
    message: state.message ? safeText(state.message) : null,
    created_at: timeIn(metadata.creationTimestamp),
  };
}

type State = { readonly status: ResourceStatus } & Partial<
  Pick<ObservedObject, "reason" | "message" | "desired" | "ready" | "restarts" | "node">
>;

function stateOf(object: KubeObject, nowMs: number): State {
  if (object.kind === "Pod") return podState(object, nowMs);
  if (object.kind === "ReplicaSet") return replicaSetState(object);
  const { state: status, message, reason = null } = readinessOf(object);
  if (!["Deployment", "StatefulSet", "DaemonSet"].includes(object.kind)) return { status, message, reason };
  const { desired, ready } = workloadCounts(object, object);
  return { status, message, reason, desired, ready };
}

function replicaSetState(object: KubeObject): State {
  const desired = countIn(specOf(object)["replicas"]);
  const ready = countIn(statusOf(object)["readyReplicas"]);
  if (ready >= desired) return { status: "ready", desired, ready };
  const message = `ReplicaSet ${object.metadata.name} has ${ready} of ${desired} replicas ready.`;
  return { status: "progressing", message, desired, ready };
}

function podState(pod: KubeObject, nowMs: number): State {
  const [shown] = podStatuses([pod], nowMs);
  const trouble = troubleOf([pod], nowMs);
  const { state, message } = readinessOf(pod);
  const { reason = null, restarts = 0, node = null } = shown ?? {};
  return { status: trouble ? "failed" : state, message: trouble?.message ?? message, reason, restarts, node };
}

/** Null where it is not a time, since anybody may have written it. */
function timeIn(value: unknown): string | null {
  const ms = Date.parse(textIn(value));
  return Number.isNaN(ms) ? null : new Date(ms).toISOString();
}

const LONGEST_REASON = 128;
const LONGEST_TYPE = 100;
const MOST_COUNTED = 2_147_483_647;

/** Of all events of a namespace those about objects that are owned: by uid, since names are taken again. */
export function eventsOf(owned: readonly OwnedObject[], events: readonly KubeObject[]) {
  const byUid = new Map(owned.map((one) => [one.object.metadata.uid ?? "", one]));
  const found = events.flatMap((event) => {
    const about = byUid.get(textIn(fieldsIn(event["involvedObject"])["uid"]));
    return about ? [eventOf(event, about)] : [];
  });
  found.sort((one, other) => Date.parse(other.last_seen_at ?? "") - Date.parse(one.last_seen_at ?? "") || 0);
  const { kept, truncated } = fitting(found, OBSERVED_LIMITS.events);
  return { events: kept, truncated };
}

/** Older clients of Kubernetes write counts and times, newer ones a series. */
function eventOf(event: KubeObject, { object, component }: OwnedObject): ObservedEvent {
  const { type, reason, message, count, firstTimestamp, lastTimestamp, eventTime, series } = event;
  const repeated = fieldsIn(series);
  const first = timeIn(firstTimestamp) ?? timeIn(eventTime) ?? timeIn(event.metadata.creationTimestamp);
  const times = Math.max(countIn(count), countIn(repeated["count"]), 1);
  return {
    type: safeText(textIn(type)).slice(0, LONGEST_TYPE),
    reason: safeText(textIn(reason)).slice(0, LONGEST_REASON),
    message: safeText(textIn(message)).slice(0, LONGEST_MESSAGE),
    count: Math.min(Math.trunc(times), MOST_COUNTED),
    first_seen_at: first,
    last_seen_at: timeIn(repeated["lastObservedTime"]) ?? timeIn(lastTimestamp) ?? first,
    object: { kind: object.kind, name: object.metadata.name, component },
  };
}
