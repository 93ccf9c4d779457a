import { ANNOTATIONS } from "@binnacle/contract";
import { describe, expect, test } from "vitest";
import { type Inspection, restartsPods, sealed, smallClaims, stepFor } from "./apply-set.ts";
import type { KubeObject, ManagedFields } from "./kube-client.ts";
import { handoverOf } from "./managed-fields.ts";
import type { Refusal } from "./refusal.ts";
import { fingerprintOf } from "./same-value.ts";

const REPLICAS = { "f:spec": { "f:replicas": {} } };
const by = (manager: string, operation: "Apply" | "Update"): ManagedFields => ({
  manager,
  operation,
  apiVersion: "apps/v1",
  fieldsV1: REPLICAS,
});
const OURS = by("binnacle", "Apply");

const desired = sealed({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", namespace: "shop" },
  spec: { replicas: 2 },
});
const stored = (replicas: number, managers: readonly ManagedFields[] = [OURS], hash?: string): KubeObject => ({
  ...desired,
  metadata: {
    ...desired.metadata,
    uid: "u1",
    managedFields: managers,
    annotations: { [ANNOTATIONS.hash]: hash ?? desired.metadata.annotations?.[ANNOTATIONS.hash] ?? "" },
  },
  spec: { replicas },
});
const refusal = (refused: Refusal["refused"]): Refusal => ({ refused, reason: "ObjectRefused", message: "No." });
const inspected = (given: Partial<Inspection>): Inspection => ({
  desired,
  live: stored(2),
  isOwn: true,
  wasThere: true,
  isFinished: false,
  trial: stored(2),
  ...given,
});
const step = (given: Partial<Inspection>, takeOver = false) => stepFor(inspected(given), { takeOver });
const leaving = (): KubeObject => {
  const live = stored(2);
  return { ...live, metadata: { ...live.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } };
};

