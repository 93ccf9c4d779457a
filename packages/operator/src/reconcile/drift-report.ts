import {
  DRIFT_STATES,
  type DriftField,
  type DriftRepair,
  type DriftReport,
  type DriftState,
  MOST_REPAIRS,
  safeText,
} from "@binnacle/contract";
import { countIn, fieldsIn, listIn, textIn } from "../kube/object-fields.ts";

/** Differences between an app's objects and the desired state. */
export interface Findings {
  /** Held by others who declare them. */
  readonly blocked: readonly { readonly fields: readonly DriftField[]; readonly summary: string }[];
  /** Changed by somebody, and still so. */
  readonly drifted: readonly DriftField[];
  /** Changed by somebody, and set back in this pass. */
  readonly healed: readonly DriftField[];
  /** Every object was compared, and every comparison was possible. */
  readonly isWhole: boolean;
}

export type EarlierDrift = Pick<DriftReport, "state" | "detected_at" | "repaired">;

/** As the status of a resource keeps it. */
export function earlierDriftIn(drift: unknown): EarlierDrift {
  const { state, detectedAt, repaired } = fieldsIn(drift);
  return {
    state: DRIFT_STATES.find((known) => known === state) ?? ("unknown" satisfies DriftState),
    detected_at: textIn(detectedAt) || null,
    repaired: listIn(repaired).map((repair) => ({
      object: { kind: textIn(fieldsIn(repair["object"])["kind"]), name: textIn(fieldsIn(repair["object"])["name"]) },
      pointer: textIn(repair["pointer"]),
      ...(textIn(repair["manager"]) === "" ? {} : { manager: textIn(repair["manager"]) }),
      detected_at: textIn(repair["detectedAt"]),
      repaired_at: textIn(repair["repairedAt"]),
      times: Math.max(1, countIn(repair["times"])),
    })),
  };
}

/** The drift as the status of a resource keeps it. */
export const driftStatus = ({ state, detected_at, repaired = [] }: EarlierDrift) => ({
  state,
  detectedAt: detected_at,
  repaired: repaired.map(({ detected_at: detectedAt, repaired_at: repairedAt, ...repair }) => ({
    ...repair,
    detectedAt,
    repairedAt,
  })),
});

const repairKey = ({ object, pointer, manager = "" }: Pick<DriftRepair, "object" | "pointer" | "manager">): string =>
  JSON.stringify([object.kind, object.name, pointer, manager]);

/** The newest first. Whoever changes a field again and again has one entry, which counts. */
function repairsAfter(healed: readonly DriftField[], earlier: EarlierDrift, now: string): DriftRepair[] {
  const detected_at = earlier.state === "drifted" ? (earlier.detected_at ?? now) : now;
  const { repaired = [] } = earlier;
  const known = new Map(repaired.map((repair) => [repairKey(repair), repair]));
  const latest = new Map(
    healed.map(({ object, pointer, manager }): [string, DriftRepair] => {
      const field = { object, pointer, ...(manager === undefined ? {} : { manager }) };
      const times = (known.get(repairKey(field))?.times ?? 0) + 1;
      return [repairKey(field), { ...field, detected_at, repaired_at: now, times }];
    }),
  );
  const others = repaired.filter((repair) => !latest.has(repairKey(repair)));
  return [...latest.values(), ...others].slice(0, MOST_REPAIRS);
}

const MOST_FIELDS = 100;

export function driftReport(findings: Findings, earlier: EarlierDrift, now: string): DriftReport {
  const { blocked, drifted, healed, isWhole } = findings;
  const repaired = repairsAfter(healed, earlier, now);
  const since = (state: DriftReport["state"]) => (earlier.state === state ? (earlier.detected_at ?? now) : now);
  const report = (state: DriftReport["state"], summary: string, fields: readonly DriftField[]): DriftReport => ({
    state,
    summary: safeText(summary),
    fields: fields.slice(0, MOST_FIELDS),
    detected_at: since(state),
    repaired,
  });
  const [first] = blocked;
  if (first) {
    const fields = blocked.flatMap((one) => one.fields);
    return report("blocked_sync", first.summary, [...fields, ...drifted]);
  }
  if (drifted.length > 0) return report("drifted", summaryOf(drifted), drifted);
  return { state: isWhole ? "in_sync" : "unknown", summary: null, fields: [], detected_at: null, repaired };
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
