import { type AddonReport, type AppReport, type ProjectReport, UNKNOWN_DRIFT } from "@binnacle/contract";
import { describe, expect, test } from "vitest";
import type { KubeObject } from "../kube/kube-client.ts";
import { conditionsAfter, verdictOf } from "./conditions.ts";

const app = (phase: AppReport["phase"], reason: string | null = null, suspended = false): AppReport => ({
  phase,
  reason,
  message: null,
  components: [],
  drift: UNKNOWN_DRIFT,
  ...(suspended ? { suspended } : {}),
});
const addon = (phase: AddonReport["phase"], reason: string): AddonReport => ({
  phase,
  reason,
  message: null,
  exports: {},
});
const project = (state: ProjectReport["state"]): ProjectReport => ({ state, message: null });

const holder = (conditions: readonly object[] = []): KubeObject => ({
  apiVersion: "binnacle.dev/v1alpha1",
  kind: "App",
  metadata: { name: "web", generation: 4 },
  status: { conditions },
});
const NOON = Date.parse("2026-03-01T12:00:00.750Z");
const conditionsOf = (report: AppReport | AddonReport | ProjectReport, before = holder(), nowMs = NOON) =>
  conditionsAfter(before, verdictOf(report), { observedGeneration: 4, nowMs });

describe("the conditions of a custom resource", () => {
  test.each([
    // A report, and the status of Ready, Reconciling and Stalled.
    ["an app that runs", app("running", "RolloutComplete"), "True False False"],
    ["an app that is rolled out", app("deploying", "RollingOut"), "False True False"],
    ["an app that waits", app("deploying", "WaitingForExports"), "False True False"],
    [
      "an app whose pods are in trouble while it is rolled out",
      app("deploying", "ImagePullBackOff"),
      "False True False",
    ],
    ["an app that has lost replicas", app("degraded", "ReplicasMissing"), "False True False"],
    ["an app that crashes", app("degraded", "CrashLoopBackOff"), "False False True"],
    ["an app whose field somebody else holds", app("degraded", "BlockedSync"), "False False True"],
    ["an app that has failed", app("failed", "OOMKilled"), "False False True"],
    ["an app that has failed for a reason that nobody knows", app("failed", "SomethingNew"), "False False True"],
    ["an app that can never run", app("invalid", "NoImage"), "False False True"],
    ["an app that is paused", app("paused", "Paused"), "False False False"],
    ["an app that is being deleted", app("deleting", "Deleting"), "False True False"],
    ["an app that is held by finalizers", app("deleting", "HeldByFinalizers"), "False False True"],
    ["an app a component of which is not known", app("deploying", "StateUnknown"), "Unknown True False"],
    ["an app that has run, a component of which is not known", app("degraded", "StateUnknown"), "Unknown True False"],
    ["an app that a webhook keeps from being read", app("degraded", "ClusterError"), "Unknown True False"],
    ["an app that the cluster does not show", app("failed", "RefusedByCluster"), "Unknown False True"],
    ["an addon that is installed", addon("installing", "Installing"), "False True False"],
    ["an addon that is ready", addon("ready", "ReleaseReady"), "True False False"],
    ["an addon that is upgraded", addon("upgrading", "Upgrading"), "False True False"],
    ["an addon whose pods are missing", addon("degraded", "NotReady"), "False True False"],
    ["an addon that Helm cannot upgrade", addon("degraded", "UpgradeFailed"), "False False True"],
    ["an addon that Helm cannot remove", addon("deleting", "UninstallFailed"), "False False True"],
    ["a project that is ready", project("ready"), "True False False"],
    ["a project whose namespace is somebody else's", project("namespace_conflict"), "False False True"],
    ["a project whose policies cannot be applied", project("apply_failed"), "False False True"],
    ["a project that is being removed", project("cleaning"), "False True False"],
    ["a project whose removal is held up", project("cleanup_blocked"), "False False True"],
  ])("[OD46] [OD48] %s is Ready, Reconciling and Stalled as the table says", (_, report, expected) => {
    const conditions = conditionsOf(report);
    expect(conditions.map(({ type }) => type)).toEqual(["Ready", "Reconciling", "Stalled"]);
    expect(conditions.map(({ status }) => status).join(" ")).toBe(expected);
  });

  test.each([
    ["as it runs", app("running", "Suspended", true), "True False False True"],
    ["while a change of it is held back", app("deploying", "Suspended", true), "False False False True"],
    ["in trouble that would pass", app("degraded", "ReplicasMissing", true), "False False False True"],
    ["in trouble that stays", app("degraded", "CrashLoopBackOff", true), "False False True True"],
    ["without being seen", app("degraded", "ClusterError", true), "Unknown False False True"],
  ])("[OD49] an app that is suspended %s says so, and is not Reconciling", (_, report, expected) => {
    const conditions = conditionsOf(report);
    expect(conditions.at(-1)?.type).toBe("Suspended");
    expect(conditions.map(({ status }) => status).join(" ")).toBe(expected);
  });

  test("[OD46] a condition has the form that Kubernetes asks for, with the words of the report or of the list of reasons", () => {
    const [ready, reconciling] = conditionsOf({ ...app("deploying", "RollingOut"), message: "web: 1 of 2 replicas." });
    expect(ready).toEqual({
      type: "Ready",
      status: "False",
      reason: "RollingOut",
      message: "web: 1 of 2 replicas.",
      observedGeneration: 4,
      lastTransitionTime: "2026-03-01T12:00:00Z",
    });
    expect(reconciling).toMatchObject({ message: "web: 1 of 2 replicas." });
    expect(conditionsOf(app("running", "RolloutComplete"))[0]?.message).toBe(
      "All components run as they were asked for.",
    );
    expect(conditionsOf(project("namespace_conflict"))[0]).toMatchObject({
      reason: "NamespaceConflict",
      message: "The namespace exists on the cluster and is not Binnacle's.",
    });
    for (const report of [
      project("ready"),
      project("cleanup_blocked"),
      app("running"),
      addon("ready", "ReleaseReady"),
    ]) {
      for (const { reason } of conditionsOf(report)) expect(reason).toMatch(/^[A-Z][A-Za-z]+$/);
    }
    const secret = conditionsOf({ ...app("failed", "Error"), message: "login postgres://ada:s3cret@db failed" });
    expect(JSON.stringify(secret)).not.toContain("s3cret");
  });

  test("[OD47] the time of a condition changes with its status, and with nothing else", () => {
    const first = conditionsOf(app("deploying", "RollingOut"));
    const later = NOON + 60_000;
    const same = conditionsOf(app("deploying", "ImagePullBackOff"), holder(first), later);
    expect(same.map(({ lastTransitionTime }) => lastTransitionTime)).toEqual(Array(3).fill("2026-03-01T12:00:00Z"));
    expect(same[0]).toMatchObject({ reason: "ImagePullBackOff" });
    const running = conditionsOf(app("running", "RolloutComplete"), holder(same), later);
    expect(running.map(({ lastTransitionTime }) => lastTransitionTime)).toEqual([
      "2026-03-01T12:01:00Z",
      "2026-03-01T12:01:00Z",
      "2026-03-01T12:00:00Z",
    ]);
    const damaged = holder([{ type: "Ready", status: "True" }, "nonsense" as never, { type: 7 }]);
    expect(conditionsOf(app("running", "RolloutComplete"), damaged)[0]?.lastTransitionTime).toBe(
      "2026-03-01T12:00:00Z",
    );
  });
});
