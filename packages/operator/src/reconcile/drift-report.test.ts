import { type DriftField, UNKNOWN_DRIFT } from "@binnacle/contract";
import { describe, expect, test } from "vitest";
import { driftReport, type Findings } from "./drift-report.ts";

const NOW = "2026-01-02T00:00:00.000Z";
const EARLIER = "2026-01-01T00:00:00.000Z";
const field = (given: Partial<DriftField> = {}): DriftField => ({
  object: { kind: "Deployment", name: "shop-web" },
  pointer: "/spec/replicas",
  desired: 2,
  observed: 5,
  ...given,
});
const findings = (given: Partial<Findings> = {}): Findings => ({ blocked: [], drifted: [], isWhole: true, ...given });

describe("the report of drift", () => {
  test.each<[string, Findings, string]>([
    ["in_sync, where all was looked at and is as desired", findings(), "in_sync"],
    ["unknown, where not all could be judged", findings({ isWhole: false }), "unknown"],
    ["drifted, where something was changed", findings({ drifted: [field()], isWhole: false }), "drifted"],
    [
      "blocked_sync, before all",
      findings({ drifted: [field()], blocked: [{ fields: [field({ manager: "argocd" })], summary: "Held." }] }),
      "blocked_sync",
    ],
  ])("[AO37] is %s", (_, found, state) => {
    expect(driftReport(found, UNKNOWN_DRIFT, NOW)).toMatchObject({ state });
  });

  test("[AO37] names the first field in a sentence, and how many more there are", () => {
    const summary = (...drifted: DriftField[]) => driftReport(findings({ drifted }), UNKNOWN_DRIFT, NOW).summary;
    expect(summary(field({ manager: "kubectl-edit" }))).toBe(
      "/spec/replicas of Deployment shop-web was changed by kubectl-edit.",
    );
    expect(summary(field({ pointer: "" }), field())).toBe("Deployment shop-web was deleted, and 1 more.");
    expect(summary(field())).toBe("/spec/replicas of Deployment shop-web was changed.");
  });

  test("[AO37] has a hundred fields at most", () => {
    const drifted = Array.from({ length: 150 }, (_, at) => field({ pointer: `/data/${at}` }));
    const report = driftReport(findings({ drifted }), UNKNOWN_DRIFT, NOW);
    expect(report.fields).toHaveLength(100);
    expect(report.summary).toContain("and 149 more");
  });

  test("[AO37] says since when, and begins anew when it becomes something else", () => {
    const drifted = findings({ drifted: [field()] });
    const since = (state: "drifted" | "blocked_sync") =>
      driftReport(drifted, { state, detected_at: EARLIER }, NOW).detected_at;
    expect(since("drifted")).toBe(EARLIER);
    expect(since("blocked_sync")).toBe(NOW);
    expect(driftReport(findings(), { state: "drifted", detected_at: EARLIER }, NOW).detected_at).toBeNull();
  });
});
