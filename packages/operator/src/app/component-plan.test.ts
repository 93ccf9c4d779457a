import type { DriftField } from "@binnacle/contract";
import { describe, expect, test, vi } from "vitest";
import type { Planned } from "../kube/apply-set.adapter.ts";
import type { Step } from "../kube/apply-set.ts";
import type { KubeObject } from "../kube/kube-client.ts";
import {
  componentReadiness,
  explained,
  objectsUntilTurn,
  outcome,
  runsOf,
  stoppedState,
  unmetNeeds,
} from "./component-outcome.ts";
import { planComponent } from "./component-plan.ts";

const field: DriftField = { object: { kind: "Deployment", name: "web" }, pointer: "/spec/replicas" };
const STEPS = {
  keep: { action: "keep", isCertain: true },
  unsure: { action: "keep", isCertain: false },
  apply: { action: "apply", isForced: false, drift: [] },
  edited: { action: "apply", isForced: true, drift: [field] },
  recreate: { action: "recreate" },
  regrow: { action: "regrow", volumes: [{ name: "data", storage: "2Gi" }] },
  wait: { action: "wait", message: "It is leaving." },
  blocked: { action: "blocked", fields: [field], summary: "Held." },
  refused: { action: "refused", refusal: { refused: "invalid", reason: "ObjectRefused", message: "No." } },
} as const satisfies Record<string, Step>;
type Name = keyof typeof STEPS;

const planned = (name: Name): Planned => ({
  desired: { apiVersion: "v1", kind: "ConfigMap", metadata: { name } },
  live: null,
  isOwn: true,
  step: STEPS[name],
});
const plan = (names: readonly Name[], { isSyncing = false, mayHeal = false } = {}) =>
  planComponent(names.map(planned), { isSyncing, mayHeal: () => mayHeal });
const done = (names: readonly Name[], given = {}) =>
  plan(names, given).toDo.map(({ desired }) => desired.metadata.name);

describe("what is done about a component", () => {
  test.each<[string, readonly Name[], object, readonly Name[]]>([
    ["all that is outdated is applied", ["keep", "apply", "recreate"], {}, ["apply", "recreate"]],
    ["a new generation is applied over what was edited", ["apply", "edited"], { isSyncing: true }, ["apply", "edited"]],
    ["a new generation is not applied in part when something is held", ["apply", "blocked"], { isSyncing: true }, []],
    [
      "a new generation is not applied in part when something is refused",
      ["apply", "refused"],
      { isSyncing: true },
      [],
    ],
    ["what is held later does not keep the rest from being right", ["apply", "blocked"], {}, ["apply"]],
  ])("[AO2] %s", (_, names, given, expected) => {
    expect(done(names, given)).toEqual(expected);
  });

  test("[AO600] pods that nobody has asked to replace wait for the turn of the app, with all that belongs to them", () => {
    const restart = { ...planned("apply"), isRestart: true };
    const toDo = (steps: readonly Planned[], given: object, mayHeal = false) => {
      const { waitsForTurn, toDo: kept } = planComponent(steps, { isSyncing: false, mayHeal: () => mayHeal, ...given });
      return { waitsForTurn, toDo: kept.length };
    };
    const held = { mayRestart: () => false };
    expect(toDo([restart, planned("apply")], held)).toEqual({ waitsForTurn: true, toDo: 0 });
    expect(toDo([restart, planned("apply")], { mayRestart: () => true })).toEqual({ waitsForTurn: false, toDo: 2 });
    expect(toDo([restart, planned("apply")], { ...held, isSyncing: true })).toEqual({ waitsForTurn: false, toDo: 2 });
    expect(toDo([{ ...planned("recreate"), isRestart: true }], held)).toEqual({ waitsForTurn: true, toDo: 0 });
    expect(plan(["recreate"]).waitsFor).not.toBeNull();
    expect(toDo([restart, planned("edited")], held, true)).toEqual({ waitsForTurn: true, toDo: 1 });
    expect(toDo([{ ...planned("edited"), isRestart: true }], held, true)).toEqual({ waitsForTurn: false, toDo: 1 });
  });

  test("[AO600] the turn of an app is asked for only where pods would be replaced", () => {
    const mayRestart = vi.fn(() => true);
    const given = { isSyncing: false, mayHeal: () => true, mayRestart };
    planComponent([planned("apply"), { ...planned("keep"), isRestart: false }], given);
    planComponent([{ ...planned("apply"), isRestart: true }], { ...given, isSyncing: true });
    expect(mayRestart).not.toHaveBeenCalled();
    planComponent([{ ...planned("apply"), isRestart: true }], given);
    expect(mayRestart).toHaveBeenCalledOnce();
  });

  test("[AO600] a Job that is done stays done while its component waits for the turn of the app", () => {
    const job = (name: string): KubeObject => ({ apiVersion: "batch/v1", kind: "Job", metadata: { name }, spec: {} });
    const wanted = { objects: [job("shop-once-new")], finishedJobs: new Set(["shop-once-old", ""]) };
    const held = objectsUntilTurn(wanted, "shop-once-old");
    expect(componentReadiness([], held).state).toBe("ready");
    expect(runsOf([], held)).toMatchObject({ isCompleted: true, desiredReplicas: 0 });
    const unfinished = objectsUntilTurn(wanted, "");
    expect(componentReadiness([], unfinished)).toMatchObject({ state: "progressing", reason: "WorkloadMissing" });
  });

  test("[AO33] a field that somebody has changed stays until the operator may heal it", () => {
    expect(done(["edited", "apply"])).toEqual(["apply"]);
    expect(plan(["edited"])).toMatchObject({ drifted: [field], healed: [] });
    expect(done(["edited", "apply"], { mayHeal: true })).toEqual(["edited", "apply"]);
    expect(plan(["edited"], { mayHeal: true })).toMatchObject({ drifted: [], healed: [field] });
  });

  test("[AO35] a changed field that a new generation overwrites is not drift", () => {
    expect(plan(["edited"], { isSyncing: true, mayHeal: true })).toMatchObject({ drifted: [], healed: [] });
  });

  test("[AO37] a component is not certain to be in sync where one of its objects could not be judged", () => {
    expect(plan(["keep", "unsure"]).isCertain).toBe(false);
    expect(plan(["keep", "apply"]).isCertain).toBe(true);
  });

  test("[AO10] an object that is recreated waits until the object that it replaces is gone", () => {
    expect(plan(["wait"]).waitsFor).toBe("It is leaving.");
    expect(plan(["recreate"]).waitsFor).toBe("The Job is made again.");
    expect(plan(["keep"]).waitsFor).toBeNull();
  });

  test("[AO11] a component has failed when an object is refused, and only waits when its namespace does not exist yet", () => {
    expect(stoppedState(plan(["refused"]))).toEqual({ state: "failed", reason: "ObjectRefused", message: "No." });
    const refusal = { refused: "no_namespace", reason: "NamespaceMissing", message: "Not yet." } as const;
    expect(stoppedState({ ...plan([]), refusal })).toMatchObject({ state: "progressing", reason: "NamespaceMissing" });
  });

  test("[AO7] a component has failed when a new generation of it is blocked", () => {
    expect(stoppedState(plan(["blocked"]))).toEqual({ state: "failed", reason: "BlockedSync", message: "Held." });
  });

  test("[AO12] a component waits for the components that it needs and that are not ready", () => {
    const seen = (name: string, state: "ready" | "progressing") =>
      outcome({ name, type: "workload" }, { state, message: null, readyReplicas: 0, desiredReplicas: 1 });
    const earlier = [seen("db", "ready"), seen("cache", "progressing")];
    expect(unmetNeeds({ needs: ["db", "cache", "queue"] }, earlier)).toEqual(["cache", "queue"]);
  });
});

