import { PROVISIONING_STATUSES } from "@binnacle/contract";
import { describe, expect, test } from "vitest";
import {
  acceptsEvents,
  cancellationOf,
  lineAfter,
  logText,
  plannedNodeCount,
  planProblem,
  replaceProblem,
  retryProblem,
  scaleProblem,
} from "./provisioning.ts";

const FAILED = { id: "a", status: "failed", dry_run: false, error_code: null } as const;

describe("a retry", () => {
  test.each(PROVISIONING_STATUSES.filter((status) => status !== "failed"))(
    "[PV6] a retry of a %s job is refused",
    (status) => {
      expect(retryProblem({ ...FAILED, status }, "a")?.detail).toBe(
        `Only a failed job can be retried; this one is ${status}.`,
      );
    },
  );

  test("[PV6] only the newest job of a cluster can be retried", () => {
    expect(retryProblem(FAILED, "a")).toBeNull();
    expect(retryProblem(FAILED, "b")?.kind).toBe("conflict");
  });

  test("[PV12] a dry run cannot be retried", () => {
    expect(retryProblem({ ...FAILED, dry_run: true }, "a")?.message).toMatch(/Ask for a new one/);
  });

  test("[PV101] a job whose plan is out of date cannot be retried: it would be compared with the same plan", () => {
    for (const newest of ["a", "b", undefined]) {
      expect(retryProblem({ ...FAILED, error_code: "plan_changed" }, newest)?.message).toMatch(/Look at a new plan/);
    }
  });
});

describe("a change of size", () => {
  const CREATED = {
    abandoned_at: null,
    credential_id: "c",
    deletion_requested_at: null,
    job_action: "create",
    job_status: "succeeded",
  } as const;

  test.each([
    ["a created cluster", {}, null],
    ["one scaled before", { job_action: "scale" }, null],
    ["one whose last change failed", { job_action: "scale", job_status: "failed" }, null],
    ["a bring-your-own cluster", { credential_id: null, job_action: null, job_status: null }, /bring-your-own/],
    ["one in the making", { job_status: "running" }, /under way: create/],
    ["one whose change is queued", { job_action: "scale", job_status: "pending" }, /under way: scale/],
    ["one that was not created", { job_status: "failed" }, /retry its provisioning job/],
    ["an abandoned one", { abandoned_at: new Date(0) }, /abandoned/],
    ["one being destroyed", { deletion_requested_at: new Date(0), job_action: "destroy" }, /being destroyed/],
  ] as const)("[CL41] a change of size is allowed or refused for %s", (_, facts, refusal) => {
    const problem = scaleProblem({ ...CREATED, ...facts });
    if (refusal === null) expect(problem).toBeNull();
    else expect(problem?.message).toMatch(refusal);
  });
});

const MADE_CLUSTER = {
  abandoned_at: null,
  credential_id: "c",
  deletion_requested_at: null,
  agent_count: 2,
  snapshot_bucket: null,
  job_action: "create",
  job_status: "succeeded",
} as const;

test.each([
  ["an agent", {}, "agent-2", null],
  ["one after a change of size", { job_action: "scale" }, "agent-1", null],
  ["an agent that there is not", {}, "agent-3", /^Node not found/],
  ["the control plane without snapshots", {}, "control-plane", /cannot be replaced/],
  ["the control plane without `force`", { snapshot_bucket: "b" }, "control-plane", /newest snapshot.*`force`/],
  ["a node of a bring-your-own cluster", { credential_id: null, agent_count: null }, "agent-1", /has not made/],
  ["one while another job runs", { job_action: "scale", job_status: "running" }, "agent-1", /under way: scale/],
  ["one after a change that failed", { job_action: "scale", job_status: "failed" }, "agent-1", /has failed: scale/],
] as const)("[CL436] the replacement of %s is allowed or refused", (_, facts, node, refusal) => {
  const problem = replaceProblem({ ...MADE_CLUSTER, ...facts }, node, false);
  if (refusal === null) expect(problem).toBeNull();
  else expect(problem?.message).toMatch(refusal);
});

