import {
  CLUSTER_STATUSES,
  type ClusterStatus,
  PROVISIONING_ACTIONS,
  PROVISIONING_PHASES,
  PROVISIONING_STATUSES,
  type ProvisioningAction,
  type ProvisioningPhase,
  type ProvisioningStatus,
  STAGE_STATUSES,
  STAGES,
  type Stage,
  type StageStatus,
} from "@binnacle/contract";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Cluster } from "./cluster.ts";
import { messageOf, type StatusFacts, statusAnnouncement, statusOf } from "./status.ts";

const NOW = new Date("2026-03-01T12:00:00.000Z");
const later = (ms: number) => new Date(NOW.getTime() + ms);

const NOTHING: StatusFacts = {
  abandoned_at: null,
  deletion_requested_at: null,
  first_connected_at: null,
  install_journal: null,
  job_action: null,
  job_error_message: null,
  job_phase: null,
  job_status: null,
  session_lease_until: null,
  stage: null,
  stage_status: null,
};

const job = (action: ProvisioningAction, status: ProvisioningStatus, phase: ProvisioningPhase = "apply") => ({
  job_action: action,
  job_status: status,
  job_phase: phase,
  job_error_message: status === "failed" ? "No capacity." : null,
});
const stage = (name: Stage, status: StageStatus) => ({ stage: name, stage_status: status });
const ended = (...stages: Stage[]) => ({
  install_journal: stages.map((name) => ({ stage: name, status: "completed" })),
});
const LIVE = { session_lease_until: later(1), first_connected_at: later(-60_000) };
const LOST = { session_lease_until: later(0), first_connected_at: later(-60_000) };
const GONE = { session_lease_until: null, first_connected_at: later(-60_000) };
const GIVEN_UP = { abandoned_at: later(-2) };
const DELETED = { deletion_requested_at: later(-1) };
const CREATED = job("create", "succeeded", "done");

type Row = readonly [what: string, facts: Partial<StatusFacts>, status: ClusterStatus];

const TABLE: readonly Row[] = [
  ["[CL21] a record and nothing else", {}, "pending"],
  ["[CL23] pending, and the operator's handshake reaches the hub", LIVE, "connected"],
  ["[CL23] connected, and the lease of the session has run out", LOST, "disconnected"],
  ["[CL23] connected, and the hub has ended the session", GONE, "disconnected"],
  ["[CL23] disconnected, and the operator is back", LIVE, "connected"],

  ["[CL22] a creation that is queued", job("create", "pending", "init"), "provisioning"],
  ["[CL22] a creation under way", job("create", "running", "bootstrap"), "provisioning"],
  ["[CL22] machines up and bootstrapped", job("create", "running", "operator"), "awaiting_operator"],
  ["[CL22] a creation that is done", CREATED, "awaiting_operator"],
  ["[CL22] a creation that is done, and the operator connected", { ...CREATED, ...LIVE }, "connected"],
  ["[CL22] a retried creation", job("create", "pending", "apply"), "provisioning"],
  ["[CL23] a provisioned cluster whose session is lost", { ...CREATED, ...LOST }, "disconnected"],
  ["[CL26] a creation that failed", job("create", "failed"), "error"],
  ["[CL26] a creation that failed while the operator was awaited", job("create", "failed", "operator"), "error"],
  ["[CL26] a change of size that failed", { ...job("scale", "failed"), ...LIVE }, "connected"],
  ["[CL26] a change of size under way", { ...job("scale", "running"), ...LIVE }, "connected"],

  ["[CL24] the first stage has started", stage("preflight", "started"), "installing"],
  ["[CL24] a stage ended and the next is to come", stage("k3s-server", "completed"), "installing"],
  ["[CL24] a stage started on a connected cluster", { ...LIVE, ...stage("backup", "started") }, "installing"],
  [
    "[CL24] a stage started while provisioning",
    { ...job("create", "running"), ...stage("agent", "started") },
    "installing",
  ],
  ["[CL24] a component stage failed", stage("platform-storage", "failed"), "install_failed"],
  ["[CL24] a stage failed on a connected cluster", { ...LIVE, ...stage("agent", "failed") }, "install_failed"],
  ["[CL24] the verification failed", stage("verify", "failed"), "install_failed"],
  ["[CL24] after a failure, the next stage has started", stage("platform-storage", "started"), "installing"],
  ["[CL25] verified, and connected", { ...LIVE, ...stage("verify", "completed") }, "connected"],
  ["[CL25] verified, and never connected", stage("verify", "completed"), "awaiting_operator"],
  ["[CL25] verified, and the session lost", { ...LOST, ...stage("verify", "completed") }, "disconnected"],
  ["[CL25] an upgrade recorded, and connected", { ...LIVE, ...stage("record", "completed") }, "connected"],
  [
    "[CL25] an upgrade recorded, after an install",
    {
      ...LIVE,
      ...stage("record", "completed"),
      ...ended("k3s-server", "record", "verify", "backup", "verify", "record"),
    },
    "connected",
  ],
  [
    "[CL25] an install recorded, and not verified yet",
    { ...LIVE, ...stage("record", "completed"), ...ended("verify", "preflight", "k3s-server", "profiles", "record") },
    "installing",
  ],

  ["[CL107] given up", { ...GIVEN_UP, first_connected_at: later(-5) }, "abandoned"],
  ["[CL107] given up, and its operator is back", { ...GIVEN_UP, ...LIVE }, "abandoned"],
  ["[CL107] given up after a failed creation", { ...GIVEN_UP, ...job("create", "failed") }, "abandoned"],
  ["[CL107] given up, and deletion asked for", { ...GIVEN_UP, ...DELETED, ...job("destroy", "running") }, "destroying"],

  ["[CL27] deletion asked for", { ...DELETED, ...job("destroy", "pending", "init") }, "destroying"],
  ["[CL27] destruction under way", { ...DELETED, ...LIVE, ...job("destroy", "running") }, "destroying"],
  ["[CL27] destruction during an installation", { ...DELETED, ...stage("agent", "failed") }, "destroying"],
  ["[CL26] a destruction that failed", { ...DELETED, ...LIVE, ...job("destroy", "failed") }, "error"],
];

