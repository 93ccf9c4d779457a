import type { App, ComponentStatus, Deployment } from "@binnacle/client";
import { describe, expect, test } from "vitest";
import { progressLines, troublesOf, verdictOf } from "./progress.ts";

const component = (more: Partial<ComponentStatus> = {}): ComponentStatus => ({
  name: "web",
  phase: "deploying",
  reason: null,
  message: null,
  desired: 2,
  ready: 1,
  updated: 1,
  restarts: 0,
  image: null,
  ...more,
});
const app = (status: ComponentStatus[], more: Partial<App> = {}) =>
  ({
    revision: 3,
    generation: 5,
    observed_generation: 5,
    phase: "deploying",
    phase_reason: null,
    phase_message: null,
    components: [{ name: "web" }, { name: "worker" }],
    components_status: status,
    ...more,
  }) as App;
const deployment = (status: Deployment["status"], message: string | null = null) => ({ status, message }) as Deployment;
const MISSING = component({ reason: "ImagePullBackOff", message: "The image x cannot be pulled." });

describe("waiting", () => {
  test("[BC22] waiting for a deployment draws a line for each component, with what it waits for", () => {
    const lines = progressLines({
      app: app([MISSING, component({ name: "worker", phase: "running", ready: 2 })]),
    });
    expect(lines).toEqual([
      { mark: "!", tone: "bad", text: "web     1/2 ready  ImagePullBackOff: The image x cannot be pulled." },
      { mark: "✓", tone: "good", text: "worker  2/2 ready" },
    ]);
  });

  test("[BC22] waiting for a deployment does not show a report on an earlier generation as if it were on this one", () => {
    const before = app([component({ phase: "running" })], { observed_generation: 4 });
    expect(progressLines({ app: before })[0]?.text).toBe("web     waiting for the cluster");
    expect(troublesOf({ app: app([MISSING], { observed_generation: 4 }) }, new Map(), 0).size).toBe(0);
  });

  test.each([
    ["succeeded", null, { kind: "succeeded" }],
    ["failed", "The app was not running in time.", { kind: "failed", cause: "The app was not running in time." }],
    ["superseded", null, { kind: "superseded", by: 3 }],
    ["pending", null, null],
  ] as const)("[BC22] waiting ends with the deployment: %s", (status, message, verdict) => {
    expect(verdictOf({ app: app([]), deployment: deployment(status, message) }, new Map(), 0, null)).toEqual(verdict);
  });

  test.each([
    ["app", "in_effect", "ada@example.com has suspended the app: Incident 42."],
    ["app", "pending", "ada@example.com has suspended the app: Incident 42."],
    ["project", "in_effect", "ada@example.com has suspended the project: Incident 42."],
    ["cluster", "pending", "ada@example.com has suspended the cluster: Incident 42."],
    ["app", "not_in_effect", null],
  ] as const)(
    "[AP608] waiting for a change of a suspended app ends at once where nothing is applied: %s, %s",
    (scope, state, cause) => {
      const verdict = cause && { kind: "suspended", cause, scope };
      const suspended = { scope, by: "ada@example.com", at: "2026-01-31T09:30:00.000Z", reason: "Incident 42.", state };
      const progress = { app: app([], { suspended }), deployment: deployment("pending") };
      expect(verdictOf(progress, new Map(), 0, null)).toEqual(verdict);
      expect(verdictOf({ ...progress, deployment: deployment("succeeded") }, new Map(), 0, null)?.kind).toBe(
        "succeeded",
      );
    },
  );

  test("[BC22] waiting ends with the cause where a component stays in trouble that only another change resolves", () => {
    const progress = { app: app([MISSING]), deployment: deployment("pending") };
    const troubles = troublesOf(progress, new Map(), 1000);
    expect(verdictOf(progress, troubles, 10_999, null)).toBeNull();
    expect(verdictOf(progress, troubles, 11_000, null)).toEqual({
      kind: "failed",
      cause: "web: The image x cannot be pulled.",
    });
    expect(verdictOf(progress, troubles, 3000, 2000)).toMatchObject({ kind: "failed" });
    // The time of a trouble begins anew once it was gone.
    const gone = troublesOf({ app: app([component()]) }, troubles, 5000);
    expect(troublesOf(progress, gone, 6000).get("web")).toBe(6000);
  });

  test("[BC22] waiting gives an app that crashes longer, since it may wait for another one", () => {
    const progress = { app: app([component({ reason: "CrashLoopBackOff" })]), deployment: deployment("pending") };
    const troubles = troublesOf(progress, new Map(), 0);
    expect(verdictOf(progress, troubles, 59_999, null)).toBeNull();
    expect(verdictOf(progress, troubles, 60_000, null)).toMatchObject({ kind: "failed" });
  });
});
