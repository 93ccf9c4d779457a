import { DRIFT_STATES, type DriftField, type DriftReport, type DriftState, safeText } from "@binnacle/contract";
import { fieldsIn, textIn } from "../kube/object-fields.ts";

/** Differences between an app's objects and the desired state. */
export interface Findings {
  /** Held by others who declare them. */
  readonly blocked: readonly { readonly fields: readonly DriftField[]; readonly summary: string }[];
  /** Changed by somebody, and still so. */
  readonly drifted: readonly DriftField[];
  /** Every object was compared, and every comparison was possible. */
  readonly isWhole: boolean;
}

export type EarlierDrift = Pick<DriftReport, "state" | "detected_at">;

/** As the status of a resource keeps it. */
export function earlierDriftIn(drift: unknown): EarlierDrift {
  const { state, detectedAt } = fieldsIn(drift);
  return {
    state: DRIFT_STATES.find((known) => known === state) ?? ("unknown" satisfies DriftState),
    detected_at: textIn(detectedAt) || null,
  };
}

const MOST_FIELDS = 100;

export function driftReport(findings: Findings, earlier: EarlierDrift, now: string): DriftReport {
  const { blocked, drifted, isWhole } = findings;
  const since = (state: DriftReport["state"]) => (earlier.state === state ? (earlier.detected_at ?? now) : now);
  const report = (state: DriftReport["state"], summary: string, fields: readonly DriftField[]): DriftReport => ({
    state,
    summary: safeText(summary),
    fields: fields.slice(0, MOST_FIELDS),
    detected_at: since(state),
  });
  const [first] = blocked;
  if (first) {
    const fields = blocked.flatMap((one) => one.fields);
    return report("blocked_sync", first.summary, [...fields, ...drifted]);
  }
  if (drifted.length > 0) return report("drifted", summaryOf(drifted), drifted);
  return { state: isWhole ? "in_sync" : "unknown", summary: null, fields: [], detected_at: null };
}

function summaryOf(fields: readonly DriftField[]): string {
  const [first] = fields;
  const more = fields.length > 1 ? `, and ${fields.length - 1} more` : "";
  return first ? `${sentence(first)}${more}.` : "";
}

function sentence({ object, pointer, manager }: DriftField): string {
  const title = `${object.kind} ${object.name}`;
  if (pointer === "") return `${title} was deleted`;
  return `${pointer} of ${title} was changed${manager === undefined ? "" : ` by ${manager}`}`;
}