test.each([
  ["succeeded", "b", null],
  // The job that has found out that the control plane is gone.
  ["failed", "b", null],
  ["running", "b", /under way/],
  ["succeeded", null, /no bucket has snapshots/],
] as const)(
  "[CL438] a restore of the control plane after a job that has %s, with the bucket %s",
  (job_status, snapshot_bucket, refusal) => {
    const cluster = { ...MADE_CLUSTER, job_action: "scale", job_status, snapshot_bucket } as const;
    const problem = replaceProblem(cluster, "control-plane", true);
    if (refusal === null) expect(problem).toBeNull();
    else expect(problem?.message).toMatch(refusal);
  },
);

test("[PV4] the log of a job is its lines, and null where there is none", () => {
  expect(logText([])).toBeNull();
  expect(logText(["Plan: 7 to add.", "Apply complete!"])).toBe("Plan: 7 to add.\nApply complete!\n");
});

describe("a plan of a destruction", () => {
  const MADE = { ...MADE_CLUSTER, credential_id: "c" };
  test.each([
    ["a cluster of Binnacle's making", MADE, [], null],
    ["a bring-your-own cluster", { ...MADE, credential_id: null }, [], /no infrastructure/],
    ["one being destroyed", { ...MADE, deletion_requested_at: new Date(0) }, [], /being destroyed/],
    ["one with projects", MADE, ["shop"], /still has projects: shop/],
  ] as const)("[PV10] a plan of a destruction is allowed or refused for %s", (_, cluster, projects, refusal) => {
    const problem = planProblem(cluster, { action: "destroy" }, projects);
    if (refusal === null) expect(problem).toBeNull();
    else expect(problem?.message).toMatch(refusal);
  });
});

test.each([
  ["an agent", "agent-2", null],
  ["an agent that there is not", "agent-3", /^Node not found/],
  ["the control plane without snapshots", "control-plane", /cannot be replaced/],
])("[PV10] a plan of the replacement of %s is allowed or refused as the replacement", (_, node, refusal) => {
  const problem = planProblem(MADE_CLUSTER, { action: "replace", node }, []);
  if (refusal === null) expect(problem).toBeNull();
  else expect(problem?.message).toMatch(refusal);
  expect(plannedNodeCount(MADE_CLUSTER, { action: "replace", node })).toBe(3);
});

test("[PV10] a plan of the replacement of the control plane takes no `force`: it loses nothing", () => {
  const planned = { action: "replace", node: "control-plane" } as const;
  expect(planProblem({ ...MADE_CLUSTER, snapshot_bucket: "b" }, planned, [])).toBeNull();
});

test.each([
  ["pending", null, null, "fail"],
  ["running", null, null, "request"],
  ["running", new Date(0), null, "requested"],
  ["running", null, new Date(0), "fail"],
  ["succeeded", null, null, "conflict"],
  ["failed", null, null, "conflict"],
] as const)(
  "[PV15] the decision on cancelling a %s job (requested at %s, waits until %s) is %s",
  (status, cancel_requested_at, waits_until, expected) => {
    const cancellation = cancellationOf({ status, cancel_requested_at, waits_until });
    expect(typeof cancellation === "string" ? cancellation : cancellation.kind).toBe(expected);
  },
);

test.each([
  ["41", 41],
  ["0", 0],
  [undefined, 0],
  ["", 0],
  ["-1", 0],
  ["1e3", 0],
  ["9".repeat(16), 0],
  [["1", "2"], 0],
])("[PV21] a log stream with Last-Event-ID %j begins after the line %d", (given, expected) => {
  expect(lineAfter(given)).toBe(expected);
});

test.each([
  [undefined, false],
  ["*/*", false],
  ["application/json", false],
  ["text/event-stream", true],
  ["application/json, text/event-stream;q=0.5", true],
  ["Text/Event-Stream , */*", true],
  ["text/event-streams", false],
])("[PV20] a request with Accept %j asks for events: %s", (accept, expected) => {
  expect(acceptsEvents(accept)).toBe(expected);
});
