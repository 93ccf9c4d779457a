import { canonicalJson, type DesiredKind, type Gone, type Reports } from "@binnacle/contract";
import type { KubeObject } from "../kube/kube-client.ts";
import { conditionsAfter, type Verdict } from "./conditions.ts";
import { lastPhaseIn, phaseSince } from "./last-phase.ts";

/** What a run has found out about a resource that is held by a custom resource. */
export interface Observed {
  /** The custom resource with its newest status. */
  readonly holder: KubeObject;
  /** The generation of the holder's metadata that the run was about. */
  readonly observedGeneration: number | undefined;
  readonly report: Exclude<Reports[DesiredKind], Gone>;
  /** What the kind keeps in the status besides. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** The status as people and programs of the cluster read it: `kubectl get`, `kubectl wait` and kstatus. */
export function statusAfter({ holder, observedGeneration, report, fields }: Observed, verdict: Verdict, nowMs: number) {
  const since = "phase_since" in report ? report.phase_since : undefined;
  return {
    phase: verdict.phase,
    phaseSince: since ?? phaseSince(lastPhaseIn(holder), verdict.phase, nowMs),
    reason: verdict.reason,
    message: report.message,
    ...fields,
    observedGeneration: observedGeneration ?? null,
    conditions: conditionsAfter(holder, verdict, { observedGeneration, nowMs }),
  };
}

/** Whether the status has all of these fields already. Null and absent are the same. */
export function isSameStatus(before: unknown, fields: Readonly<Record<string, unknown>>): boolean {
  const known = typeof before === "object" && before !== null ? (before as Readonly<Record<string, unknown>>) : {};
  return Object.entries(fields).every(([name, value]) => canonical(known[name]) === canonical(value));
}

const canonical = (value: unknown): string =>
  canonicalJson(
    JSON.parse(JSON.stringify([value ?? null], (_, inner: unknown) => (inner === null ? undefined : inner))),
  );
