import { expect, test } from "vitest";
import type { KubeObject } from "./kube-object.ts";
import { BadSelector, fieldMatcher, labelMatcher } from "./selectors.ts";

const labelled = (labels: Record<string, string>): KubeObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "p", namespace: "n", labels },
});

test.each([
  ["", true],
  ["app=web", true],
  ["app==web", true],
  ["app=db", false],
  ["app!=db", true],
  ["other!=x", true],
  ["app", true],
  ["!app", false],
  ["!other", true],
  ["app in (web, db)", true],
  ["app notin (web)", false],
  ["other notin (web)", true],
  ["other in (web)", false],
  ["app=web,tier in (a,b)", true],
  ["app=web, !tier", false],
  ["size>3", true],
  ["size<3", false],
])("[SA14] the label selector %j selects the pod: %s", (selector, isChosen) => {
  expect(labelMatcher(selector)(labelled({ app: "web", tier: "a", size: "5" }))).toBe(isChosen);
});

test.each([
  ["metadata.name=p", true],
  ["metadata.name!=p", false],
  ["metadata.namespace=n,status.phase=Running", true],
  ["status.phase!=Running", false],
  ["spec.nodeName=", true],
])("[SA14] the field selector %j selects the pod: %s", (selector, isChosen) => {
  const pod = { ...labelled({}), status: { phase: "Running" } };
  expect(fieldMatcher(selector, "pods", true)(pod)).toBe(isChosen);
});

test("[SA14] an invalid label selector or an unknown field selector is refused", () => {
  expect(() => labelMatcher("a b c")).toThrow(BadSelector);
  expect(() => fieldMatcher("spec.foo=1", "pods", true)).toThrow(/not a known field selector/);
  expect(() => fieldMatcher("status.phase=x", "configmaps", true)).toThrow(
    /only "metadata.name", "metadata.namespace"/,
  );
});