describe("the status of a cluster", () => {
  test.each(TABLE)("%s", (_, facts, status) => {
    expect(statusOf({ ...NOTHING, ...facts }, NOW)).toBe(status);
  });

  test("[CL20] every status is reached by some facts", () => {
    expect(new Set(TABLE.map(([, , status]) => status))).toEqual(new Set(CLUSTER_STATUSES));
  });

  const time = fc.option(fc.integer({ min: -10, max: 10 }).map(later));
  const anyStage = fc.constantFrom<Stage>(...(STAGES as readonly Stage[]));
  const anyFacts: fc.Arbitrary<StatusFacts> = fc.record({
    abandoned_at: time,
    deletion_requested_at: time,
    first_connected_at: time,
    install_journal: fc.option(
      fc.array(fc.record({ stage: anyStage, status: fc.constantFrom("completed", "failed") })),
    ),
    session_lease_until: time,
    job_action: fc.option(fc.constantFrom(...PROVISIONING_ACTIONS)),
    job_status: fc.option(fc.constantFrom(...PROVISIONING_STATUSES)),
    job_phase: fc.option(fc.constantFrom(...PROVISIONING_PHASES)),
    job_error_message: fc.option(fc.string()),
    stage: fc.option(anyStage),
    stage_status: fc.option(fc.constantFrom(...STAGE_STATUSES)),
  });

  test("[CL27] whatever is on record, a cluster marked for deletion is being destroyed or in error", () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        expect(["destroying", "error"]).toContain(statusOf({ ...facts, deletion_requested_at: NOW }, NOW));
      }),
    );
  });

  test("[CL26] there is a message in error and in no other state", () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        const isError = statusOf(facts, NOW) === "error";
        expect(messageOf(facts, NOW)).toBe(isError ? facts.job_error_message : null);
      }),
    );
  });

  test("[CL23] time alone takes a connected cluster to disconnected, and no other anywhere", () => {
    fc.assert(
      fc.property(anyFacts, fc.integer({ min: 0, max: 20 }), (facts, ms) => {
        const known = { ...facts, first_connected_at: later(-10) };
        const [before, after] = [statusOf(known, NOW), statusOf(known, later(ms))];
        expect([before, after]).toEqual([before, before === "connected" && after !== before ? "disconnected" : before]);
      }),
    );
  });
});

describe("what is announced of it", () => {
  const cluster = (facts: Partial<StatusFacts>) =>
    ({ id: "c", org_id: "o", name: "production", last_heartbeat: null, ...NOTHING, ...facts }) as unknown as Cluster;

  test("[CL28] a change of status, with what explains it", () => {
    const failed = cluster(job("create", "failed"));
    expect(statusAnnouncement(cluster(job("create", "running")), failed, NOW)).toEqual({
      type: "cluster-status",
      org_id: "o",
      cluster_id: "c",
      resource: { type: "cluster", id: "c", name: "production" },
      status: "error",
      message: "No capacity.",
      observed_at: null,
      stale: true,
    });
  });

  test("[CL28] the first status, and nothing where it stayed the same", () => {
    expect(statusAnnouncement(null, cluster({}), NOW)).toMatchObject({ status: "pending", message: null });
    expect(statusAnnouncement(cluster(LIVE), cluster({ ...LIVE, ...job("scale", "running") }), NOW)).toBeNull();
  });
});
