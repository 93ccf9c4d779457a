import { expect, test } from "vitest";
import { deploymentChanges, driftChanges, pointerSteps } from "./field-change.ts";

test.each([
  ["/components/web/workload_spec/image", ["components", "web", "workload_spec", "image"]],
  ["/metadata/labels/a~1b~0c", ["metadata", "labels", "a/b~c"]],
  ["", []],
])("[WC33] the JSON pointer %s is read step by step", (pointer, steps) => {
  expect(pointerSteps(pointer)).toEqual(steps);
});

test("[WC33] each change between two deployments is shown at its component", () => {
  const changes = deploymentChanges([
    { path: "/components/web/workload_spec/replicas", change: "changed", before: 2, after: 3 },
    { path: "/components/db", change: "removed", before: { name: "db" } },
    { path: "/paused", change: "changed", before: false, after: true },
    { path: "/components/web/secrets/TOKEN", change: "changed" },
  ]);
  expect(changes).toEqual([
    { owner: "web", field: "workload_spec.replicas", change: "changed", before: "2", after: "3" },
    { owner: "db", field: "the component", change: "removed", before: '{\n "name": "db"\n}' },
    { owner: "", field: "paused", change: "changed", before: "false", after: "true" },
    { owner: "web", field: "secrets.TOKEN", change: "changed", note: "A secret; its value is not shown." },
  ]);
});

test("[WC34] a drift names the object, the field, the wanted and the actual value, and the field's manager", () => {
  expect(
    driftChanges([
      {
        object: { kind: "Deployment", name: "shop-web" },
        pointer: "/spec/replicas",
        desired: 2,
        observed: 5,
        manager: "kubectl",
      },
    ]),
  ).toEqual([
    {
      owner: "Deployment shop-web",
      field: "spec.replicas",
      change: "changed",
      before: "2",
      after: "5",
      note: "Held by kubectl",
    },
  ]);
});

test("[WC34] a report of drift in an unknown form is shown as far as it can be read", () => {
  expect(driftChanges([{}, { object: null, pointer: 7, observed: "x".repeat(5_000) }])).toEqual([
    { owner: "", field: "the object", change: "added" },
    { owner: "", field: "the object", change: "added", after: `${"x".repeat(2_000)}…` },
  ]);
});
