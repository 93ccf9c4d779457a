import type { KubeObject } from "./kube-client.ts";
import { specOf, textIn } from "./object-fields.ts";

export const LEASE_S = 20;

/**
 * A Lease as it was first seen in this state. Its expiry is measured by our own clock, because clocks of others may be
 * wrong.
 */
export interface SeenLease {
  readonly resourceVersion: string;
  readonly sinceMs: number;
}

export function seenLease(before: SeenLease | undefined, lease: KubeObject, nowMs: number): SeenLease {
  const { resourceVersion = "" } = lease.metadata;
  return before?.resourceVersion === resourceVersion ? before : { resourceVersion, sinceMs: nowMs };
}

/** A moment by both clocks: the monotonic one stands still while the machine is suspended, and the time of day may be set. */
export interface Moment {
  readonly clockMs: number;
  readonly wallMs: number;
}

export const msBetween = (from: Moment, to: Moment): number =>
  Math.max(to.clockMs - from.clockMs, to.wallMs - from.wallMs);

/** Nobody else can have the Lease yet, and what is sent now arrives before anybody does. Counted from the start of its last renewal. */
export const isSurelyHeld = (sinceRenewalMs: number, leaseSeconds: number): boolean =>
  sinceRenewalMs < leaseSeconds * 750;

/** Its holder has released it, has not renewed it while we watched, or was an earlier process of our own name. */
export function isFree(lease: KubeObject, seen: SeenLease, nowMs: number, holder?: string): boolean {
  const { holderIdentity, leaseDurationSeconds } = specOf(lease);
  const durationMs = 1_000 * (typeof leaseDurationSeconds === "number" ? leaseDurationSeconds : LEASE_S);
  return ["", holder].includes(textIn(holderIdentity)) || nowMs - seen.sinceMs >= durationMs;
}

/** As Kubernetes writes times with microseconds. */
export const microTime = (nowMs: number): string => new Date(nowMs).toISOString().replace("Z", "000Z");
