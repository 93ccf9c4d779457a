import { describe, expect, test } from "vitest";
import { afterAttempt, failureFor, retryAfterMs, waitMs } from "./attempts.ts";
import { type Goal, hasRun, nextStep, nextVersion, type Step } from "./release.ts";
import { digestOf, type Revision, revisionLabels, revisionsIn } from "./revision.ts";

const D = "d".repeat(40);
const OTHER = "e".repeat(40);

/** `deployed:d` is a deployed revision with the wanted digest, `deployed` one with another. */
function history(...marks: readonly string[]): Revision[] {
  return marks.map((mark, index) => {
    const [status = "", digest] = mark.split(":");
    const version = index + 1;
    return {
      secret: `sh.helm.release.v1.db.v${version}`,
      uid: `uid-${version}`,
      version,
      status: status.replace("theirs ", ""),
      isOurs: !status.startsWith("theirs"),
      digest: digest === "d" ? D : OTHER,
    };
  });
}

const wanted: Goal = { digest: D };
const NO = { message: "No.", reason: null };

describe("the next step", () => {
  test.each<[string, string[], Goal | null, Step]>([
    ["[HE1] a release that is not there is installed", [], wanted, { step: "install" }],
    ["[HE1] a release that is as wanted is left alone", ["deployed:d"], wanted, { step: "nothing" }],
    ["[HE1] a release that differs from what is wanted is upgraded", ["deployed"], wanted, { step: "upgrade" }],
    ["[HE1] a release that has failed is upgraded", ["deployed", "failed:d"], wanted, { step: "upgrade" }],
    ["[HE1] a release that was uninstalled is installed anew", ["uninstalled:d"], wanted, { step: "install" }],
    ["[HE1] a release that is not wanted is uninstalled", ["deployed"], null, { step: "uninstall" }],
    ["[HE1] an unwanted uninstalled release is purged", ["superseded", "uninstalled"], null, { step: "purge" }],
    ["[HE1] nothing is done where no release exists and none is wanted", [], null, { step: "nothing" }],
    ["[HE2] a first installation that never ended is undone", ["pending-install:d"], wanted, { step: "uninstall" }],
    ["[HE2] a removal that never ended is uninstalled again", ["uninstalling:d"], wanted, { step: "uninstall" }],
    ["[HE2] an unfinished removal is finished", ["deployed", "uninstalling"], null, { step: "uninstall" }],
    [
      "[HE2] an upgrade that never ended is rolled back to the deployed revision",
      ["superseded", "deployed", "failed", "pending-upgrade:d"],
      wanted,
      { step: "rollback", to: 2 },
    ],
    [
      "[HE2] a rollback that never ended is rolled back to the deployed revision",
      ["superseded", "deployed", "pending-rollback"],
      wanted,
      { step: "rollback", to: 2 },
    ],
    [
      "[HE2] an upgrade that never ended is rolled back to a failed revision, if no other exists",
      ["failed", "pending-upgrade"],
      wanted,
      { step: "rollback", to: 1 },
    ],
    ["[HE2] an upgrade that cannot be rolled back is uninstalled", ["pending-upgrade"], wanted, { step: "uninstall" }],
    ["[HE3] a release of somebody else is left alone", ["theirs deployed:d"], wanted, { step: "leave" }],
    ["[HE3] a pending release of somebody else is not repaired", ["theirs pending-upgrade"], wanted, { step: "leave" }],
    ["[HE3] a release of somebody else is not removed", ["theirs deployed"], null, { step: "leave" }],
  ])("%s", (_, marks, goal, step) => {
    expect(nextStep(history(...marks), goal)).toEqual(step);
  });

  test("[HE1] the history of a release tells whether it has ever run, and the number of the next revision", () => {
    expect(hasRun(history("failed", "pending-upgrade"))).toBe(false);
    expect(hasRun(history("superseded", "failed"))).toBe(true);
    expect(nextVersion([])).toBe(1);
    expect(nextVersion(history("superseded", "failed"))).toBe(3);
  });
});

