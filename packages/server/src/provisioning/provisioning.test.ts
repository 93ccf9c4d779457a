import { PROVISIONING_STATUSES } from "@binnacle/contract";
import { describe, expect, test } from "vitest";
import {
  acceptsEvents,
  cancellationOf,
  destroyPlanProblem,
  lineAfter,
  logText,
  retryProblem,
  scaleProblem,
} from "./provisioning.ts";

describe("a retry", () => {
  test.each(PROVISIONING_STATUSES.filter((status) => status !== "failed"))("[PV6] of a %s job is refused", (status) => {
    expect(retryProblem({ id: "a", status, dry_run: false }, "a")?.detail).toBe(
      `Only a failed job can be retried; this one is ${status}.`,
    );
  });

  test("[PV6] is for the newest job of its cluster", () => {
    expect(retryProblem({ id: "a", status: "failed", dry_run: false }, "a")).toBeNull();
    expect(retryProblem({ id: "a", status: "failed", dry_run: false }, "b")?.kind).toBe("conflict");
  });

  test("[PV12] is not for a dry run", () => {
    expect(retryProblem({ id: "a", status: "failed", dry_run: true }, "a")?.message).toMatch(/Ask for a new one/);
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
  ] as const)("[CL41] of %s", (_, facts, refusal) => {
    const problem = scaleProblem({ ...CREATED, ...facts });
    if (refusal === null) expect(problem).toBeNull();
    else expect(problem?.message).toMatch(refusal);
  });
});

test("[PV4] a log is its lines, and null where there is none", () => {
  expect(logText([])).toBeNull();
  expect(logText(["Plan: 7 to add.", "Apply complete!"])).toBe("Plan: 7 to add.\nApply complete!\n");
});

describe("a plan of a destruction", () => {
  const MADE = { credential_id: "c", deletion_requested_at: null };
  test.each([
    ["a cluster of Binnacle's making", MADE, [], null],
    ["a bring-your-own cluster", { ...MADE, credential_id: null }, [], /no infrastructure/],
    ["one being destroyed", { ...MADE, deletion_requested_at: new Date(0) }, [], /being destroyed/],
    ["one with projects", MADE, ["shop"], /still has projects: shop/],
  ] as const)("[PV10] of %s", (_, cluster, projects, refusal) => {
    const problem = destroyPlanProblem(cluster, projects);
    if (refusal === null) expect(problem).toBeNull();
    else expect(problem?.message).toMatch(refusal);
  });
});

test.each([
  ["pending", null, null, "fail"],
  ["running", null, null, "request"],
  ["running", new Date(0), null, "requested"],
  ["running", null, new Date(0), "fail"],
  ["succeeded", null, null, "conflict"],
  ["failed", null, null, "conflict"],
] as const)(
  "[PV15] a cancellation of a %s job (requested at %s, waits until %s) is to %s",
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
])("[PV21] Last-Event-ID %j reads after the line %d", (given, expected) => {
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
])("[PV20] Accept %j asks for events: %s", (accept, expected) => {
  expect(acceptsEvents(accept)).toBe(expected);
});