describe("a component", () => {
  const object = (kind: string, status: object, spec: object = {}): KubeObject => ({
    apiVersion: "v1",
    kind,
    metadata: { name: "web", generation: 1 },
    spec,
    status,
  });
  const wanting = (objects: readonly KubeObject[], done: readonly string[] = []) => ({
    objects,
    finishedJobs: new Set(done),
  });
  const pending = object("PersistentVolumeClaim", { phase: "Pending" });
  const lost = object("PersistentVolumeClaim", { phase: "Lost" });
  const all = { observedGeneration: 1, replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 };
  const running = object("Deployment", all);
  const starting = object("Deployment", { ...all, readyReplicas: 0, availableReplicas: 0 });

  test.each<[string, readonly KubeObject[], object]>([
    [
      "ready with its workload, whatever its volumes wait for",
      [pending, running],
      { state: "ready", readyReplicas: 1 },
    ],
    ["not ready before its workload", [object("Service", {}), starting], { state: "progressing", readyReplicas: 0 }],
    ["failed with anything of it", [lost, running], { state: "failed", readyReplicas: 1 }],
    ["what its objects are, without a workload", [pending], { state: "progressing", readyReplicas: 0 }],
    ["ready, without anything", [], { state: "ready", readyReplicas: 0 }],
  ])("[AO25] a component is %s", (_, objects, expected) => {
    expect(componentReadiness(objects, wanting([]))).toMatchObject(expected);
  });

  const wanted = (kind: string, replicas?: number) => object(kind, {}, replicas === undefined ? {} : { replicas });
  const live = (replicas: number) =>
    object(
      "Deployment",
      {
        observedGeneration: 1,
        replicas,
        updatedReplicas: replicas,
        readyReplicas: replicas,
        availableReplicas: replicas,
      },
      { replicas },
    );
  const missing = (kind: string) => ({
    state: "progressing",
    reason: "WorkloadMissing",
    message: `${kind} web is not on the cluster.`,
    readyReplicas: 0,
  });

  test.each<[string, readonly KubeObject[], KubeObject, object]>([
    [
      "without the Deployment that somebody has deleted",
      [object("Service", {})],
      wanted("Deployment", 2),
      missing("Deployment"),
    ],
    ["without its StatefulSet", [], wanted("StatefulSet"), missing("StatefulSet")],
    ["without its CronJob", [], wanted("CronJob"), missing("CronJob")],
    ["without a Job that is not done", [], wanted("Job"), missing("Job")],
    [
      "scaled to nothing by hand",
      [live(0)],
      wanted("Deployment", 2),
      { state: "progressing", message: "Deployment web has 0 of 2 replicas ready.", readyReplicas: 0 },
    ],
    ["scaled down by hand", [live(1)], wanted("Deployment", 2), { state: "progressing", readyReplicas: 1 }],
    ["scaled to nothing although it scales by itself", [live(0)], wanted("Deployment"), { state: "progressing" }],
  ])("[AO41] a component is not ready %s", (_, objects, workload, expected) => {
    expect(componentReadiness(objects, wanting([workload]))).toMatchObject(expected);
  });

  test.each<[string, readonly KubeObject[], KubeObject]>([
    ["with more replicas than it is to have", [live(3)], wanted("Deployment", 2)],
    ["without replicas while it is paused", [live(0)], wanted("Deployment", 0)],
    ["without a Job that is done", [], object("Job", {}, {})],
  ])("[AO41] a component is ready %s", (_, objects, workload) => {
    const done = workload.kind === "Job" ? ["web"] : [];
    expect(componentReadiness(objects, wanting([workload], done))).toMatchObject({ state: "ready" });
  });

  test("[AO120] a component that autoscales is ready with its minimum number of replicas, and not before", () => {
    const autoscaler = { ...object("HorizontalPodAutoscaler", {}), spec: { minReplicas: 6, maxReplicas: 9 } };
    const scaled = wanting([wanted("Deployment"), autoscaler]);
    expect(componentReadiness([live(1)], scaled)).toMatchObject({
      state: "progressing",
      message: "Deployment web has 1 of 6 replicas ready.",
    });
    expect(runsOf([live(1)], scaled)).toMatchObject({ desiredReplicas: 6, leastReplicas: 6 });
    expect(componentReadiness([live(6)], scaled)).toMatchObject({ state: "ready" });
    expect(runsOf([live(8)], scaled)).toMatchObject({ desiredReplicas: 8, leastReplicas: 6 });
  });

  test("[AO24] a component reports the trouble of its pods, unless the component is ready", () => {
    const trouble = { reason: "OOMKilled", message: "Too little." } as const;
    expect(explained(componentReadiness([starting], wanting([])), trouble)).toMatchObject({
      state: "progressing",
      ...trouble,
    });
    expect(explained(componentReadiness([running], wanting([])), trouble)).toMatchObject({
      reason: null,
      message: null,
    });
  });
});