describe("an object", () => {
  test("[AO1] an object carries a hash of the content that it was made from", () => {
    const hash = desired.metadata.annotations?.[ANNOTATIONS.hash];
    expect(hash).toMatch(/^[0-9a-f]{32}$/);
    const { metadata } = sealed({ ...desired, metadata: { name: "web", namespace: "shop" }, spec: { replicas: 3 } });
    expect(metadata.annotations?.[ANNOTATIONS.hash]).not.toBe(hash);
  });

  const restarts = (given: Partial<Inspection>): boolean => restartsPods(inspected(given), step(given));
  const withImage = (object: KubeObject, image: string, kind = object.kind): KubeObject => ({
    ...object,
    kind,
    spec: { ...(object.spec as object), template: { spec: { containers: [{ image }] } } },
  });
  const earlier = (kind = "Deployment") => withImage(stored(2, [OURS], "0"), "nginx:1", kind);
  test.each<[string, Partial<Inspection>, boolean]>([
    ["other pods", { live: earlier(), trial: withImage(stored(2), "nginx:2") }, true],
    ["the same pods", { live: earlier(), trial: withImage(stored(3), "nginx:1") }, false],
    ["other pods, and has none", { live: withImage(stored(0, [OURS], "0"), "nginx:1"), trial: earlier() }, false],
    ["what no dry run shows", { live: earlier(), trial: refusal("untestable") }, true],
    ["what is refused", { live: earlier(), trial: refusal("invalid") }, false],
    ["what is new", { live: null, trial: earlier() }, false],
    ["a Job beside the one before", { desired: earlier("Job"), live: null, trial: earlier("Job") }, true],
    ["a Job again", { desired: earlier("Job"), live: earlier("Job"), trial: refusal("immutable") }, false],
    [
      "a Job with other pods under its name",
      { desired: sealed(withImage(earlier("Job"), "2")), live: earlier("Job"), trial: refusal("immutable") },
      true,
    ],
    ["pods of a CronJob, which come later", { desired: earlier("CronJob"), live: earlier(), trial: stored(2) }, false],
  ])("[AO600] it is known whether an object restarts pods by becoming %s", (_, given, expected) => {
    expect(restarts(given)).toBe(expected);
  });

  test.each<[string, Partial<Inspection>, object]>([
    ["as desired is kept", {}, { action: "keep", isCertain: true }],
    ["that is new is applied", { live: null, wasThere: false }, { action: "apply", isForced: false, drift: [] }],
    [
      "of an earlier rendering is applied",
      { live: stored(1, [OURS], "0") },
      { action: "apply", isForced: false, drift: [] },
    ],
    [
      "of which only the hash is old is applied",
      { live: stored(2, [OURS], "0") },
      { action: "apply", isForced: false, drift: [] },
    ],
    [
      "of an earlier rendering that somebody has edited is applied over that",
      { live: stored(5, [by("kubectl-edit", "Update")], "0") },
      { action: "apply", isForced: true, drift: [] },
    ],
    ["that is leaving is waited for", { live: leaving() }, { action: "wait" }],
  ])("[AO1] an object %s", (_, given, expected) => {
    expect(step(given)).toMatchObject(expected);
  });

  test("[AO29] an object that somebody has edited is applied over the edit, as drift", () => {
    const live = stored(5, [by("kubectl-edit", "Update")]);
    expect(step({ live })).toMatchObject({ action: "apply", isForced: true, drift: [{ pointer: "/spec/replicas" }] });
  });

  test("[AO30] an object that existed and is gone is drift", () => {
    const object = { kind: "Deployment", name: "web" };
    expect(step({ live: null })).toEqual({ action: "apply", isForced: false, drift: [{ object, pointer: "" }] });
  });

  test("[AO18] a finished Job may be gone without being drift", () => {
    expect(step({ live: null, isFinished: true })).toEqual({ action: "keep", isCertain: true });
  });

  test("[AO7] an object of which another manager declares a field is blocked", () => {
    expect(step({ live: stored(5, [by("argocd", "Apply")]) })).toEqual({
      action: "blocked",
      summary: "Held by argocd, though the app must set it: /spec/replicas of Deployment web.",
      fields: [
        {
          object: { kind: "Deployment", name: "web" },
          pointer: "/spec/replicas",
          desired: 2,
          observed: 5,
          manager: "argocd",
        },
      ],
    });
  });

  test("[AO8] an object of somebody else is blocked", () => {
    const found = step({ live: stored(2, [by("kubectl-create", "Update")]), isOwn: false, trial: null });
    expect(found).toMatchObject({ action: "blocked", fields: [{ pointer: "", manager: "kubectl-create" }] });
  });

  test("[AO9] an object is taken from other managers only by a take-over", () => {
    const foreign = { live: stored(2, [by("kubectl-create", "Update")], "0"), isOwn: false };
    expect(step(foreign, true)).toMatchObject({ action: "apply", isForced: true });
    expect(step({ live: stored(5, [by("argocd", "Apply")]) }, true)).toMatchObject({ action: "apply", isForced: true });
  });

  const old = stored(1, [OURS], "0");
  test.each<[string, Partial<Inspection>, object]>([
    ["that cannot be changed is refused", { live: old, trial: refusal("immutable") }, { action: "refused" }],
    [
      "is made again where it is a Job",
      { live: old, desired: { ...desired, kind: "Job" }, trial: refusal("immutable") },
      { action: "recreate" },
    ],
    [
      "is kept where it is a Job that has done its work",
      { live: old, desired: { ...desired, kind: "Job" }, trial: refusal("immutable"), isFinished: true },
      { action: "keep", isCertain: true },
    ],
    [
      "is kept where it is a Job that is at work",
      { live: { ...old, status: { active: 1 } }, desired: { ...desired, kind: "Job" }, trial: refusal("immutable") },
      { action: "keep", isCertain: true },
    ],
    [
      "is kept, of which nothing would be changed",
      { trial: refusal("immutable") },
      { action: "keep", isCertain: false },
    ],
  ])("[AO10] an object with an immutable field %s", (_, given, expected) => {
    expect(step(given)).toMatchObject(expected);
  });

  test.each<[string, Partial<Inspection>, object]>([
    ["that the cluster does not take is refused", { live: null, trial: refusal("invalid") }, { action: "refused" }],
    ["that runs is not refused afterwards", { trial: refusal("forbidden") }, { action: "keep", isCertain: false }],
    [
      "that cannot be tried out is applied untried",
      { live: old, trial: refusal("untestable") },
      { action: "apply", isForced: false },
    ],
  ])("[AO11] an object %s", (_, given, expected) => {
    expect(step(given)).toMatchObject(expected);
  });

  test("[AO27] an object has the same fingerprint whatever its controllers write into its status", () => {
    const live = stored(2);
    const status = by("kube-controller-manager", "Update");
    const later: KubeObject = {
      ...live,
      status: { replicas: 2 },
      metadata: { ...live.metadata, resourceVersion: "7", managedFields: [OURS, { ...status, subresource: "status" }] },
    };
    expect(fingerprintOf(later)).toBe(fingerprintOf(live));
    expect(fingerprintOf(stored(3))).not.toBe(fingerprintOf(live));
    expect(fingerprintOf(stored(2, [OURS, status]))).not.toBe(fingerprintOf(live));
  });
});

