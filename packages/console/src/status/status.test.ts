import { expect, test } from "vitest";
import {
  ADDON_PHASE,
  APP_PHASE,
  ago,
  appStatus,
  basis,
  CLUSTER_STATUS,
  COMPONENT_PHASE,
  componentStatus,
  confirmedStatus,
  deploymentStatus,
  PROJECT_LIFECYCLE,
  rolloutText,
} from "./status.ts";

const NOW = Date.parse("2026-01-31T09:30:00.000Z");
const fresh = { stale: false, observed_at: "2026-01-31T09:29:56.000Z", generation: 7, observed_generation: 7 };
const TABLES = { ADDON_PHASE, APP_PHASE, CLUSTER_STATUS, COMPONENT_PHASE, PROJECT_LIFECYCLE };
const good = Object.values(TABLES).flatMap((table) => Object.values(table).filter(({ tone }) => tone === "good"));

test.each(good)(
  "[WC4] the status $word is green only when it is fresh and confirmed for the current generation",
  (status) => {
    expect(confirmedStatus(status, fresh)).toEqual(status);
    expect(confirmedStatus(status, { ...fresh, stale: true }).tone).toBe("warning");
    expect(confirmedStatus(status, { ...fresh, observed_at: null }).tone).toBe("unknown");
    expect(confirmedStatus(status, { ...fresh, observed_generation: 6 }).tone).toBe("progress");
    expect(confirmedStatus(status, { ...fresh, observed_generation: null }).tone).toBe("progress");
  },
);

test.each([
  APP_PHASE.pending,
  CLUSTER_STATUS.pending,
  PROJECT_LIFECYCLE.pending,
  ADDON_PHASE.pending,
  COMPONENT_PHASE.waiting,
  componentStatus(null, fresh),
  confirmedStatus(APP_PHASE.running, { ...fresh, observed_at: null }),
  deploymentStatus("pending", "pending"),
])("[WC2912] what nobody has reported on is not under way, and has the sign of waiting: %j", (status) => {
  expect(status).toMatchObject({ tone: "unknown", sign: "waiting" });
});

test.each([
  [{ ready: 5, desired: 2 }, "warning"],
  [{ ready: 2, desired: 2 }, "good"],
  [{ ready: 1, desired: 2 }, "good"],
  [{}, "good"],
] as const)("[WC2922] a component that runs with %j has the tone %s", (counts, tone) => {
  expect(componentStatus({ phase: "running", reason: null, ...counts }, fresh).tone).toBe(tone);
});

test("[WC2912] what is paused has a sign of its own, and a deployment that the cluster has is under way", () => {
  expect([APP_PHASE.paused.sign, COMPONENT_PHASE.paused.sign]).toEqual(["paused", "paused"]);
  expect(deploymentStatus("pending", "deploying")).toEqual({ tone: "progress", word: "Under way" });
  expect(deploymentStatus("failed", "pending").word).toBe("Failed");
});

test("[WC4] a status that is not good stays as it is, however old it is", () => {
  expect(confirmedStatus(APP_PHASE.failed, { ...fresh, stale: true })).toEqual(APP_PHASE.failed);
  expect(confirmedStatus(APP_PHASE.paused, { ...fresh, observed_at: null })).toEqual(APP_PHASE.paused);
});

test.each([
  ["in_sync", "good", "Running"],
  ["unknown", "good", "Running"],
  ["drifted", "warning", "Running, drifted"],
  ["blocked_sync", "bad", "Blocked by a conflict"],
] as const)("[WC4] a running app whose drift is %s is %s", (drift_state, tone, word) => {
  expect(appStatus({ ...fresh, phase: "running", phase_reason: null, drift_state })).toEqual({ tone, word });
});

test.each([
  ["deploying", "ImagePullBackOff", "warning", "Deploying, held up"],
  ["deploying", "CrashLoopBackOff", "warning", "Deploying, held up"],
  ["deploying", "Unschedulable", "warning", "Deploying, held up"],
  ["deploying", "RollingOut", "progress", "Deploying"],
  ["deploying", null, "progress", "Deploying"],
  ["degraded", "ImagePullBackOff", "warning", "Degraded"],
  ["failed", "ImagePullBackOff", "bad", "Failed"],
] as const)("[WC162] an app or component that is %s by %s is %s: %s", (phase, reason, tone, word) => {
  expect(appStatus({ ...fresh, phase, phase_reason: reason, drift_state: "in_sync" })).toEqual({ tone, word });
  expect(componentStatus({ phase, reason }, fresh)).toEqual({ tone, word });
});

test.each([
  [{ phase: "deploying", desired: 3, updated: 1 }, "1 of the new version"],
  [{ phase: "deploying", desired: 3, updated: 3 }, null],
  [{ phase: "running", desired: 3, updated: 0 }, null],
] as const)(
  "[WC162] while a change is rolled out, the replicas of the new version are counted separately: %j",
  (status, words) => {
    expect(rolloutText(status)).toBe(words);
  },
);

test.each([
  [fresh, "generation 7 of 7, seen 4 s ago"],
  [{ ...fresh, stale: true, observed_at: "2026-01-31T09:28:00.000Z" }, "generation 7 of 7, last seen 2 min ago"],
  [{ ...fresh, observed_at: null, observed_generation: null }, "generation 0 of 7, never seen"],
  [{ stale: false, observed_at: "2026-01-31T09:30:00.000Z" }, "seen now"],
])("[WC5] a status shows what it is based on: %#", (observed, words) => {
  expect(basis(observed, NOW)).toBe(words);
});

test.each([
  ["2026-01-31T09:30:01.000Z", "now"],
  ["2026-01-31T09:29:01.000Z", "59 s ago"],
  ["2026-01-31T09:29:00.000Z", "1 min ago"],
  ["2026-01-31T07:29:00.000Z", "2 h ago"],
  ["2026-01-29T09:30:00.000Z", "2 d ago"],
  ["2024-01-31T09:30:00.000Z", "2 y ago"],
  ["2026-01-31T10:30:00.000Z", "in 1 h"],
])("[WC5] the time %s reads as %s", (time, words) => {
  expect(ago(time, NOW)).toBe(words);
});
