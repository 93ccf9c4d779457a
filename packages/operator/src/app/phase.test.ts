import { describe, expect, test } from "vitest";
import type { KubeObject } from "../kube/kube-client.ts";
import { type AppFacts, type ComponentState, phaseReport } from "./phase.ts";

const component = (state: ComponentState["state"], changes: Partial<ComponentState> = {}): ComponentState => ({
  name: "web",
  type: "workload",
  state,
  message: null,
  readyReplicas: state === "ready" ? 1 : 0,
  desiredReplicas: 1,
  ...changes,
});
const facts = (components: readonly ComponentState[], changes: Partial<AppFacts> = {}): AppFacts => ({
  isPaused: false,
  isDeleting: false,
  generation: 3,
  ranGeneration: null,
  invalid: null,
  nowMs: Date.parse("2026-01-01T00:00:00Z"),
  components,
  ...changes,
});

const READY = component("ready");
const MOVING = component("progressing");
const BROKEN = component("failed", { name: "api" });
const DARK = component("unknown");
const WAITING = component("progressing", { waitingFor: ["db.url"] });
const ADDON = component("ready", { name: "db", type: "addon", readyReplicas: 3 });
const WRONG = { invalid: "MissingImage", message: "Component web has no image." } as const;

describe("the phase of an app", () => {
  test.each<[string, AppFacts, string, string]>([
    ["one that is leaving", facts([READY], { isDeleting: true, invalid: WRONG }), "deleting", "Deleting"],
    ["one that is invalid", facts([], { invalid: WRONG, isPaused: true }), "invalid", "MissingImage"],
    ["one that is paused, without replicas", facts([MOVING, ADDON], { isPaused: true }), "paused", "Paused"],
    ["one that is paused, with replicas left", facts([READY], { isPaused: true }), "deploying", "Pausing"],
    ["a failure in an app that never ran", facts([BROKEN, MOVING]), "failed", "ComponentFailed"],
    ["a failure beside something that is ready", facts([BROKEN, READY]), "degraded", "ComponentFailed"],
    ["a failure in an app that has run", facts([BROKEN], { ranGeneration: 1 }), "degraded", "ComponentFailed"],
    [
      "a failed new version, while the old one serves",
      facts([component("failed", { readyReplicas: 2, reason: "ImagePullBackOff" })]),
      "degraded",
      "ImagePullBackOff",
    ],
    ["something unknown, at first", facts([DARK, READY]), "deploying", "StateUnknown"],
    ["something unknown, later", facts([DARK, READY], { ranGeneration: 3 }), "degraded", "StateUnknown"],
    ["something that waits", facts([WAITING, MOVING]), "deploying", "WaitingForExports"],
    ["progress, at first", facts([MOVING, READY]), "deploying", "RollingOut"],
    ["progress of a new generation", facts([MOVING], { ranGeneration: 2 }), "deploying", "RollingOut"],
    ["no replica of what has run", facts([MOVING], { ranGeneration: 3 }), "degraded", "NoReplicas"],
    [
      "a replica less of what has run",
      facts([component("progressing", { readyReplicas: 1, desiredReplicas: 2 })], { ranGeneration: 3 }),
      "degraded",
      "ReplicasMissing",
    ],
    [
      "no replica of what has run, with a reason",
      facts([component("progressing", { reason: "WorkloadMissing" })], { ranGeneration: 3 }),
      "degraded",
      "WorkloadMissing",
    ],
    [
      "replicas that an autoscaler has added",
      facts([component("progressing", { readyReplicas: 1, desiredReplicas: 5, leastReplicas: 1 })], {
        ranGeneration: 3,
      }),
      "deploying",
      "RollingOut",
    ],
    [
      "a replacement of all replicas without a gap",
      facts([component("progressing", { readyReplicas: 1 })], { ranGeneration: 3 }),
      "deploying",
      "RollingOut",
    ],
    ["all ready", facts([READY, ADDON]), "running", "RolloutComplete"],
  ])("[RN26] of %s", (_, seen, phase, reason) => {
    expect(phaseReport(seen)).toMatchObject({ phase, reason });
  });

  test("[RN27] comes with a message about those that it is about", () => {
    const seen = facts([
      READY,
      component("failed", { name: "api", message: "No image." }),
      component("failed", { name: "job" }),
    ]);
    expect(phaseReport(seen)).toEqual({
      phase: "degraded",
      reason: "ComponentFailed",
      message: "api: No image.; job: failed",
      components: [
        { name: "web", ready_replicas: 1 },
        { name: "api", ready_replicas: 0 },
        { name: "job", ready_replicas: 0 },
      ],
      components_status: expect.any(Array),
    });
    expect(phaseReport(facts([WAITING])).message).toBe("web waits for db.url.");
    expect(phaseReport(facts([READY], { isPaused: true })).message).toBe("Still running: web.");
    expect(phaseReport(facts([READY])).message).toBeNull();
  });

  test.each<[string, ComponentState, Partial<AppFacts>, string]>([
    ["ready", READY, {}, "running"],
    ["a Job that is done", { ...READY, isCompleted: true }, {}, "completed"],
    ["on its way", MOVING, {}, "deploying"],
    ["on its way to another generation", MOVING, { ranGeneration: 2 }, "deploying"],
    ["without replicas that it has had", MOVING, { ranGeneration: 3 }, "degraded"],
    ["replaced without a gap", component("progressing", { readyReplicas: 1 }), { ranGeneration: 3 }, "deploying"],
    ["broken from the start", BROKEN, {}, "failed"],
    ["broken later", BROKEN, { ranGeneration: 1 }, "degraded"],
    ["broken in part", component("failed", { readyReplicas: 1 }), {}, "degraded"],
    ["unknown", DARK, {}, "unknown"],
    ["waiting for exports", WAITING, {}, "waiting"],
    ["waiting for others", component("progressing", { reason: "WaitingForComponents" }), {}, "waiting"],
    ["paused", MOVING, { isPaused: true }, "paused"],
    ["to be paused", READY, { isPaused: true }, "deploying"],
    ["an addon of a paused app", ADDON, { isPaused: true }, "running"],
  ])("[AO43] shows a component that is %s", (_, one, changes, phase) => {
    expect(phaseReport(facts([one], changes)).components_status).toMatchObject([{ phase }]);
  });

  test("[AO43] shows each component with its replicas, image and pods, in a report of bounded size", () => {
    const pods = Array.from(
      { length: 60 },
      (_, at): KubeObject => ({
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: `shop-web-7d4b9c6f5-${at}`, namespace: "market" },
        status: { phase: "Running", containerStatuses: [{ name: "main", restartCount: 2 }] },
      }),
    );
    const message = "x".repeat(2_000);
    const counts = { desiredReplicas: 3, readyReplicas: 2, updatedReplicas: 1, image: "nginx:1" };
    const web = component("progressing", { ...counts, reason: "CrashLoopBackOff", message, pods });
    const [status] = phaseReport(facts([web])).components_status ?? [];
    expect(status).toMatchObject({
      name: "web",
      phase: "deploying",
      reason: "CrashLoopBackOff",
      message: expect.stringMatching(/^x{512}$/),
      desired: 3,
      ready: 2,
      updated: 1,
      restarts: 120,
      image: "nginx:1",
    });
    expect(status?.pods).toHaveLength(50);

    const many = Array.from({ length: 100 }, (_, at) => ({ ...web, name: `web-${at}` }));
    const report = phaseReport(facts(many));
    expect(report.components_status?.flatMap((one) => one.pods)).toHaveLength(200);
    expect(JSON.stringify(report).length).toBeLessThan(160_000);
  });

  test("[RN27] masks and shortens what it is told", () => {
    const message = `pulling https://user:hunter2@registry.example.com <b> ${"x".repeat(2_000)}`;
    const report = phaseReport(facts([component("failed", { message })]));
    expect(report.message).not.toContain("hunter2");
    expect(report.message).not.toContain("<b>");
    expect(report.message?.length).toBe(1_024);
  });
});
