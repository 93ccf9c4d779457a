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
  detach_message: null,
  detach_requested_at: null,
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
  ["[CL21] a cluster with nothing but its record is pending", {}, "pending"],
  ["[CL23] a pending cluster whose operator reaches the hub is connected", LIVE, "connected"],
  ["[CL23] a connected cluster whose session's lease has run out is disconnected", LOST, "disconnected"],
  ["[CL23] a connected cluster whose session the hub has ended is disconnected", GONE, "disconnected"],
  ["[CL23] a disconnected cluster whose operator is back is connected", LIVE, "connected"],

  ["[CL22] a cluster whose creation is queued is provisioning", job("create", "pending", "init"), "provisioning"],
  ["[CL22] a cluster whose creation is running is provisioning", job("create", "running", "bootstrap"), "provisioning"],
  [
    "[CL22] a cluster whose machines are bootstrapped is awaiting_operator",
    job("create", "running", "operator"),
    "awaiting_operator",
  ],
  ["[CL22] a cluster whose creation is done is awaiting_operator", CREATED, "awaiting_operator"],
  ["[CL22] a created cluster whose operator has connected is connected", { ...CREATED, ...LIVE }, "connected"],
  ["[CL22] a cluster whose creation is retried is provisioning", job("create", "pending", "apply"), "provisioning"],
  ["[CL23] a provisioned cluster whose session is lost is disconnected", { ...CREATED, ...LOST }, "disconnected"],
  ["[CL26] a cluster whose creation failed is in error", job("create", "failed"), "error"],
  [
    "[CL26] a cluster whose creation failed in the operator phase is in error",
    job("create", "failed", "operator"),
    "error",
  ],
  ["[CL26] a cluster whose change of size failed stays connected", { ...job("scale", "failed"), ...LIVE }, "connected"],
  [
    "[CL26] a cluster whose change of size is running stays connected",
    { ...job("scale", "running"), ...LIVE },
    "connected",
  ],

  ["[CL24] a cluster whose first install stage has started is installing", stage("preflight", "started"), "installing"],
  ["[CL24] a cluster between two install stages is installing", stage("k3s-server", "completed"), "installing"],
  [
    "[CL24] a connected cluster with a started install stage is installing",
    { ...LIVE, ...stage("backup", "started") },
    "installing",
  ],
  [
    "[CL24] a provisioning cluster with a started install stage is installing",
    { ...job("create", "running"), ...stage("agent", "started") },
    "installing",
  ],
  [
    "[CL24] a cluster whose component stage failed is install_failed",
    stage("platform-storage", "failed"),
    "install_failed",
  ],
  [
    "[CL24] a connected cluster with a failed stage is install_failed",
    { ...LIVE, ...stage("agent", "failed") },
    "install_failed",
  ],
  ["[CL24] a cluster whose verification failed is install_failed", stage("verify", "failed"), "install_failed"],
  [
    "[CL24] a cluster with a stage started after a failure is installing",
    stage("platform-storage", "started"),
    "installing",
  ],
  ["[CL25] a verified and connected cluster is connected", { ...LIVE, ...stage("verify", "completed") }, "connected"],
  [
    "[CL25] a verified cluster that never connected is awaiting_operator",
    stage("verify", "completed"),
    "awaiting_operator",
  ],
  [
    "[CL25] a verified cluster whose session is lost is disconnected",
    { ...LOST, ...stage("verify", "completed") },
    "disconnected",
  ],
  [
    "[CL25] a connected cluster with a recorded upgrade is connected",
    { ...LIVE, ...stage("record", "completed") },
    "connected",
  ],
  [
    "[CL25] a connected cluster with a recorded upgrade after an install is connected",
    {
      ...LIVE,
      ...stage("record", "completed"),
      ...ended("k3s-server", "record", "verify", "backup", "verify", "record"),
    },
    "connected",
  ],
  [
    "[CL25] a connected cluster with a recorded but unverified install is installing",
    { ...LIVE, ...stage("record", "completed"), ...ended("verify", "preflight", "k3s-server", "profiles", "record") },
    "installing",
  ],

  [
    "[CL112] a cluster that is let go is detaching",
    { ...GIVEN_UP, detach_requested_at: later(-2), ...LIVE },
    "detaching",
  ],
  [
    "[CL112] a cluster that is let go is detaching while its operator is away",
    { ...GIVEN_UP, detach_requested_at: later(-2), ...GONE },
    "detaching",
  ],
  ["[CL107] a cluster that was given up is abandoned", { ...GIVEN_UP, first_connected_at: later(-5) }, "abandoned"],
  [
    "[CL107] a cluster that was given up stays abandoned when its operator is back",
    { ...GIVEN_UP, ...LIVE },
    "abandoned",
  ],
  [
    "[CL107] a cluster that was given up after a failed creation is abandoned",
    { ...GIVEN_UP, ...job("create", "failed") },
    "abandoned",
  ],
  [
    "[CL107] a cluster that was given up and is being deleted is destroying",
    { ...GIVEN_UP, ...DELETED, ...job("destroy", "running") },
    "destroying",
  ],

  [
    "[CL27] a cluster whose deletion was requested is destroying",
    { ...DELETED, ...job("destroy", "pending", "init") },
    "destroying",
  ],
  [
    "[CL27] a cluster whose destruction is running is destroying",
    { ...DELETED, ...LIVE, ...job("destroy", "running") },
    "destroying",
  ],
  [
    "[CL27] a cluster deleted during its installation is destroying",
    { ...DELETED, ...stage("agent", "failed") },
    "destroying",
  ],
  [
    "[CL26] a cluster whose destruction failed is in error",
    { ...DELETED, ...LIVE, ...job("destroy", "failed") },
    "error",
  ],
];

