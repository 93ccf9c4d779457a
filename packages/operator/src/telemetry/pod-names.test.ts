import { describe, expect, test } from "vitest";
import { podPattern, releasePodPattern } from "./pod-selection.ts";

const isMatch = (pattern: string, pod: string) => new RegExp(`^(?:${pattern})$`).test(pod);

describe("the pods of a component", () => {
  test.each([
    ["of a Deployment", "shop", "web", "shop-web-678b5988b9-jnhp8", true],
    ["of a StatefulSet", "shop", "db", "shop-db-0", true],
    ["of a Job", "shop", "migrate", "shop-migrate-b9299884-b46jt", true],
    ["of a CronJob", "shop", "nightly", "shop-nightly-29912669-knv62", true],
    ["of a longer name", "shop", "web", "shop-web-api-678b5988b9-jnhp8", false],
    ["of a longer name with ordinals", "shop", "web", "shop-web-api-0", false],
    ["of another app", "shop", "web", "shop2-web-0", false],
    ["of a chart", "shop", "db", "shop-db-postgresql-0", false],
    ["with a cut name", "a".repeat(20), "b".repeat(30), `${"a".repeat(20)}-${"b".repeat(30)}-5d8f7c9x2x5p`, true],
    ["of a longer name that is a DaemonSet", "shop", "web", "shop-web-exporter-jnhp8", false],
  ])("[TE22] the pods of a component are known by their names: %s", (_, app, component, pod, isOne) => {
    expect(isMatch(podPattern(app, component), pod)).toBe(isOne);
  });
});

test("[TE22] the pods of a DaemonSet are known by one word after its name", () => {
  const pattern = podPattern("shop", "web", true);
  expect(isMatch(pattern, "shop-web-jnhp8")).toBe(true);
  for (const pod of ["shop-web-0", "shop-web-678b5988b9-jnhp8", "shop-web-exporter-jnhp8", "shop2-web-jnhp8"]) {
    expect(isMatch(pattern, pod), pod).toBe(false);
  }
});

describe("the pods of a release", () => {
  const LONG = "a".repeat(60);
  test.each([
    ["Deployment", "db", "db-678b5988b9-jnhp8", true],
    ["Deployment", "db", "db-metrics-678b5988b9-jnhp8", false],
    ["Deployment", LONG, `${LONG.slice(0, 58)}x2x5p`, true],
    ["Deployment", LONG, `b${LONG.slice(0, 57)}x2x5p`, false],
    ["StatefulSet", "db", "db-0", true],
    ["StatefulSet", "db", "db-x", false],
    ["StatefulSet", LONG, `${LONG}-12`, true],
    ["DaemonSet", "db", "db-jnhp8", true],
    ["Job", "db-init", "db-init-jnhp8", true],
    ["CronJob", "db-backup", "db-backup-29912669-knv62", true],
    ["CronJob", "db-backup", "db-backup-knv62", false],
    ["Pod", "db-test", "db-test", true],
    ["Pod", "db.test", "db-test", false],
    ["Rollout", "db", "db-678b5988b9-jnhp8", true],
    ["Rollout", "db", "db-2", true],
  ])("[TE27] a release's pods are known by the names of what makes them: %s %s, %s: %s", (kind, name, pod, isOne) => {
    const pattern = releasePodPattern([
      { kind: "Pod", name: "another", selector: null },
      { kind, name, selector: null },
    ]);
    expect(isMatch(pattern ?? "", pod)).toBe(isOne);
  });

  test("[TE27] a release in which nothing makes pods has no pattern of pod names", () => {
    expect(releasePodPattern([])).toBeNull();
  });
});
