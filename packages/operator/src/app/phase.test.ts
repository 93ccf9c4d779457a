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
  ])("[RN26] the phase of an app follows from its components: %s", (_, seen, phase, reason) => {
    expect(phaseReport(seen)).toMatchObject({ phase, reason });
  });

  const daemon = (node: string, isLost: boolean): KubeObject => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: node, ownerReferences: [{ apiVersion: "apps/v1", kind: "DaemonSet", name: "web", uid: "u1" }] },
    spec: { nodeName: node },
    status: {
      conditions: [{ type: "Ready", status: isLost ? "False" : "True" }],
      containerStatuses: [{ name: "web", ready: true }],
    },
  });
  const daemons = (lost: readonly string[], changes: Partial<ComponentState> = {}) =>
    component("progressing", {
      message: "DaemonSet web has 498 of 500 replicas available.",
      readyReplicas: 498,
      desiredReplicas: 500,
      pods: ["n0", "n1", "n2"].map((node) => daemon(node, lost.includes(node))),
      ...changes,
    });
  const said = "web: DaemonSet web has 498 of 500 replicas available.";
  test.each<[string, AppFacts, string, string, string]>([
    [
      "lacks only those",
      facts([daemons(["n2", "n1"])]),
      "degraded",
      "ReplicasMissing",
      `${said} No answer comes from n1, n2.`,
    ],
    ["lacks others too", facts([daemons(["n1"])]), "deploying", "RollingOut", said],
    ["has run, and lacks others", facts([daemons([])], { ranGeneration: 3 }), "degraded", "ReplicasMissing", said],
    [
      "is beside a component on its way",
      facts([daemons(["n1", "n2"]), component("progressing", { name: "api" })]),
      "deploying",
      "RollingOut",
      `${said} No answer comes from n1, n2.; api: progressing`,
    ],
  ])(
    "[AO603] a DaemonSet on nodes that do not answer is degraded with a count, also while it is replaced: one that %s",
    (_, seen, phase, reason, message) => {
      expect(phaseReport(seen)).toMatchObject({ phase, reason, message });
    },
  );

  test("[AO603] a component is degraded whose DaemonSet lacks only nodes that do not answer, and names at most three", () => {
    const nodes = ["a", "b", "c", "d", "e"];
    const pods = nodes.map((node) => daemon(node, true));
    const { components_status } = phaseReport(facts([daemons([], { pods, readyReplicas: 495 })]));
    expect(components_status).toMatchObject([{ phase: "degraded", ready: 495, desired: 500 }]);
    expect(components_status?.[0]?.message).toContain("No answer comes from a, b, c and 2 more.");
  });

  test("[RN27] the report of an app has a message about the components that its phase is about", () => {
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
  ])("[AO43] the report of an app shows the phase of a component that is %s", (_, one, changes, phase) => {
    expect(phaseReport(facts([one], changes)).components_status).toMatchObject([{ phase }]);
  });

  test("[AO43] the report of an app shows each component with its replicas, image and pods, and its size is bounded", () => {
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

  test("[RN27] the report of an app masks and shortens the messages of components", () => {
    const message = `pulling https://user:hunter2@registry.example.com <b> ${"x".repeat(2_000)}`;
    const report = phaseReport(facts([component("failed", { message })]));
    expect(report.message).not.toContain("hunter2");
    expect(report.message).not.toContain("<b>");
    expect(report.message?.length).toBe(1_024);
  });
});
