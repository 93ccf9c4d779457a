import type { App } from "@binnacle/client";
import { expect, test } from "vitest";
import { type AppAction, obstacle, primaryAction, reasonWords } from "./app-action.ts";

const running = { phase: "running", paused: false, drift_state: "in_sync" } as const;

test.each([
  [running, "edit", "Edit configuration"],
  [{ ...running, phase: "pending" }, "edit", "Edit configuration"],
  [{ ...running, phase: "degraded" }, "edit", "Edit configuration"],
  [{ ...running, drift_state: "drifted" }, "edit", "Edit configuration"],
  [{ ...running, phase: "invalid" }, "edit", "Fix configuration"],
  [{ ...running, phase: "failed" }, "redeploy", "Retry"],
  [{ ...running, phase: "paused", paused: true }, "resume", "Resume"],
  // The phase is pending until the cluster has reported, and the app is paused nevertheless.
  [{ ...running, phase: "pending", paused: true }, "resume", "Resume"],
  [{ ...running, drift_state: "blocked_sync" }, "take_over", "Take over fields"],
  // Resuming would be refused while the fields are held.
  [{ phase: "paused", paused: true, drift_state: "blocked_sync" }, "take_over", "Take over fields"],
  [{ ...running, phase: "failed", drift_state: "blocked_sync" }, "take_over", "Take over fields"],
] as const)("[WC30] the primary action of %o is %s", (state, action, label) => {
  expect(primaryAction(state)).toEqual({ action, label });
  expect(obstacle(action, state)).toBeNull();
});

test("[WC30] an app that is being deleted has no primary action", () => {
  expect(primaryAction({ phase: "deleting", paused: true, drift_state: "blocked_sync" })).toBeNull();
});

const ALL: readonly AppAction[] = [
  "edit",
  "scale",
  "pause",
  "resume",
  "redeploy",
  "take_over",
  "roll_back",
  "attach_addon",
  "detach_addon",
  "save_template",
  "delete",
];

test.each([
  ["runs", running, ["resume", "take_over"]],
  ["is paused", { ...running, phase: "paused", paused: true }, ["scale", "pause", "take_over"]],
  [
    "is blocked",
    { ...running, drift_state: "blocked_sync" },
    ["edit", "scale", "pause", "resume", "redeploy", "roll_back", "attach_addon", "detach_addon"],
  ],
  ["is being deleted", { ...running, phase: "deleting" }, ALL.filter((action) => action !== "save_template")],
] as const)("[WC31] of an app that %s, what the API would refuse is not offered", (_, state, refused) => {
  expect(ALL.filter((action) => obstacle(action, state) !== null)).toEqual(refused);
});

const app = {
  phase: "failed",
  phase_reason: "ImagePullBackOff",
  phase_message: null,
  drift: { state: "in_sync", summary: null, fields: [], detected_at: null },
} as unknown as App;

test("[WC118] an app that nobody confirms is told in the past", () => {
  const running = { ...app, phase: "running" as const };
  expect(reasonWords({ ...running, stale: false })).toBe("All components run as they were asked for.");
  const words = "All components ran as they were asked for when the cluster was last heard of.";
  expect(reasonWords({ ...running, stale: true })).toBe(words);
});

test.each([
  [app, "The cluster could not bring the app into place."],
  [{ ...app, phase_message: "The image cannot be pulled." }, "The image cannot be pulled."],
  [
    { ...app, drift: { ...app.drift, state: "blocked_sync" as const, summary: "kubectl holds it." } },
    "kubectl holds it.",
  ],
])("[WC32] the phase has its reason in words: %#", (given, words) => {
  expect(reasonWords(given)).toBe(words);
});
