import { describe, expect, test } from "vitest";
import type { Row } from "./output.ts";
import { progressLines, troublesOf, verdictOf } from "./progress.ts";

const component = (more: object = {}): Row => ({
  name: "web",
  phase: "deploying",
  reason: null,
  message: null,
  desired: 2,
  ready: 1,
  ...more,
});
const app = (status: Row[], more: object = {}): Row => ({
  revision: 3,
  generation: 5,
  observed_generation: 5,
  phase: "deploying",
  phase_reason: null,
  phase_message: null,
  components: [{ name: "web" }, { name: "worker" }],
  components_status: status,
  ...more,
});
const deployment = (status: string, message: string | null = null): Row => ({ status, message });
const MISSING = component({ reason: "ImagePullBackOff", message: "The image x cannot be pulled." });

describe("waiting", () => {
  test("[BC22] draws a line for each component, with what it waits for", () => {
    const lines = progressLines({
      app: app([MISSING, component({ name: "worker", phase: "running", ready: 2 })]),
      deployment: deployment("pending"),
    });
    expect(lines).toEqual([
      { mark: "!", tone: "bad", text: "web     1/2 ready  ImagePullBackOff: The image x cannot be pulled." },
      { mark: "✓", tone: "good", text: "worker  2/2 ready" },
    ]);
  });

  test("[BC22] does not show a report on an earlier generation as if it were on this one", () => {
    const before = app([component({ phase: "running" })], { observed_generation: 4 });
    expect(progressLines({ app: before, deployment: deployment("pending") })[0]?.text).toBe(
      "web     waiting for the cluster",
    );
    expect(
      troublesOf({ app: app([MISSING], { observed_generation: 4 }), deployment: deployment("pending") }, new Map(), 0)
        .size,
    ).toBe(0);
  });

  test.each([
    ["succeeded", null, { kind: "succeeded" }],
    ["failed", "The app was not running in time.", { kind: "failed", cause: "The app was not running in time." }],
    ["superseded", null, { kind: "superseded", by: 3 }],
    ["pending", null, null],
  ] as const)("[BC22] ends with the deployment: %s", (status, message, verdict) => {
    expect(verdictOf({ app: app([]), deployment: deployment(status, message) }, new Map(), 0, null)).toEqual(verdict);
  });

  test("[BC22] ends with the cause where a component stays in trouble that only another change resolves", () => {
    const progress = { app: app([MISSING]), deployment: deployment("pending") };
    const troubles = troublesOf(progress, new Map(), 1000);
    expect(verdictOf(progress, troubles, 10_999, null)).toBeNull();
    expect(verdictOf(progress, troubles, 11_000, null)).toEqual({
      kind: "failed",
      cause: "web: The image x cannot be pulled.",
    });
    expect(verdictOf(progress, troubles, 3000, 2000)).toMatchObject({ kind: "failed" });
    // The time of a trouble begins anew once it was gone.
    const gone = troublesOf({ app: app([component()]), deployment: deployment("pending") }, troubles, 5000);
    expect(troublesOf(progress, gone, 6000).get("web")).toBe(6000);
  });

  test("[BC22] gives an app that crashes longer, since it may wait for another one", () => {
    const progress = { app: app([component({ reason: "CrashLoopBackOff" })]), deployment: deployment("pending") };
    const troubles = troublesOf(progress, new Map(), 0);
    expect(verdictOf(progress, troubles, 59_999, null)).toBeNull();
    expect(verdictOf(progress, troubles, 60_000, null)).toMatchObject({ kind: "failed" });
  });
});
