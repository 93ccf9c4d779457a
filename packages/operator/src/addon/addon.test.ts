import { describe, expect, test } from "vitest";
import type { ReleaseStatus } from "../helm/helm-releases.reconciler.ts";
import { type AddonMemory, addonReport, deletingReport, refusedReport, requeueMs } from "./addon.ts";

const observation: ReleaseStatus["observation"] = {
  doing: null,
  revision: null,
  isForeign: false,
  isCurrent: true,
  hasRun: true,
  failure: null,
};
const seen = (state: ReleaseStatus["state"], given: Partial<ReleaseStatus["observation"]> = {}): ReleaseStatus => ({
  state,
  reason: "NotReady",
  message: "So it is.",
  observation: { ...observation, ...given },
  exports: { plain: { host: "db.shop.svc" }, secret: { password: "s3cret" }, missing: [] },
  drifted: [],
  healed: [],
  blocked: [],
  isCertain: true,
  workloads: [],
  pods: [],
  makers: null,
});

const NOW = "2026-01-02T00:00:00.000Z";
const report = (found: ReleaseStatus, readyGeneration: number | null, given: Partial<AddonMemory> = {}) =>
  addonReport(
    found,
    3,
    {
      generation: 3,
      readyGeneration,
      lastPhase: null,
      drift: { state: "unknown", detected_at: null },
      ...given,
    },
    Date.parse(NOW),
  );

describe("[HE18] an addon of generation 3", () => {
  test.each([
    ["is ready", seen("ready"), null, "ready"],
    ["that never was ready is being installed", seen("progressing", { doing: "installing" }), null, "installing"],
    ["that never was ready and is tried again is being installed", seen("progressing"), null, "installing"],
    ["that never was ready and is unknown is being installed", seen("unknown"), null, "installing"],
    ["that never was ready has failed", seen("failed"), null, "failed"],
    ["that was ready before is being upgraded", seen("progressing", { doing: "upgrading" }), 2, "upgrading"],
    ["that was ready before and waits for its pods is being upgraded", seen("progressing"), 2, "upgrading"],
    [
      "that was ready as it is and is worked on is being upgraded",
      seen("progressing", { isCurrent: false }),
      3,
      "upgrading",
    ],
    ["that was ready as it is and is not any more is degraded", seen("progressing"), 3, "degraded"],
    ["that was ready and fails is degraded", seen("failed"), 2, "degraded"],
    ["that was ready and is unknown is degraded", seen("unknown"), 3, "degraded"],
    ["that is somebody else's has failed", seen("failed", { isForeign: true }), 2, "failed"],
  ])("an addon %s", (_, found, readyGeneration, phase) => {
    expect(report(found, readyGeneration).phase).toBe(phase);
  });
});

describe("a report", () => {
  test("[HE19] the report of an addon holds its exports, and of a secret export only that it exists", () => {
    const said = report(seen("ready"), 3);
    expect(said).toEqual({
      phase: "ready",
      reason: "NotReady",
      message: "So it is.",
      exports: { host: "db.shop.svc", password: null },
      phase_since: NOW,
      drift: { state: "in_sync", summary: null, fields: [], detected_at: null, repaired: [] },
      components_status: [],
    });
    expect(requeueMs(said, null, 0)).toBe(180_000);
    expect(requeueMs(said, 1_500, 0)).toBe(1_500);
    const waiting = report(seen("progressing"), 3);
    expect([0, 20_000, 3_600_000].map((unchangedMs) => requeueMs(waiting, null, unchangedMs))).toEqual([
      5_000, 20_000, 60_000,
    ]);
  });

  test("[HE30] the report of an addon shows what somebody has changed and since when, and is unknown before a comparison", () => {
    const field = { object: { kind: "Deployment", name: "db" }, pointer: "/spec/replicas", desired: 1, observed: 0 };
    const drifted = { ...seen("progressing"), drifted: [field] };
    expect(report(drifted, 3)).toMatchObject({
      phase: "degraded",
      drift: { state: "drifted", fields: [field], detected_at: NOW },
    });
    const earlier = { state: "drifted", detected_at: "2026-01-01T00:00:00.000Z" } as const;
    expect(report(drifted, 3, { drift: earlier }).drift?.detected_at).toBe(earlier.detected_at);
    expect(report({ ...seen("ready"), isCertain: false }, 3).drift?.state).toBe("unknown");
  });

  test("[AO42] the report of an addon says since when the instance is in its phase", () => {
    const lastPhase = { phase: "ready", since: "2026-01-01T00:00:00.000Z" };
    expect(report(seen("ready"), 3, { lastPhase }).phase_since).toBe(lastPhase.since);
    expect(report(seen("failed"), 3, { lastPhase }).phase_since).toBe(NOW);
  });

  test("[HE20] the report of an addon that is being deleted names what the deletion waits for", () => {
    const nothing = { isGone: false, left: [], failure: null };
    expect(deletingReport(nothing)).toMatchObject({ phase: "deleting", reason: "Deleting", message: null });
    expect(deletingReport({ ...nothing, left: ["Service db"] })).toMatchObject({
      message: "Still on the cluster: Service db.",
    });
    expect(deletingReport({ ...nothing, failure: "No." })).toMatchObject({ reason: "UninstallFailed", message: "No." });
    expect(deletingReport(nothing, ["example.com/backup"])).toMatchObject({
      reason: "HeldByFinalizers",
      message: "Still on the cluster: finalizer example.com/backup.",
    });
    expect(deletingReport({ ...nothing, left: ["a", "b", "c", "d", "e", "f", "g"] }).message).toContain("and 2 more");
  });

  test("[HE18] the report of an addon on a cluster that refuses requests depends on whether the addon was ready before", () => {
    const error = new Error("pods is forbidden");
    expect(refusedReport(error, "RefusedByCluster", false, null)).toMatchObject({
      phase: "failed",
      reason: "RefusedByCluster",
    });
    expect(refusedReport(error, "ClusterError", false, 2).phase).toBe("degraded");
    expect(refusedReport(error, "ClusterError", true, 2).phase).toBe("deleting");
  });
});
