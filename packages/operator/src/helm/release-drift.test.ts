import { describe, expect, test } from "vitest";
import type { KubeObject, ManagedFields } from "../kube/kube-client.ts";
import { contentOf } from "./manifest.ts";
import { appliedForm, comparedKindOf, HELM_MANAGER, releaseStepFor } from "./release-drift.ts";

const id = { namespace: "shop", name: "db", owner: "addon" };
const MARKS = {
  labels: { "app.kubernetes.io/managed-by": "Helm" },
  annotations: { "meta.helm.sh/release-name": "db", "meta.helm.sh/release-namespace": "shop" },
};

const FIELDS = {
  "f:spec": {
    "f:replicas": {},
    "f:template": {
      "f:spec": {
        "f:containers": {
          'k:{"name":"main"}': {
            ".": {},
            "f:name": {},
            "f:image": {},
            "f:env": { 'k:{"name":"PASSWORD"}': { ".": {}, "f:name": {}, "f:value": {} } },
          },
        },
      },
    },
  },
};
const by = (manager: string, operation: "Apply" | "Update", fieldsV1: object = {}): ManagedFields => ({
  manager,
  operation,
  apiVersion: "apps/v1",
  fieldsV1: fieldsV1 as Record<string, unknown>,
});

interface Given {
  readonly replicas?: number;
  readonly image?: string;
  readonly password?: string;
  readonly managers?: readonly ManagedFields[];
  readonly annotations?: Record<string, string>;
}
const deployment = ({
  replicas = 2,
  image = "pg:1",
  password = "s3cret",
  managers,
  annotations,
}: Given = {}): KubeObject => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: {
    name: "db",
    namespace: "shop",
    annotations: annotations ?? MARKS.annotations,
    managedFields: managers ?? [by(HELM_MANAGER, "Apply", FIELDS)],
  },
  spec: {
    replicas,
    template: { spec: { containers: [{ name: "main", image, env: [{ name: "PASSWORD", value: password }] }] } },
  },
});
const REPLICAS = { "f:spec": { "f:replicas": {} } };
const wanted = deployment();
const stepFor = (live: KubeObject | null, trial: KubeObject | null = wanted, takeOver = false) =>
  releaseStepFor({ id, desired: wanted, live, trial }, takeOver);
const object = { kind: "Deployment", name: "db" };

describe("an object of a release", () => {
  test("[HE30] an object of a release is kept while it is as the manifest has it, whatever others add", () => {
    expect(stepFor(deployment())).toEqual({ action: "keep", isCertain: true });
    const live = { ...deployment(), spec: { ...(wanted["spec"] as object), minReadySeconds: 5 } };
    expect(stepFor(live)).toEqual({ action: "keep", isCertain: true });
    expect(stepFor(deployment(), null)).toEqual({ action: "keep", isCertain: true });
  });

  test("[HE30] an object of a release has drifted by each field that somebody has changed, with the manager of the change", () => {
    const live = deployment({ replicas: 5, image: "pg:2", managers: [by("kubectl-edit", "Update", FIELDS)] });
    const manager = "kubectl-edit";
    expect(stepFor(live)).toEqual({
      action: "apply",
      isForced: true,
      drift: [
        { object, pointer: "/spec/replicas", desired: 2, observed: 5, manager },
        { object, pointer: "/spec/template/spec/containers/0/image", desired: "pg:1", observed: "pg:2", manager },
      ],
    });
  });

  test("[HE30] the drift of an object of a release does not reveal a value that may be secret", () => {
    const live = deployment({ password: "0ther", managers: [by("kubectl-edit", "Update", FIELDS)] });
    const step = stepFor(live);
    expect(step).toMatchObject({ drift: [{ pointer: "/spec/template/spec/containers/0/env/0/value" }] });
    expect(JSON.stringify(step)).not.toMatch(/s3cret|0ther/);
  });

  test("[HE30] a missing object of a release was deleted, and one that is being deleted is waited for", () => {
    expect(stepFor(null, null)).toEqual({ action: "apply", isForced: false, drift: [{ object, pointer: "" }] });
    const going = { ...deployment(), metadata: { name: "db", deletionTimestamp: "2026-01-01T00:00:00Z" } };
    expect(stepFor(going, null)).toMatchObject({ action: "wait" });
  });

  test("[HE30] a field that an autoscaler sets, the chart leaves empty or nobody can compare has not drifted", () => {
    const scale = { ...by("kube-controller-manager", "Update", REPLICAS), subresource: "scale" };
    expect(stepFor(deployment({ replicas: 7, managers: [scale] }))).toMatchObject({ action: "keep" });
    expect(stepFor(deployment({ password: "filled in" }), deployment({ password: "" }))).toMatchObject({
      action: "keep",
    });
    const refusal = { refused: "immutable", reason: "ImmutableField", message: "No." } as const;
    expect(releaseStepFor({ id, desired: wanted, live: deployment(), trial: refusal }, false)).toEqual({
      action: "keep",
      isCertain: false,
    });
  });

  test("[HE31] an object is blocked where another manager or release holds it, until a take-over", () => {
    const held = deployment({ replicas: 7, managers: [by("argocd", "Apply", REPLICAS)] });
    expect(stepFor(held)).toMatchObject({
      action: "blocked",
      fields: [{ pointer: "/spec/replicas", manager: "argocd" }],
      summary: "Held by argocd, though the app must set it: /spec/replicas of Deployment db.",
    });
    expect(stepFor(held, wanted, true)).toMatchObject({ action: "apply", isForced: true });
    const others = deployment({ annotations: { ...MARKS.annotations, "meta.helm.sh/release-name": "other" } });
    expect(stepFor(others)).toMatchObject({ action: "blocked" });
    expect(stepFor(deployment({ annotations: {} }))).toMatchObject({ action: "keep" });
  });
});

describe("what is compared of a release", () => {
  const [secret, claim, job, custom] = contentOf(`
apiVersion: v1
kind: Secret
metadata: {name: db, labels: {a: b}}
data: {old: b2xk}
stringData: {password: s3cret}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: other}
status: {phase: Bound}
---
apiVersion: batch/v1
kind: Job
metadata: {name: init}
---
apiVersion: example.com/v1
kind: Database
metadata: {name: db}
`).objects;
  if (!secret || !claim || !job || !custom) throw new Error("the manifest has four objects");

  test("[HE30] an object of a release is compared in the form that Helm applies: with marks, namespace and encoded Secrets", () => {
    expect(appliedForm(secret, id, true)).toEqual({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "db", namespace: "shop", labels: { a: "b", ...MARKS.labels }, annotations: MARKS.annotations },
      data: { old: "b2xk", password: "czNjcmV0" },
    });
    expect(appliedForm(claim, id, true)).toEqual({
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: "data", namespace: "other", ...MARKS },
    });
    expect(appliedForm(custom, id, false).metadata).not.toHaveProperty("namespace");
  });

  test("[HE30] only objects of built-in kinds that do not end by themselves are compared", () => {
    expect([secret, claim, job, custom].map((one) => comparedKindOf(one)?.plural ?? null)).toEqual([
      "secrets",
      "persistentvolumeclaims",
      null,
      null,
    ]);
  });
});
