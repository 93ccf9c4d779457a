import { type DriftField, UNKNOWN_DRIFT } from "@binnacle/contract";
import { describe, expect, test } from "vitest";
import { driftReport, driftStatus, type EarlierDrift, earlierDriftIn, type Findings } from "./drift-report.ts";

const NOW = "2026-01-02T00:00:00.000Z";
const EARLIER = "2026-01-01T00:00:00.000Z";
const field = (given: Partial<DriftField> = {}): DriftField => ({
  object: { kind: "Deployment", name: "shop-web" },
  pointer: "/spec/replicas",
  desired: 2,
  observed: 5,
  ...given,
});
const findings = (given: Partial<Findings> = {}): Findings => ({
  blocked: [],
  drifted: [],
  healed: [],
  isWhole: true,
  ...given,
});

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
  ])("[AO37] the report of drift is %s", (_, found, state) => {
    expect(driftReport(found, UNKNOWN_DRIFT, NOW)).toMatchObject({ state });
  });

  test("[AO37] the report of drift names the first field in a sentence, and how many more there are", () => {
    const summary = (...drifted: DriftField[]) => driftReport(findings({ drifted }), UNKNOWN_DRIFT, NOW).summary;
    expect(summary(field({ manager: "kubectl-edit" }))).toBe(
      "/spec/replicas of Deployment shop-web was changed by kubectl-edit.",
    );
    expect(summary(field({ pointer: "" }), field())).toBe("Deployment shop-web was deleted, and 1 more.");
    expect(summary(field())).toBe("/spec/replicas of Deployment shop-web was changed.");
  });

  test("[AO37] the report of drift has a hundred fields at most", () => {
    const drifted = Array.from({ length: 150 }, (_, at) => field({ pointer: `/data/${at}` }));
    const report = driftReport(findings({ drifted }), UNKNOWN_DRIFT, NOW);
    expect(report.fields).toHaveLength(100);
    expect(report.summary).toContain("and 149 more");
  });

  test("[AO37] the report of drift says since when, and begins anew when the state changes", () => {
    const drifted = findings({ drifted: [field()] });
    const since = (state: "drifted" | "blocked_sync") =>
      driftReport(drifted, { state, detected_at: EARLIER }, NOW).detected_at;
    expect(since("drifted")).toBe(EARLIER);
    expect(since("blocked_sync")).toBe(NOW);
    expect(driftReport(findings(), { state: "drifted", detected_at: EARLIER }, NOW).detected_at).toBeNull();
  });

  test("[AO88] a repair is remembered with its field, who changed it, when that was found, and when it was set back", () => {
    const drifted = { state: "drifted", detected_at: EARLIER } as const;
    const report = driftReport(findings({ healed: [field({ manager: "kubectl-edit" })] }), drifted, NOW);
    const repair = {
      object: { kind: "Deployment", name: "shop-web" },
      pointer: "/spec/replicas",
      manager: "kubectl-edit",
      detected_at: EARLIER,
      repaired_at: NOW,
      times: 1,
    };
    expect(report).toMatchObject({ state: "in_sync", repaired: [repair] });
    const kept = earlierDriftIn(JSON.parse(JSON.stringify(driftStatus(report))));
    expect(kept).toEqual({ state: "in_sync", detected_at: null, repaired: [repair] });
    expect(driftReport(findings(), kept, NOW).repaired).toEqual([repair]);
  });

  test("[AO88] a field that is repaired again and again is remembered once, and the newest twenty are kept", () => {
    let earlier: EarlierDrift = UNKNOWN_DRIFT;
    for (let at = 0; at < 30; at += 1) {
      earlier = driftReport(findings({ healed: [field(), field({ pointer: `/data/${at}` })] }), earlier, NOW);
    }
    expect(earlier.repaired).toHaveLength(20);
    expect(earlier.repaired?.[0]).toMatchObject({ pointer: "/spec/replicas", times: 30 });
    expect(earlier.repaired?.[1]).toMatchObject({ pointer: "/data/29", times: 1 });
  });
});