describe("labels of a revision", () => {
  const id = { namespace: "shop", name: "db", owner: "addon" };
  const labelled = (labels: Record<string, string>, version: string) => ({
    metadata: { name: "s", labels: { ...labels, status: "deployed", version } },
  });
  const labels = revisionLabels(id, "cluster-1", { digest: D, version: 2 });

  test("[HE1] the labels of a revision tell the digest of the revision that they were written for, and of no other", () => {
    expect(revisionsIn([labelled(labels, "2")], id, "cluster-1")).toMatchObject([
      { isOurs: true, digest: D, version: 2 },
    ]);
    expect(revisionsIn([labelled(labels, "3")], id, "cluster-1")).toMatchObject([{ isOurs: true, digest: null }]);
    expect(revisionsIn([labelled(labels, "10"), labelled(labels, "9")], id, "cluster-1")).toMatchObject([
      { version: 9 },
      { version: 10 },
    ]);
  });

  test("[HE3] a revision belongs to the operator only with the labels of its cluster and its owner", () => {
    expect(revisionsIn([labelled(labels, "2")], id, "cluster-2")).toMatchObject([{ isOurs: false }]);
    const component = { ...id, owner: "app.shop.db" };
    expect(revisionsIn([labelled(labels, "2")], component, "cluster-1")).toMatchObject([{ isOurs: false }]);
    expect(revisionsIn([labelled({}, "1")], id, "cluster-1")).toMatchObject([{ isOurs: false, digest: null }]);
  });

  test("[HE1] the digest of a release changes with chart and values, whatever the order of their fields", () => {
    const chart = { repo: "https://charts.example.com", name: "db", version: "1.0.0" };
    const digest = digestOf({ chart, values: { a: 1, b: { c: 2, d: 3 } } });
    expect(digestOf({ chart, values: { b: { d: 3, c: 2 }, a: 1 } })).toBe(digest);
    expect(digestOf({ chart, values: { a: 2 } })).not.toBe(digest);
    expect(digestOf({ chart: { ...chart, version: "1.0.1" }, values: { a: 1, b: { c: 2, d: 3 } } })).not.toBe(digest);
    expect(digest).toMatch(/^[0-9a-f]{40}$/);
  });
});

describe("[HE4] attempts", () => {
  test("failed attempts at a release are repeated after ever longer times", () => {
    expect([0, 1, 2, 3, 4, 5, 99].map(retryAfterMs)).toEqual([2_000, 6_000, 18_000, 54_000, 162_000, 300_000, 300_000]);
    const first = afterAttempt(undefined, D, { failure: NO }, 1_000);
    expect(waitMs(first, D, 1_000)).toBe(2_000);
    expect(waitMs(first, D, 3_000)).toBe(0);
    const second = afterAttempt(first, D, { failure: NO }, 3_000);
    expect(waitMs(second, D, 3_000)).toBe(6_000);
    expect(failureFor(second, D)).toEqual(NO);
  });

  test("an attempt at another digest begins at once", () => {
    const failed = afterAttempt(undefined, D, { failure: NO }, 1_000);
    expect(waitMs(failed, OTHER, 1_000)).toBe(0);
    expect(failureFor(failed, OTHER)).toBeNull();
    expect(afterAttempt(failed, OTHER, { failure: null }, 1_000).count).toBe(1);
  });

  test("successful attempts count as well, until ten minutes have passed", () => {
    const done = afterAttempt(undefined, D, { failure: null }, 0);
    const again = afterAttempt(done, D, { failure: null }, 60_000);
    expect(waitMs(again, D, 60_000)).toBe(6_000);
    expect(afterAttempt(again, D, { failure: null }, 700_000).count).toBe(1);
  });

  test("[HE6] an attempt does not count while somebody else works on the release", () => {
    const failed = afterAttempt(undefined, D, { failure: NO }, 0);
    const busy = afterAttempt(failed, D, { failure: null, isBusy: true }, 10_000);
    expect(busy).toMatchObject({ count: 1, notBeforeMs: 15_000, failure: null });
  });
});
