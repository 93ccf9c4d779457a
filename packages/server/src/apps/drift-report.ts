import {
  canonicalJson,
  type DriftField,
  type DriftRepair,
  type DriftReport,
  isSafeText,
  LONGEST_MESSAGE,
  MOST_REPAIRS,
  safeText,
  UNKNOWN_DRIFT,
} from "@binnacle/contract";
import { reportingAt } from "../clusters/freshness.ts";
import type { Announcement } from "../events/event.ts";
import { type App, appEvent } from "./app.ts";

type Drift = Pick<App, "drift_state" | "drift_summary" | "drift_fields" | "drift_detected_at">;
type DriftWithRepairs = Drift & Pick<App, "drift_repairs">;

/** The columns of an app on which no drift was reported since its generation was raised. */
export const NO_DRIFT_REPORTED: Drift = {
  drift_state: UNKNOWN_DRIFT.state,
  drift_summary: UNKNOWN_DRIFT.summary,
  drift_fields: UNKNOWN_DRIFT.fields,
  drift_detected_at: null,
};

/** Returns the drift after a report. A known drift keeps its time of detection. */
export function driftAfter(app: DriftWithRepairs, report: DriftReport, now: Date): DriftWithRepairs {
  const { state, summary, fields, detected_at, repaired } = report;
  const isDrift = state === "drifted" || state === "blocked_sync";
  const drift: DriftWithRepairs = {
    drift_repairs: repaired === undefined ? app.drift_repairs : repairsAfter(app.drift_repairs, repaired),
    drift_state: state,
    drift_summary: summary,
    drift_fields: fields.map(shownField),
    drift_detected_at: isDrift ? (detected_at === null ? now : new Date(detected_at)) : null,
  };
  return isSameDrift(app, drift) && app.drift_summary === summary
    ? { ...drift, drift_detected_at: app.drift_detected_at }
    : drift;
}

/** What an operator has forgotten, because its record was made again, is kept. The newest come first. */
function repairsAfter(known: readonly DriftRepair[], repaired: readonly DriftRepair[]): DriftRepair[] {
  const keyOf = ({ object, pointer, manager = "" }: DriftRepair) =>
    JSON.stringify([object.kind, object.name, pointer, manager]);
  const reported = repaired.map(
    ({ object, pointer, manager, detected_at, repaired_at, times }): DriftRepair => ({
      object: { kind: safeText(object.kind), name: safeText(object.name) },
      pointer: safeText(pointer),
      ...(manager === undefined ? {} : { manager: safeText(manager) }),
      detected_at,
      repaired_at,
      times,
    }),
  );
  const keys = new Set(reported.map(keyOf));
  return [...reported, ...known.filter((repair) => !keys.has(keyOf(repair)))].slice(0, MOST_REPAIRS);
}

/** The keys of stored JSON may be in another order, so canonical forms are compared. */
export const isSameDrift = (one: Drift, other: Drift): boolean =>
  one.drift_state === other.drift_state && canonicalJson(one.drift_fields) === canonicalJson(other.drift_fields);

function shownField({ object, pointer, desired, observed, manager }: DriftField): DriftField {
  const isSecret = object.kind === "Secret";
  return {
    object: { kind: safeText(object.kind), name: safeText(object.name) },
    pointer: safeText(pointer),
    ...(isSecret || desired === undefined ? {} : { desired: shownValue(desired) }),
    ...(isSecret || observed === undefined ? {} : { observed: shownValue(observed) }),
    ...(manager === undefined ? {} : { manager: safeText(manager) }),
  };
}

/** Shows a value as it is. A value that is too long or may contain a secret is shown as masked, shortened text. */
function shownValue(value: unknown): unknown {
  const text = JSON.stringify(value);
  return text.length <= LONGEST_MESSAGE && isSafeText(text) ? value : safeText(text);
}

export const driftEvent = (app: App, now: Date): Announcement => {
  const { type: _, ...about } = appEvent(app, reportingAt(now), now);
  return {
    ...about,
    type: "drift",
    org_id: app.org_id,
    resource: { type: "app", id: app.id, name: app.name, namespace: app.namespace },
    state: app.drift_state,
    summary: app.drift_summary,
    fields: app.drift_fields,
    detected_at: app.drift_detected_at?.toISOString() ?? null,
    repaired: app.drift_repairs,
  };
};
