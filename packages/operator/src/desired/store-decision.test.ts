import { ANNOTATIONS } from "@binnacle/contract";
import { describe, expect, test } from "vitest";
import type { KubeObject } from "../kube/kube-client.ts";
import { KubeError } from "../kube/kube-error.ts";
import { holderOf } from "./custom-resource.ts";
import { addressIn, applyApp, applyProject, kindOf, PROJECT_ID, removeOf } from "./frames.fixture.ts";
import { ownLabels } from "./ownership.ts";
import {
  decideApply,
  decideRemoval,
  faultIn,
  rejectionByNamesake,
  rejectionByNamespace,
  rejectionOf,
} from "./store-decision.ts";

const CLUSTER = "01932c07-31f1-7a4e-8d8b-00000000000c";
const OTHER_ID = "01932c07-31f1-7a4e-8d8b-00000000000d";

const held = (frame = applyApp({ generation: 5 }), clusterId = CLUSTER): KubeObject => {
  return holderOf(frame, addressIn(frame), clusterId, frame.hash);
};
const leaving = (object: KubeObject): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, deletionTimestamp: "2026-01-31T09:30:00Z" },
});

const frameAt = (generation: number, image?: string) => applyApp({ generation, ...(image ? { image } : {}) });

/** What stands there, whether it is whole, what is told, and what becomes of it. */
const TABLE = [
  ["[OD2]", "nothing", null, true, frameAt(5), "store"],
  ["[OD2]", "the same", held(), true, frameAt(5), "nothing"],
  ["[OD2]", "the same, but damaged", held(), false, frameAt(5), "store"],
  ["[OD2]", "an earlier generation", held(), true, frameAt(6), "store"],
  ["[OD2]", "another content of the same generation", held(), true, frameAt(5, "nginx:2"), "store"],
  ["[OD2]", "a later generation", held(), true, frameAt(4), "stale"],
  ["[OD6]", "an earlier resource", held(applyApp({ resource_id: OTHER_ID })), true, frameAt(9), "unable"],
  [
    "[OD6]",
    "an earlier resource that leaves",
    leaving(held(applyApp({ resource_id: OTHER_ID }))),
    true,
    frameAt(9),
    "unable",
  ],
  ["[OD6]", "the same that leaves", leaving(held()), true, frameAt(6), "unable"],
  ["[OD6]", "the same that leaves, later", leaving(held()), true, frameAt(4), "stale"],
] as const;

test.each(TABLE)("%s a resource is sent where the cluster has %s", (_, __, there, isWhole, frame, expected) => {
  const decision = decideApply(frame, there, isWhole);
  expect(decision.do === "refuse" ? decision.refusal.code : decision.do).toBe(expected);
});

test.each([
  ["nothing", null, null],
  ["what is ours", held(), null],
  ["what is of another cluster", held(undefined, OTHER_ID), "does not belong to Binnacle"],
] as const)("[OD6] a name is taken by an object that is not ours: %s", (_, there, expected) => {
  const rejection = rejectionByNamesake(there, CLUSTER);
  if (expected === null) expect(rejection).toBeNull();
  else expect(rejection).toMatchObject({ code: "unable", message: expect.stringContaining(expected) });
});

const remove = removeOf(frameAt(5));
const REMOVALS = [
  ["nothing", null, "absent"],
  ["the same", held(), "remove"],
  ["the same that leaves", leaving(held()), "remove"],
  ["another resource", held(applyApp({ resource_id: OTHER_ID })), "absent"],
  ["what is of another cluster", held(undefined, OTHER_ID), "absent"],
  ["a later generation", held(frameAt(7)), "stale"],
] as const;

test.each(REMOVALS)("[OD7] the decision on a removal follows from what is at its place: %s", (_, there, expected) => {
  const decision = decideRemoval(remove, there, CLUSTER);
  expect(typeof decision === "object" ? decision.code : decision).toBe(expected);
});

describe("a namespace", () => {
  const namespace = (labels: Record<string, string>, id: string): KubeObject => ({
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: "shop", labels, annotations: { [ANNOTATIONS.resourceId]: id } },
  });
  const own = namespace(ownLabels(CLUSTER), PROJECT_ID);
  const CASES = [
    ["its project's", own, null],
    ["somebody else's", namespace({}, PROJECT_ID), "was not made by Binnacle"],
    ["another cluster's", namespace(ownLabels(OTHER_ID), PROJECT_ID), "was not made by Binnacle"],
    ["another project's", namespace(ownLabels(CLUSTER), OTHER_ID), "belongs to another project"],
    ["being deleted", leaving(own), "is being deleted"],
  ] as const;
  test.each(CASES)("[OD5] a resource is stored or refused by its namespace: one that is %s", (_, object, expected) => {
    const refusal = rejectionByNamespace(object, PROJECT_ID, CLUSTER);
    if (expected === null) expect(refusal).toBeNull();
    else expect(refusal).toMatchObject({ code: "unable", message: expect.stringContaining(expected) });
  });
});

test("[OD4] a resource with a wrong hash, or with a key that does not fit its content, is never stored", () => {
  expect(faultIn(applyApp(), kindOf("app"))).toBeNull();
  expect(faultIn(applyApp({ key: "app/shop/other" }), kindOf("app"))).toMatchObject({ code: "invalid" });
  expect(faultIn(applyApp({ key: "project/shop" }), kindOf("app"))).toMatchObject({ code: "invalid" });
  expect(faultIn(applyProject("shop", { key: "project/other" }), kindOf("project"))).toMatchObject({ code: "invalid" });
  expect(faultIn(applyApp({ hash: "0".repeat(64) }), kindOf("app"))).toMatchObject({ code: "invalid" });
});

test("[OD10] a permanent refusal is invalid, any other refusal may be retried, and neither reveals a secret", () => {
  const failed = (status: number, message = "no") => rejectionOf(new KubeError({ status, reason: "x", message }));
  for (const status of [400, 413, 422]) expect(failed(status).code).toBe("invalid");
  for (const status of [0, 401, 403, 404, 409, 429, 500, 503]) expect(failed(status).code).toBe("unable");
  expect(failed(500, "at https://ada:s3cret@example.com/ <b>").message).toBe("at [masked]example.com/ ‹b>");
  expect(() => rejectionOf(new TypeError("a fault of ours"))).toThrow("a fault of ours");
});