describe("a DaemonSet", () => {
  const metadata = { name: "web", generation: 1 };
  const wanted: KubeObject = { apiVersion: "apps/v1", kind: "DaemonSet", metadata, spec: {} };
  const counts = {
    observedGeneration: 1,
    desiredNumberScheduled: 3,
    updatedNumberScheduled: 3,
    numberAvailable: 2,
    numberReady: 2,
  };
  const wanting = { objects: [wanted], finishedJobs: new Set<string>() };

  test("[AO56] a DaemonSet desires as many replicas as there are nodes for it", () => {
    expect(runsOf([{ ...wanted, status: counts }], wanting)).toMatchObject({
      desiredReplicas: 3,
      leastReplicas: 3,
      updatedReplicas: 3,
    });
    expect(componentReadiness([{ ...wanted, status: counts }], wanting)).toMatchObject({
      state: "progressing",
      readyReplicas: 2,
    });
  });

  test("[AO56] a component whose DaemonSet somebody has deleted is not ready, with the reason WorkloadMissing", () => {
    expect(runsOf([], wanting)).toMatchObject({ leastReplicas: 1 });
    expect(componentReadiness([], wanting)).toMatchObject({ state: "progressing", reason: "WorkloadMissing" });
  });
});

test("[AO58] a StatefulSet whose volumes grow is made again, unless something of the generation is refused", () => {
  expect(done(["apply", "regrow"], { isSyncing: true })).toEqual(["apply", "regrow"]);
  expect(done(["regrow", "refused"], { isSyncing: true })).toEqual([]);
  expect(plan(["regrow"]).waitsFor).toBe("Its volumes grow, and the StatefulSet is made again around its replicas.");
});

test("[AO58] a component is not ready while one of its volumes grows, though its workload is ready", () => {
  const metadata = { name: "web", generation: 1 };
  const counts = { observedGeneration: 1, replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 };
  const deployment = { apiVersion: "apps/v1", kind: "Deployment", metadata, spec: { replicas: 1 }, status: counts };
  const spec = { resources: { requests: { storage: "2Gi" } } };
  const status = { phase: "Bound", capacity: { storage: "1Gi" } };
  const claim = { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata, spec, status };
  const wanted = { objects: [deployment], finishedJobs: new Set<string>() };
  expect(componentReadiness([claim, deployment], wanted)).toMatchObject({
    state: "progressing",
    reason: "VolumeGrowing",
    readyReplicas: 1,
  });
});
