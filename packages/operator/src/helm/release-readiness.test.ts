import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { isFree, seenLease } from "../kube/lease.ts";
import { failed, progressing, ready, unknown } from "../kube/readiness.ts";
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

  test("[HE13] the objects of a release are read from its manifest, with the resource policy keep", () => {
    expect(contentOf(MANIFEST).objects).toMatchObject(objects);
    expect(contentOf("")).toEqual(NO_CONTENT);
  });

  test("[HE13] the objects of a release are read from Helm's Secret, and there are none where that is damaged", () => {
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
  ])("a release is %s", (_, states, state) => {
    expect(combined(states.map((readiness) => ({ object, readiness })))).toMatchObject({ state, missing: [] });
  });

  test("[HE12] a release that lacks an object has failed, and names the object", () => {
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
  const refused = { ...failed("Job db-hook cannot start pods: exceeded quota"), reason: "PodRejected" as const };

  test.each([
    ["[HE14] a release is ready", {}, "ready", "ReleaseReady"],
    [
      "[HE3] a release of somebody else has failed",
      { observation: { ...observation, isForeign: true } },
      "failed",
      "ReleaseConflict",
    ],
    [
      "[HE4] a release whose upgrade failed has failed",
      { observation: { ...observation, failure: NO, isCurrent: false } },
      "failed",
      "UpgradeFailed",
    ],
    [
      "[HE4] a release that failed before it ever ran has failed to install",
      { observation: { ...observation, failure: NO, hasRun: false } },
      "failed",
      "InstallFailed",
    ],
    [
      "[HE23] a release without the needed rights has failed",
      { observation: { ...observation, failure: { message: "No.", reason: "ForbiddenObject" as const } } },
      "failed",
      "ForbiddenObject",
    ],
    [
      "[HE1] a release that is being installed is progressing",
      { observation: { ...observation, doing: "installing" as const } },
      "progressing",
      "Installing",
    ],
    [
      "[HE1] a release that is being upgraded is progressing",
      { observation: { ...observation, doing: "upgrading" as const } },
      "progressing",
      "Upgrading",
    ],
    [
      "[HE28] a release has failed while Helm waits for a hook whose pods are rejected",
      { observation: { ...observation, doing: "installing" as const, isCurrent: false }, hook: refused },
      "failed",
      "PodRejected",
    ],
    [
      "[HE28] a release has failed after Helm waited in vain for a hook whose pods are rejected",
      { observation: { ...observation, failure: NO, isCurrent: false }, hook: refused },
      "failed",
      "PodRejected",
    ],
    [
      "[HE28] a release whose pods are rejected has failed",
      { readiness: combined([{ object, readiness: refused }]) },
      "failed",
      "PodRejected",
    ],
    [
      "[HE6] a release that is not current and not worked on is waiting",
      { observation: { ...observation, isCurrent: false } },
      "progressing",
      "Waiting",
    ],
    [
      "[HE12] a release whose objects are not ready is progressing",
      { readiness: combined([{ object, readiness: progressing("Soon.") }]) },
      "progressing",
      "NotReady",
    ],
    [
      "[HE31] a release has failed where other managers hold fields that a new generation sets",
      { blocked: { summary: "Held by argocd." } },
      "failed",
      "BlockedSync",
    ],
    ["[HE17] a release whose exports Secret is taken has failed", { isSecretTaken: true }, "failed", "ExportsConflict"],
    [
      "[HE14] a release that waits for exports is progressing",
      { exports: { plain: {}, secret: {}, missing: ["the Service db"] } },
      "progressing",
      "WaitingForExports",
    ],
  ])("%s", (_, given, state, reason) => {
    expect(verdictOn({ ...calm, ...given })).toMatchObject({ state, reason });
  });
});

test("[HE6] a Lease is free when nobody holds it, or when nobody was seen to renew it for its duration", () => {
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
