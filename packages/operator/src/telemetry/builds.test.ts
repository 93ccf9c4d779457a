import { OPERATOR_FRAMES } from "@binnacle/contract";
import { Check } from "typebox/value";
import { describe, expect, test } from "vitest";
import type { KubeObject } from "../kube/kube-client.ts";
import { buildEventOf, createBuildFilter, slimBuild } from "./builds.ts";

const AT = "2026-01-31T09:30:00Z";
const LATER = "2026-01-31T09:35:00Z";

const object = (kind: string, spec: object, status: object, uid = "u"): KubeObject => ({
  apiVersion: "example.dev/v1",
  kind,
  metadata: { name: "web-1", namespace: "shop", uid, resourceVersion: "1", creationTimestamp: AT },
  spec,
  status,
});
const succeeded = (status: string, reason: string, message = "", lastTransitionTime = LATER) => ({
  conditions: [{ type: "Other" }, { type: "Succeeded", status, reason, message, lastTransitionTime }],
});
const run = (status: object, spec: object = { output: { image: "reg.example.com/web" } }) =>
  object("BuildRun", spec, status);
const build = (status: object) => object("Build", { tags: ["reg.example.com/web:1"], source: "large" }, status);

const started = { startTime: AT };
const NEWS = {
  namespace: "shop",
  name: "web-1",
  reason: null,
  message: null,
  image: "reg.example.com/web",
  started_at: null,
  finished_at: null,
};
const at = "2026-01-31T09:30:00.000Z";
const later = "2026-01-31T09:35:00.000Z";

describe("of a Shipwright BuildRun", () => {
  test.each([
    ["nothing yet", run({}), { state: "pending" }],
    [
      "pending",
      run({ ...succeeded("Unknown", "Pending"), ...started }),
      { state: "pending", reason: "Pending", started_at: at },
    ],
    [
      "running",
      run({ ...succeeded("Unknown", "Running"), ...started }),
      { state: "running", reason: "Running", started_at: at },
    ],
    [
      "done",
      run({
        ...succeeded("True", "Succeeded", "All good"),
        ...started,
        completionTime: LATER,
        output: { digest: "sha256:1" },
      }),
      {
        state: "succeeded",
        reason: "Succeeded",
        message: "All good",
        image: "reg.example.com/web@sha256:1",
        started_at: at,
        finished_at: later,
      },
    ],
    [
      "failed, with an image of its Build",
      run({ ...succeeded("False", "BuildRunTimeout"), ...started, buildSpec: { output: { image: "reg/x" } } }, {}),
      { state: "failed", reason: "BuildRunTimeout", image: "reg/x", started_at: at, finished_at: later },
    ],
  ])("[TE40] the state of a Shipwright BuildRun is reported: %s", (_, given, expected) => {
    const events = buildEventOf("shipwright", given);
    expect(events).toEqual({ ...NEWS, source: "shipwright", ...expected });
    expect(buildEventOf("shipwright", slimBuild(given))).toEqual(events);
    expect(Check(OPERATOR_FRAMES.build, { type: "build", session: crypto.randomUUID(), ...events })).toBe(true);
  });
});

describe("of a kpack Build", () => {
  const image = "reg.example.com/web:1";
  test.each([
    ["without a pod", build(succeeded("Unknown", "")), { state: "pending", image }],
    ["with a pod", build({ ...succeeded("Unknown", ""), podName: "p" }), { state: "running", image, started_at: at }],
    [
      "done",
      build({ ...succeeded("True", ""), podName: "p", latestImage: "reg/web@sha256:2" }),
      { state: "succeeded", image: "reg/web@sha256:2", started_at: at, finished_at: later },
    ],
    [
      "failed",
      build({ ...succeeded("False", "Failed", "exit code 1"), podName: "p" }),
      { state: "failed", reason: "Failed", message: "exit code 1", image, started_at: at, finished_at: later },
    ],
  ])("[TE40] the state of a kpack Build is reported: %s", (_, given, expected) => {
    expect(buildEventOf("kpack", given)).toEqual({ ...NEWS, source: "kpack", ...expected });
    expect(buildEventOf("kpack", slimBuild(given))).toEqual(buildEventOf("kpack", given));
    expect(JSON.stringify(slimBuild(given))).not.toContain("large");
  });
});

test("[TE40] messages of a build are masked, escaped and shortened", () => {
  const message = `<script>https://user:pass@reg.example.com ${"x".repeat(2_000)}`;
  const events = buildEventOf("kpack", build(succeeded("False", "r".repeat(300), message)));
  expect(events.message).toMatch(/^‹script>\[masked\]reg\.example\.com x+…$/);
  expect(events.message).toHaveLength(1_024);
  expect(events.reason).toHaveLength(200);
});

describe("a teller", () => {
  const startedMs = Date.parse("2026-01-31T10:00:00Z");
  const running = build({ ...succeeded("Unknown", "", "", "2026-01-31T09:59:00Z"), podName: "p" });
  const done = build({ ...succeeded("True", "", "", "2026-01-31T10:05:00Z"), podName: "p" });

  test("[TE40] each change of a build is reported once", () => {
    const filter = createBuildFilter(startedMs);
    expect(filter.changed("kpack", running)).toMatchObject({ state: "running" });
    expect(filter.changed("kpack", { ...running, metadata: { ...running.metadata, resourceVersion: "9" } })).toBeNull();
    expect(filter.changed("kpack", done)).toMatchObject({ state: "succeeded" });
    expect(filter.changed("kpack", done)).toBeNull();
    expect(filter.changed("kpack", { ...done, metadata: { ...done.metadata, uid: "another" } })).not.toBeNull();
  });

  test("[TE41] a build that ended long before is not reported until it changes", () => {
    const filter = createBuildFilter(startedMs);
    const old = build({ ...succeeded("Unknown", ""), podName: "p" });
    expect(filter.changed("kpack", old)).toBeNull();
    expect(filter.changed("kpack", old)).toBeNull();
    expect(filter.changed("kpack", done)).toMatchObject({ state: "succeeded" });
    filter.gone("kpack", "shop/web-1");
    expect(filter.changed("kpack", done)).toMatchObject({ state: "succeeded" });
  });
});
