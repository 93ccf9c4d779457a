import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { failed, progressing, ready, unknown } from "../kube/readiness.ts";
import { isFree, seenLease } from "./lease.ts";
import { contentIn, contentOf, NO_CONTENT } from "./manifest.ts";
import { verdictOn } from "./release.ts";
import { combined, isTelling } from "./release-readiness.ts";

const object = { kind: "Deployment", name: "db" };
const MANIFEST = `---
# Source: db/templates/a.yaml
apiVersion: apps/v1
kind: Deployment
metadata: {name: db}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: data
  namespace: other
  annotations: {helm.sh/resource-policy: keep}
---
apiVersion: v1
kind: List
items:
  - {apiVersion: v1, kind: Service, metadata: {name: db}}
---
`;

describe("what a release is made of", () => {
  const objects = [
    { apiVersion: "apps/v1", kind: "Deployment", name: "db", isKept: false },
    { apiVersion: "v1", kind: "PersistentVolumeClaim", name: "data", namespace: "other", isKept: true },
    { apiVersion: "v1", kind: "Service", name: "db", isKept: false },
  ];

  test("[HE13] is read from its manifest, with what is to be kept", () => {
    expect(contentOf(MANIFEST).objects).toMatchObject(objects);
    expect(contentOf("")).toEqual(NO_CONTENT);
  });

  test("[HE13] is read from the Secret in which Helm keeps it, and is nothing where that is damaged", () => {
    const packed = gzipSync(JSON.stringify({ name: "db", manifest: MANIFEST })).toString("base64");
    const secret = (release: string) => ({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "s" },
      data: { release },
    });
    expect(contentIn(secret(Buffer.from(packed).toString("base64"))).objects).toMatchObject(objects);
    expect(contentIn(secret("garbage"))).toEqual(NO_CONTENT);
  });
});

describe("[HE12] a release", () => {
  test.each([
    ["ready without objects", [], "ready"],
    ["ready like its objects", [ready(1)], "ready"],
    ["not ready while one is not", [ready(1), progressing("Soon.")], "progressing"],
    ["unknown before it is on its way", [progressing("Soon."), unknown()], "unknown"],
    ["failed before all", [unknown(), failed("No."), progressing("Soon.")], "failed"],
  ])("is %s", (_, states, state) => {
    expect(combined(states.map((readiness) => ({ object, readiness })))).toMatchObject({ state, missing: [] });
  });

  test("[HE12] that lacks an object has failed, and names it", () => {
    expect(combined([{ object, readiness: null }])).toEqual({
      state: "failed",
      reason: "ObjectMissing",
      message: "No longer on the cluster: Deployment db.",
      missing: ["Deployment db"],
    });
    expect(isTelling({ kind: "ConfigMap" })).toBe(false);
  });
});

describe("the verdict on a release", () => {
  const revision = { secret: "s", uid: "u", version: 1, status: "deployed", isOurs: true, digest: "d" };
  const NO = { message: "No.", reason: null };
  const observation = { doing: null, revision, isForeign: false, isCurrent: true, hasRun: true, failure: null };
  const exports = { plain: {}, secret: {}, missing: [] };
  const calm = { observation, readiness: combined([]), hook: null, blocked: null, exports, isSecretTaken: false };
  const refused = { ...failed("Job db-hook cannot start pods: exceeded quota"), reason: "PodRejected" };

  test.each([
    ["[HE14] ready", {}, "ready", "ReleaseReady"],
    [
      "[HE3] failed where it is somebody else's",
      { observation: { ...observation, isForeign: true } },
      "failed",
      "ReleaseConflict",
    ],
    ["[HE4] failed", { observation: { ...observation, failure: NO, isCurrent: false } }, "failed", "UpgradeFailed"],
    [
      "[HE4] failed before it ever ran",
      { observation: { ...observation, failure: NO, hasRun: false } },
      "failed",
      "InstallFailed",
    ],
    [
      "[HE23] failed for its rights",
      { observation: { ...observation, failure: { message: "No.", reason: "ForbiddenObject" } } },
      "failed",
      "ForbiddenObject",
    ],
    [
      "[HE1] on its way",
      { observation: { ...observation, doing: "installing" as const } },
      "progressing",
      "Installing",
    ],
    [
      "[HE1] on its way again",
      { observation: { ...observation, doing: "upgrading" as const } },
      "progressing",
      "Upgrading",
    ],
    [
      "[HE28] failed while Helm waits for a hook whose pods are not taken",
      { observation: { ...observation, doing: "installing" as const, isCurrent: false }, hook: refused },
      "failed",
      "PodRejected",
    ],
    [
      "[HE28] failed after Helm has waited for it in vain",
      { observation: { ...observation, failure: NO, isCurrent: false }, hook: refused },
      "failed",
      "PodRejected",
    ],
    ["[HE28] failed for its pods", { readiness: combined([{ object, readiness: refused }]) }, "failed", "PodRejected"],
    ["[HE6] waiting", { observation: { ...observation, isCurrent: false } }, "progressing", "Waiting"],
    [
      "[HE12] not ready",
      { readiness: combined([{ object, readiness: progressing("Soon.") }]) },
      "progressing",
      "NotReady",
    ],
    [
      "[HE31] failed where others declare what a new generation is to set",
      { blocked: { summary: "Held by argocd." } },
      "failed",
      "BlockedSync",
    ],
    ["[HE17] failed for its Secret", { isSecretTaken: true }, "failed", "ExportsConflict"],
    [
      "[HE14] waiting for exports",
      { exports: { plain: {}, secret: {}, missing: ["the Service db"] } },
      "progressing",
      "WaitingForExports",
    ],
  ])("%s", (_, given, state, reason) => {
    expect(verdictOn({ ...calm, ...given })).toMatchObject({ state, reason });
  });
});

test("[HE6] a Lease is free when nobody holds it, or when we saw nobody renew it for its time", () => {
  const lease = (holderIdentity: string, resourceVersion: string) => ({
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { name: "l", resourceVersion },
    spec: { holderIdentity, leaseDurationSeconds: 20, renewTime: "2001-01-01T00:00:00.000000Z" },
  });
  const first = seenLease(undefined, lease("a", "1"), 1_000);
  expect(isFree(lease("a", "1"), first, 20_999)).toBe(false);
  expect(isFree(lease("a", "1"), seenLease(first, lease("a", "1"), 21_000), 21_000)).toBe(true);
  expect(isFree(lease("a", "2"), seenLease(first, lease("a", "2"), 21_000), 21_000)).toBe(false);
  expect(isFree(lease("", "2"), first, 1_000)).toBe(true);
});
