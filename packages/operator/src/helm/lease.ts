import type { KubeObject } from "../kube/kube-client.ts";
import { specOf, textIn } from "../kube/object-fields.ts";

export const LEASE_S = 20;
export const RENEW_MS = 5_000;

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

/** Its holder has released it, or has not renewed it while we watched. */
export function isFree(lease: KubeObject, seen: SeenLease, nowMs: number): boolean {
  const { holderIdentity, leaseDurationSeconds } = specOf(lease);
  const durationMs = 1_000 * (typeof leaseDurationSeconds === "number" ? leaseDurationSeconds : LEASE_S);
  return textIn(holderIdentity) === "" || nowMs - seen.sinceMs >= durationMs;
}

/** As Kubernetes writes times with microseconds. */
export const microTime = (nowMs: number): string => new Date(nowMs).toISOString().replace("Z", "000Z");
