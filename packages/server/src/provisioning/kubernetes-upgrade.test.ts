import { expect, test } from "vitest";
import { FIRST_KUBERNETES, KUBERNETES, SHIPPED_KUBERNETES, upgradeStepProblem } from "../cloud/kubernetes-release.ts";
import { Fault } from "../fault.ts";
import { isFresh, nodeAfter, snapshotWaitMs, upgradeStart } from "./kubernetes-upgrade.ts";

test.each([
  ["v1.36.4+k3s1", "v1.36.4+k3s1", null],
  ["v1.36.4+k3s1", "v1.36.4+k3s2", null],
  ["v1.36.4+k3s1", "v1.36.10+k3s1", null],
  ["v1.36.10+k3s2", "v1.37.1+k3s1", null],
  ["v1.9.1+k3s1", "v1.10.0+k3s1", null],
  ["v1.36.4+k3s2", "v1.36.4+k3s1", /never goes back/],
  ["v1.37.1+k3s1", "v1.37.0+k3s9", /never goes back/],
  ["v1.37.1+k3s1", "v1.36.9+k3s1", /never goes back/],
  ["v1.35.9+k3s1", "v1.37.0+k3s1", /more than one minor release ahead/],
  ["v1.37.1+k3s1", "v2.0.0+k3s1", /more than one minor release ahead/],
])("[PN174] Kubernetes goes from %s to %s, or does not", (from, to, refusal) => {
  const problem = upgradeStepProblem(from, to);
  if (refusal === null) expect(problem).toBeNull();
  else expect(problem).toMatch(refusal);
});

test("[PN174] every release that can be upgraded to has the checksums of all machines", () => {
  expect(SHIPPED_KUBERNETES).toContain(KUBERNETES);
  for (const { version, sha256 } of SHIPPED_KUBERNETES) {
    expect(version).toMatch(/^v\d+\.\d+\.\d+\+k3s\d+$/);
    expect(Object.keys(sha256).sort()).toEqual(["aarch64", "x86_64"]);
    for (const sum of Object.values(sha256)) expect(sum).toMatch(/^[0-9a-f]{64}$/);
  }
});

const NOW = new Date("2026-11-19T12:00:00.000Z");
const NEW = { ...KUBERNETES, version: "v1.38.2+k3s1" };
const SHIPPED = [NEW, { ...KUBERNETES, version: "v1.39.0+k3s1" }, KUBERNETES];
const CLUSTER = {
  abandoned_at: null,
  credential_id: "c",
  deletion_requested_at: null,
  agent_count: 2,
  snapshot_bucket: "b",
  kubernetes_release: KUBERNETES,
  session_lease_until: new Date("2026-11-19T12:00:30.000Z"),
  job_action: "create",
  job_status: "succeeded",
} as const;
const WANTED = { release: NEW.version, force: false, last: undefined } as const;
const UNFINISHED = { kubernetes_release: NEW, status: "failed" } as const;
const DONE = { ...CLUSTER, kubernetes_release: NEW, job_action: "scale" } as const;

test.each([
  ["the next minor release", {}, {}, "control-plane"],
  ["a cluster of release 0.1.0", { kubernetes_release: null }, {}, "control-plane"],
  ["one without agents", { agent_count: 0 }, {}, "control-plane"],
  ["no operator, with `force`", { session_lease_until: null }, { force: true }, "control-plane"],
  ["no operator", { session_lease_until: null }, {}, /not connected.*`force`/],
  ["an operator that was connected", { session_lease_until: NOW }, {}, /not connected/],
  [
    "a release that Binnacle does not have",
    {},
    { release: "v1.37.9+k3s1" },
    /does not have v1\.37\.9\+k3s1\. It has v1\.38\.2/,
  ],
  ["a release too far ahead", {}, { release: "v1.39.0+k3s1" }, /one minor release ahead/],
  ["an older release", DONE, { release: KUBERNETES.version }, /never goes back/],
  ["the release that it has", DONE, {}, /has v1\.38\.2\+k3s1 already/],
  ["the release after an upgrade that stopped", DONE, { last: UNFINISHED }, "agent-1"],
  ["the release after one that succeeded", DONE, { last: { ...UNFINISHED, status: "succeeded" } }, /already/],
  ["the release after one to another", DONE, { last: { ...UNFINISHED, kubernetes_release: KUBERNETES } }, /already/],
  ["a cluster without snapshots", { snapshot_bucket: null }, {}, /no bucket/],
  ["a bring-your-own cluster", { credential_id: null }, {}, /has not made/],
  ["a cluster that goes", { deletion_requested_at: NOW }, {}, /being destroyed/],
  ["a job under way", { job_action: "scale", job_status: "running" }, {}, /under way: scale/],
  ["a job that has failed", { job_action: "scale", job_status: "failed" }, {}, /has failed: scale\. Retry it first/],
] as const)("[PV102] an upgrade is allowed or refused for %s", (_, facts, wanted, outcome) => {
  const start = upgradeStart({ ...CLUSTER, ...facts }, { ...WANTED, ...wanted }, NOW, SHIPPED);
  if (typeof outcome === "string") expect(start).toEqual({ target: NEW, node: outcome });
  else expect([start instanceof Fault, (start as Fault).message]).toEqual([true, expect.stringMatching(outcome)]);
});

test("[PV102] a cluster that has no release on record has the one that release 0.1.0 made clusters with", () => {
  const start = upgradeStart(
    { ...CLUSTER, kubernetes_release: null },
    { ...WANTED, release: FIRST_KUBERNETES.version },
    NOW,
  );
  expect((start as Fault).message).toMatch(/already/);
});

test.each([
  ["control-plane", 2, "agent-1"],
  ["agent-1", 2, "agent-2"],
  ["agent-2", 2, null],
  ["control-plane", 0, null],
  ["agent-9", 2, null],
  [null, 2, null],
])("[PN175] after %s of a cluster with %d agents comes %s", (node, agents, next) => {
  expect(nodeAfter(node, agents)).toBe(next);
});

const at = (time: string) => new Date(`2026-11-19T${time}.000Z`);

test.each([
  ["12:45:00", null, 17 * 60_000],
  ["12:59:59", null, 121_000],
  ["12:00:00", null, 60_000],
  ["12:09:59", null, 60_000],
  ["12:10:00", null, 52 * 60_000],
  ["12:10:00", "10:00:00", 52 * 60_000],
  ["12:10:00", "09:10:00", null],
])("[PN176] at %s a job that waits since %s looks again in %d ms", (now, since, waitMs) => {
  expect(snapshotWaitMs(since === null ? null : at(since), at(now))).toBe(waitMs);
});

test.each([
  ["12:00:00", "12:14:59", true],
  ["12:00:00", "12:15:01", false],
  ["12:05:00", "12:04:00", true],
])("[PN176] a snapshot of %s is fresh at %s: %s", (takenAt, now, fresh) => {
  expect(isFresh({ name: "s", takenAt: at(takenAt).toISOString() }, at(now))).toBe(fresh);
});
