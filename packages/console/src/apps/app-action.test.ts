import type { App } from "@binnacle/client";
import { expect, test } from "vitest";
import { suspensionText } from "../status/suspension.ts";
import { type AppAction, obstacle, primaryAction, reasonText } from "./app-action.ts";

const running = { phase: "running", paused: false, suspended: false, drift_state: "in_sync" } as const;

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
  [{ ...running, phase: "paused", paused: true, drift_state: "blocked_sync" }, "take_over", "Take over fields"],
  [{ ...running, phase: "failed", drift_state: "blocked_sync" }, "take_over", "Take over fields"],
] as const)("[WC30] the primary action of %o is %s", (state, action, label) => {
  expect(primaryAction(state)).toEqual({ action, label });
  expect(obstacle(action, state)).toBeNull();
});

test("[WC31] an addon can be detached where one is attached, and in a list, where nobody knows", () => {
  expect(obstacle("detach_addon", { ...running, hasAttached: false })).toBe("No addon is attached to the app.");
  expect(obstacle("detach_addon", { ...running, hasAttached: true })).toBeNull();
  expect(obstacle("detach_addon", running)).toBeNull();
});

test("[WC30] an app that is being deleted has no primary action", () => {
  expect(primaryAction({ ...running, phase: "deleting", paused: true, drift_state: "blocked_sync" })).toBeNull();
});

const ALL: readonly AppAction[] = [
  "edit",
  "scale",
  "pause",
  "resume",
  "suspend",
  "unsuspend",
  "redeploy",
  "take_over",
  "roll_back",
  "attach_addon",
  "detach_addon",
  "save_template",
  "delete",
];

test.each([
  ["runs", running, ["resume", "unsuspend", "take_over"]],
  ["is paused", { ...running, phase: "paused", paused: true }, ["scale", "pause", "unsuspend", "take_over"]],
  [
    "is blocked",
    { ...running, drift_state: "blocked_sync" },
    ["edit", "scale", "pause", "resume", "unsuspend", "redeploy", "roll_back", "attach_addon", "detach_addon"],
  ],
  ["is suspended", { ...running, suspended: true }, ["resume", "suspend", "take_over", "delete"]],
  [
    "is in a suspended project",
    { ...running, suspended: true, suspended_scope: "project" },
    ["resume", "unsuspend", "take_over", "delete"],
  ],
  ["is being deleted", { ...running, phase: "deleting" }, ALL.filter((action) => action !== "save_template")],
] as const)("[WC31] an app that %s is not offered actions that the API would refuse", (_, state, refused) => {
  expect(ALL.filter((action) => obstacle(action, state) !== null)).toEqual(refused);
});

test.each([
  ["in_effect", "Changes are stored and not applied, and drift is not corrected."],
  ["pending", "The operator has not confirmed it yet."],
  [
    "not_in_effect",
    "It is not in effect: the operator is too old, or could not store it, and goes on. Upgrade the operator.",
  ],
] as const)("[AP609] [SN9] the page of a suspended app says who, why and whether it holds: %s", (state, held) => {
  const suspended = {
    scope: "app",
    by: "ada@example.com",
    at: "2026-01-31T09:30:00.000Z",
    reason: "Incident 42.",
    state,
  } as const;
  expect(suspensionText(suspended)).toBe(`ada@example.com has suspended the app: Incident 42. ${held}`);
  const inProject = { ...suspended, scope: "project" } as const;
  expect(suspensionText(inProject)).toBe(`ada@example.com has suspended the project: Incident 42. ${held}`);
});

const app = {
  phase: "failed",
  phase_reason: "ImagePullBackOff",
  phase_message: null,
  drift: { state: "in_sync", summary: null, fields: [], detected_at: null },
} as unknown as App;

test("[WC118] the reason of an app that its cluster does not confirm any more is in the past tense", () => {
  const running = { ...app, phase: "running" as const, phase_reason: "RolloutComplete" };
  expect(reasonText({ ...running, stale: false })).toBe("All components run as they were asked for.");
  const words = "All components ran as they were asked for when the cluster was last heard of.";
  expect(reasonText({ ...running, stale: true })).toBe(words);
});

test.each([
  [app, "The image cannot be pulled."],
  [
    { ...app, phase: "pending" as const, phase_reason: null },
    "The change is recorded; the cluster has not reported on it yet.",
  ],
  [{ ...app, phase_reason: "ReasonOfTomorrow" }, "The cluster reports ReasonOfTomorrow."],
  [{ ...app, phase_message: "web:2 is not in the registry." }, "web:2 is not in the registry."],
  [
    { ...app, drift: { ...app.drift, state: "blocked_sync" as const, summary: "kubectl holds it." } },
    "kubectl holds it.",
  ],
])("[WC32] the phase of an app has its reason in words: %#", (given, words) => {
  expect(reasonText(given)).toBe(words);
});