describe("the number of replicas", () => {
  const autoscaled: KubeObject = { ...desired, spec: {} };
  test("[AO16] the number of replicas is kept when an autoscaler begins to decide about it", () => {
    expect(handoverOf(stored(4), autoscaled)).toMatchObject({ metadata: { uid: "u1" }, spec: { replicas: 4 } });
  });
  test.each<[string, KubeObject, KubeObject]>([
    ["it is still said", stored(4), desired],
    ["it is somebody else's by now", stored(4, [by("kube-controller-manager", "Update")]), autoscaled],
    ["it is 0, which an autoscaler leaves alone", stored(0), autoscaled],
  ])("[AO16] the number of replicas is not kept where %s", (_, live, next) => {
    expect(handoverOf(live, next)).toBeNull();
  });
});

describe("a StatefulSet that cannot be changed", () => {
  const template = (name: string, storage: string) => ({
    metadata: { name },
    spec: { resources: { requests: { storage } } },
  });
  const set = (...templates: object[]): KubeObject => ({
    ...desired,
    kind: "StatefulSet",
    spec: { volumeClaimTemplates: templates },
  });
  const decided = (before: KubeObject, after: KubeObject) =>
    step({ live: { ...before, metadata: stored(2).metadata }, desired: sealed(after), trial: refusal("immutable") });
  const data = template("data", "1Gi");

  test("[AO58] a StatefulSet is made again where its volumes are larger and nothing else is different", () => {
    expect(
      decided(set(data, template("logs", "1024Mi")), set(template("data", "2Gi"), template("logs", "1Gi"))),
    ).toEqual({
      action: "regrow",
      volumes: [{ name: "data", storage: "2Gi" }],
    });
  });

  test.each<[string, KubeObject]>([
    ["smaller", set(template("data", "512Mi"))],
    ["one larger, one smaller", set(template("data", "2Gi"), template("logs", "1Mi"))],
    ["another one", set(template("other", "2Gi"))],
    ["one more", set(template("data", "2Gi"), template("more", "1Gi"))],
    ["none", set()],
    ["the same", set(data)],
  ])("[AO58] a StatefulSet is refused where its volumes differ in another way: %s", (what, after) => {
    const before = what.startsWith("one larger") ? set(data, template("logs", "1Gi")) : set(data);
    expect(decided(before, after)).toMatchObject({ action: "refused" });
  });

  const classed = (size: string, storageClassName?: string, accessModes = ["ReadWriteOnce"]) => {
    const { metadata, spec } = template("data", size);
    return { metadata, spec: { ...spec, accessModes, ...(storageClassName ? { storageClassName } : {}) } };
  };

  test.each<[string, object]>([
    ["another class", classed("1Gi", "slow")],
    ["another class and a larger size", classed("2Gi", "slow")],
    ["no class any more", classed("1Gi")],
    ["another mode", classed("1Gi", "fast", ["ReadWriteMany"])],
  ])("[AO3104] a StatefulSet whose volumes would get %s is refused in words of the app", (_, after) => {
    expect(decided(set(classed("1Gi", "fast")), set(after))).toMatchObject({
      action: "refused",
      refusal: {
        reason: "ImmutableVolume",
        message: expect.stringMatching(
          /^The volume data of StatefulSet .* the storage class fast and the access mode ReadWriteOnce, /,
        ),
      },
    });
  });

  test("[AO3104] a claim that would get another class is refused in words of the app, and one that would shrink is not", () => {
    const claim = (size: string, name?: string): KubeObject => ({
      ...desired,
      ...classed(size, name),
      kind: "PersistentVolumeClaim",
      metadata: stored(2).metadata,
    });
    const reasonOf = (before: KubeObject, after: KubeObject) =>
      step({ live: before, desired: sealed(after), trial: refusal("immutable") });
    expect(reasonOf(claim("1Gi", "standard"), claim("1Gi", "fast"))).toMatchObject({
      refusal: { reason: "ImmutableVolume" },
    });
    expect(reasonOf(claim("2Gi", "standard"), claim("1Gi"))).toEqual({
      action: "refused",
      refusal: refusal("immutable"),
    });
  });

  test("[AO58] only the claims of a StatefulSet's names and ordinals grow, and only those that are smaller", () => {
    const claim = (name: string, storage: string): KubeObject => {
      const { spec } = template(name, storage);
      return { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name }, spec };
    };
    const claims = [
      claim("data-web-0", "1Gi"),
      claim("data-web-10", "1Gi"),
      claim("data-web-1", "3Gi"),
      claim("data-web-x", "1Gi"),
      claim("data-web-a-0", "1Gi"),
      claim("other-web-0", "1Gi"),
    ];
    const found = smallClaims(claims, "web", [{ name: "data", storage: "2Gi" }]);
    expect(found.map(({ claim: { metadata } }) => metadata.name)).toEqual(["data-web-0", "data-web-10"]);
  });
});
