import type { KubeObject } from "../kube/kube-client.ts";
import { statusOf, textIn } from "../kube/object-fields.ts";

/** The phase that was last written to the status of a resource, and since when it holds. */
export interface LastPhase {
  readonly phase: string;
  /** RFC 3339. */
  readonly since: string;
}

export function lastPhaseIn(holder: KubeObject): LastPhase | null {
  const { phase, phaseSince: since } = statusOf(holder);
  return textIn(phase) !== "" && textIn(since) !== "" ? { phase: textIn(phase), since: textIn(since) } : null;
}

/** A phase begins once, however often it is reported and for whatever reason. */
export const phaseSince = (last: LastPhase | null, phase: string, nowMs: number): string =>
  last?.phase === phase ? last.since : new Date(nowMs).toISOString();
