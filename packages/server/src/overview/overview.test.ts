import { expect, test } from "vitest";
import type { ClusterFacts } from "../clusters/status.ts";
import { actionOf, attentionItems, clusterTrouble, type Found, fleetOf, overviewOf } from "./overview.ts";

const NOW = new Date("2026-02-01T12:00:00.000Z");
const ago = (minutes: number) => new Date(NOW.getTime() - minutes * 60_000);

const cluster = (changes: Partial<ClusterFacts> = {}): ClusterFacts => ({
  id: "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d13",
  name: "production",
  abandoned_at: null,
  deletion_requested_at: null,
  detach_message: null,
  detach_requested_at: null,
  first_connected_at: ago(100),
  last_heartbeat: ago(0),
  install_journal: null,
  job_id: null,
  job_action: null,
  job_error_message: null,
  job_phase: null,
  job_status: null,
  job_updated_at: null,
  session_lease_until: ago(-1),
  stage: null,
  stage_at: null,
  stage_status: null,
  ...changes,
});
const lost = { session_lease_until: null, last_heartbeat: ago(10) };
const failedJob = { job_id: "j", job_status: "failed", job_phase: "apply", job_updated_at: ago(5) } as const;

test.each<[string, Partial<ClusterFacts>, [string, string, Date | null][]]>([
  ["is connected", {}, []],
  ["has never been connected", { ...lost, first_connected_at: null, last_heartbeat: null }, []],
  ["is disconnected", lost, [["cluster", "disconnected", ago(10)]]],
  [
    "was not installed",
    { stage: "agent", stage_status: "failed", stage_at: ago(7) },
    [["cluster", "install_failed", ago(7)]],
  ],
  ["was not created", { ...lost, ...failedJob, job_action: "create" }, [["cluster", "error", ago(5)]]],
  ["was not scaled", { ...failedJob, job_action: "scale" }, [["provisioning_job", "provisioning_failed", ago(5)]]],
  [
    "was not scaled and is lost",
    { ...lost, ...failedJob, job_action: "scale" },
    [
      ["cluster", "disconnected", ago(10)],
      ["provisioning_job", "provisioning_failed", ago(5)],
    ],
  ],
  ["was given up", { ...lost, ...failedJob, job_action: "scale", abandoned_at: ago(3) }, []],
])("[OV2] [OV4] [CL107] the overview has the right items, or none, for a cluster that %s", (_, facts, expected) => {
  const found = clusterTrouble(cluster(facts), NOW);
  expect(found.map(({ kind, reason, since }) => [kind, reason, since])).toEqual(expected);
});

const found = (id: string, reason: Found["reason"], since: Date | null): Found => ({
  ...{
    kind: "app",
    id,
    name: id,
    namespace: "shop",
    project_id: null,
    cluster_id: null,
    reason,
    cause: id,
    message: null,
    since,
  },
});

test("[OV3] attention lists failures before warnings, the oldest first, and at most fifty items", () => {
  const items = [
    found("new-warning", "drifted", ago(1)),
    found("timeless", "failed", null),
    found("new", "invalid", ago(2)),
    found("old-warning", "degraded", ago(90)),
    found("old", "failed", ago(80)),
  ];
  expect(attentionItems(items).map(({ id, severity }) => [id, severity])).toEqual([
    ["old", "failed"],
    ["new", "failed"],
    ["timeless", "failed"],
    ["old-warning", "warning"],
    ["new-warning", "warning"],
  ]);
  const many = Array.from({ length: 60 }, (_, index) => found(`a${index}`, "failed", ago(index)));
  expect(attentionItems(many)).toHaveLength(50);
  expect(attentionItems(many)[0]?.id).toBe("a59");
});

