import type { KubeObject } from "../store/kube-object.ts";
import type { Deployment, Scaling } from "./deployment.ts";
import type { ReplicaSet } from "./replica-set.ts";
import { msOf } from "./writes.ts";

const wantedOf = ({ spec }: ReplicaSet | Deployment): number => spec.replicas ?? 1;
const availableOf = ({ status }: ReplicaSet): number => status?.availableReplicas ?? 0;
const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

/** All pods of old versions go before the first of the new one comes. */
export function recreate(
  deployment: Deployment,
  current: ReplicaSet | undefined,
  old: readonly ReplicaSet[],
): Scaling[] {
  const ending = old.filter((set) => wantedOf(set) > 0).map((set) => ({ set, replicas: 0 }));
  return ending.length > 0 || !current ? ending : [{ set: current, replicas: wantedOf(deployment) }];
}

/** A paused Deployment is scaled in the version that it has. */
export function scaleOnly(
  deployment: Deployment,
  current: ReplicaSet | undefined,
  old: readonly ReplicaSet[],
): Scaling[] {
  const active = old.filter((set) => wantedOf(set) > 0);
  const only =
    active.length === 0 ? current : active.length === 1 && wantedOf(current ?? NO_PODS) === 0 ? active[0] : undefined;
  return only ? [{ set: only, replicas: wantedOf(deployment) }] : [];
}

const NO_PODS = { spec: { replicas: 0 } } as ReplicaSet;

/** New pods as far as the surge allows; then old ones go as far as enough are available without them. */
export function rollOut(
  deployment: Deployment,
  current: ReplicaSet | undefined,
  old: readonly ReplicaSet[],
): Scaling[] {
  if (!current) return [];
  const replicas = wantedOf(deployment);
  const { surge, unavailable } = rolloutLimits(deployment);
  const total = sum([current, ...old].map(wantedOf));
  if (wantedOf(current) > replicas) return [{ set: current, replicas }];
  const more = Math.min(replicas - wantedOf(current), replicas + surge - total);
  if (more > 0) return [{ set: current, replicas: wantedOf(current) + more }];

  const least = replicas - unavailable;
  const spare = total - least - (wantedOf(current) - availableOf(current));
  if (spare <= 0) return [];
  return lessOf(old, spare, sum([current, ...old].map(availableOf)) - least);
}

/** Pods that are not available help nobody and go first, then available ones of the oldest versions. */
function lessOf(old: readonly ReplicaSet[], spare: number, spareAvailable: number): Scaling[] {
  const sorted = [...old].sort((a, b) => createdMs(a) - createdMs(b));
  const scaled = new Map(sorted.map((set) => [set, wantedOf(set)]));
  let left = spare;
  for (const set of sorted) {
    const broken = Math.min(Math.max(wantedOf(set) - availableOf(set), 0), left);
    scaled.set(set, wantedOf(set) - broken);
    left -= broken;
  }
  let leftAvailable = Math.min(left, Math.max(spareAvailable, 0));
  for (const set of sorted) {
    const fewer = Math.min(scaled.get(set) ?? 0, leftAvailable);
    scaled.set(set, (scaled.get(set) ?? 0) - fewer);
    leftAvailable -= fewer;
  }
  return [...scaled].map(([set, replicas]) => ({ set, replicas }));
}

const createdMs = ({ metadata }: ReplicaSet): number => msOf(metadata.creationTimestamp) ?? 0;

export interface RolloutLimits {
  /** Pods beyond the wanted number. */
  readonly surge: number;
  /** Pods that may be missing. */
  readonly unavailable: number;
}

const QUARTER = "25%";

/** How far a rollout may go over and under the wanted number. Both at nothing would let it never begin. */
export function rolloutLimits({ spec }: Deployment): RolloutLimits {
  if (spec.strategy?.type === "Recreate") return { surge: 0, unavailable: 0 };
  const { maxSurge = QUARTER, maxUnavailable = QUARTER } = spec.strategy?.rollingUpdate ?? {};
  const replicas = spec.replicas ?? 1;
  const surge = amountOf(maxSurge, replicas, Math.ceil);
  const unavailable = Math.min(amountOf(maxUnavailable, replicas, Math.floor), replicas);
  return surge === 0 && unavailable === 0 ? { surge, unavailable: 1 } : { surge, unavailable };
}

/** A number, or a share of the whole. */
export function amountOf(amount: number | string, whole: number, round: (share: number) => number): number {
  if (typeof amount === "number") return amount;
  return amount.endsWith("%") ? round((Number(amount.slice(0, -1)) * whole) / 100) : Number(amount) || 0;
}

export const REVISION = "deployment.kubernetes.io/revision";

/** The number of a version, counted up with each one that is rolled out. */
export const revisionOf = ({ metadata }: KubeObject): number => Number(metadata.annotations?.[REVISION] ?? 0) || 0;
