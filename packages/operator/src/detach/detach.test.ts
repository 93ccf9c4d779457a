import { ANNOTATIONS, LABELS } from "@binnacle/contract";
import { expect, test } from "vitest";
import { heldText, leftAs, mayRelease, RELEASED_TYPES, releasePatch } from "./detach.ts";

test("[CL115] an object loses the marks of Binnacle and keeps the labels by which its pods are found", () => {
  expect(releasePatch("c").metadata).toEqual({
    labels: { [LABELS.managedBy]: null, [LABELS.cluster]: null },
    annotations: { [ANNOTATIONS.resourceId]: null, [ANNOTATIONS.generation]: null, [ANNOTATIONS.hash]: null },
  });
});

test("[CL115] pods are not touched, nor what Kubernetes makes for them", () => {
  const kinds = RELEASED_TYPES.map(({ kind }) => kind);
  expect(kinds).toEqual(
    expect.arrayContaining(["Deployment", "Service", "Secret", "PersistentVolumeClaim", "NetworkPolicy"]),
  );
  for (const kind of ["Pod", "ReplicaSet", "Namespace"]) expect(kinds).not.toContain(kind);
});

test.each([
  ["nothing is left", [], true],
  ["something is left elsewhere", ["other"], true],
  ["something is left in it", ["other", "shop"], false],
])("[CL116] a namespace is let go of where %s: the operator loses its rights there", (_, namespaces, expected) => {
  expect(
    mayRelease(
      "shop",
      namespaces.map((namespace) => ({ namespace })),
    ),
  ).toBe(expected);
});

test("[CL116] what is left is named with the reason, as text that can be shown", () => {
  expect(leftAs("Namespace", { name: "shop" }, "no\u0000")).toMatchObject({
    kind: "Namespace",
    namespace: null,
    name: "shop",
  });
  expect(heldText(["example.com/a", "example.com/b"])).toBe(
    "It is held by the finalizers example.com/a, example.com/b.",
  );
  expect(heldText([])).toBe("It is still there.");
});