test("[OV1] [OV3] the overview has a count for every state, and its totals include what is not listed", () => {
  const on = {
    clusters: [cluster(), cluster({ id: "lost", ...lost }), cluster({ id: "gone", ...lost, abandoned_at: ago(3) })],
    appsOn: new Map([["lost", { apps: 3, failing: 1, held_up: 2 }]]),
  };
  const overview = overviewOf(
    {
      ...on,
      projects: [{ state: "ready", count: 2 }],
      apps: [
        { state: "running", count: 5, drifted: 1, blocked: 0, held_up: 0 },
        { state: "failed", count: 2, drifted: 0, blocked: 1, held_up: 0 },
      ],
      addonInstances: [],
      contents: { found: [found("a", "failed", ago(1))], total: 70 },
      tokens: [found("t", "expires_soon", ago(-1))],
    },
    NOW,
  );
  expect(overview).toMatchObject({
    clusters: { total: 3, by_status: { connected: 1, disconnected: 1, abandoned: 1, error: 0 }, stale: 1 },
    projects: {
      total: 2,
      by_lifecycle: { pending: 0, ready: 2, degraded: 0, cleanup_pending: 0, cleanup_degraded: 0 },
    },
    apps: { total: 7, by_phase: { running: 5, failed: 2, paused: 0 }, drifted: 1, blocked: 1, stale: 3 },
    addon_instances: { total: 0, by_phase: { ready: 0 } },
    attention: { total: 72 },
  });
  expect(overview.attention.items.map(({ reason }) => reason)).toEqual(["disconnected", "failed", "expires_soon"]);
  expect(fleetOf(on.clusters, on.appsOn, NOW)).toMatchObject([
    { status: "connected", stale: false, apps: 0, failing: 0 },
    { status: "disconnected", stale: true, apps: 3, failing: 1, held_up: 2 },
    { status: "abandoned", apps: 0 },
  ]);
});

test("[OV10] objects with the same cause on one cluster are one item, with the oldest first and nine others by name", () => {
  const alike = Array.from({ length: 12 }, (_, at) => ({
    ...found(`app-${String(at).padStart(2, "0")}`, "held_up", ago(20 - at)),
    ...{ cause: "ImagePullBackOff", cluster_id: "c" },
  }));
  const elsewhere = { ...found("elsewhere", "held_up", ago(1)), cause: "ImagePullBackOff", cluster_id: "d" };
  const [first, second, ...rest] = attentionItems([elsewhere, ...alike]);
  expect(first).toMatchObject({ name: "app-00", others: 11 });
  expect(first?.others_named.map(({ name }) => name)).toEqual(alike.slice(1, 10).map(({ name }) => name));
  expect(second).toMatchObject({ name: "elsewhere", others: 0, others_named: [] });
  expect(rest).toEqual([]);
  const counted = attentionItems([{ ...found("many", "held_up", ago(1)), alike: 300 }]);
  expect(counted).toMatchObject([{ others: 299, others_named: [] }]);
});

test.each<[Found["reason"], string | null, boolean, string | null]>([
  ["held_up", "ImagePullBackOff", true, "roll_back"],
  ["held_up", "ImagePullBackOff", false, "edit"],
  ["held_up", "OOMKilled", false, "edit"],
  ["held_up", "Unschedulable", true, "see_pods"],
  ["held_up", "CrashLoopBackOff", false, "see_pods"],
  ["rollout_failed", "ProbeFailing", true, "roll_back"],
  ["rollout_failed", null, false, "retry"],
  ["failed", "StartError", false, "edit"],
  ["failed", "InstallFailed", false, "edit"],
  ["failed", "UpgradeFailed", true, "roll_back"],
  ["degraded", "ReplicasMissing", true, "see_pods"],
  ["invalid", "ImageMissing", true, "edit"],
  ["drifted", null, true, null],
  ["blocked_sync", null, true, null],
])(
  "[OV11] the trouble %s by %s of an app with an earlier revision that has run (%s) has the action %s",
  (reason, cause, hasRun, action) => {
    expect(actionOf({ kind: "app", reason, cause, hasRun })).toBe(action);
  },
);

test.each<[Found["reason"], string | null, boolean, string | null]>([
  ["failed", "InstallFailed", false, "edit"],
  ["failed", "InstallFailed", true, "edit"],
  ["failed", "UpgradeFailed", true, "roll_back"],
  ["failed", "ImagePullBackOff", false, "edit"],
  ["failed", "Unschedulable", false, null],
  ["degraded", "ReplicasMissing", true, null],
  ["drifted", null, true, null],
])(
  "[OV332] the trouble %s by %s of an addon instance with an earlier revision (%s) has the action %s",
  (reason, cause, hasRun, action) => {
    expect(actionOf({ kind: "addon_instance", reason, cause, hasRun })).toBe(action);
  },
);

test("[OV333] apps with one cause whose troubles are resolved by different steps are different items", () => {
  const pulling = (id: string, hasRun: boolean) => ({
    ...found(id, "held_up", ago(5)),
    ...{ cause: "ImagePullBackOff", cluster_id: "c", hasRun },
  });
  const items = attentionItems([pulling("a", true), pulling("b", false), pulling("c", true)]);
  expect(items.map(({ name, action, others }) => [name, action, others])).toEqual([
    ["a", "roll_back", 1],
    ["b", "edit", 0],
  ]);
});