describe("the status of a cluster", () => {
  test.each(TABLE)("%s", (_, facts, status) => {
    expect(statusOf({ ...NOTHING, ...facts }, NOW)).toBe(status);
  });

  test("[CL20] every status of a cluster is reached by some facts", () => {
    expect(new Set(TABLE.map(([, , status]) => status))).toEqual(new Set(CLUSTER_STATUSES));
  });

  const time = fc.option(fc.integer({ min: -10, max: 10 }).map(later));
  const anyStage = fc.constantFrom<Stage>(...(STAGES as readonly Stage[]));
  const anyFacts: fc.Arbitrary<StatusFacts> = fc.record({
    abandoned_at: time,
    detach_message: fc.option(fc.string()),
    detach_requested_at: time,
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

  test("[CL27] a cluster marked for deletion is destroying or in error, whatever is on record", () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        expect(["destroying", "error"]).toContain(statusOf({ ...facts, deletion_requested_at: NOW }, NOW));
      }),
    );
  });

  test("[CL26] [CL114] a cluster has a message in error, has that of its operator while it is being detached, and has none otherwise", () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        const messages: Partial<Record<ClusterStatus, string | null>> = {
          error: facts.job_error_message,
          detaching: facts.detach_message,
        };
        expect(messageOf(facts, NOW)).toBe(messages[statusOf(facts, NOW)] ?? null);
      }),
    );
  });

  test("[CL23] time alone changes the status of a cluster only from connected to disconnected", () => {
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
    ({
      id: "c",
      org_id: "o",
      name: "production",
      last_heartbeat: null,
      suspended_at: null,
      ...NOTHING,
      ...facts,
    }) as unknown as Cluster;

  test("[CL28] a change of status is announced with its message", () => {
    const failed = cluster(job("create", "failed"));
    expect(statusAnnouncement(cluster(job("create", "running")), failed, NOW)).toEqual({
      type: "cluster-status",
      org_id: "o",
      cluster_id: "c",
      resource: { type: "cluster", id: "c", name: "production" },
      status: "error",
      message: "No capacity.",
      suspended: false,
      observed_at: null,
      stale: true,
    });
  });

  test("[CL28] the first status is announced, and an unchanged status is not", () => {
    expect(statusAnnouncement(null, cluster({}), NOW)).toMatchObject({ status: "pending", message: null });
    expect(statusAnnouncement(cluster(LIVE), cluster({ ...LIVE, ...job("scale", "running") }), NOW)).toBeNull();
  });
});
