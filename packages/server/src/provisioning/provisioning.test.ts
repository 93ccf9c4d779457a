import { PROVISIONING_STATUSES } from "@binnacle/contract";
import { describe, expect, test } from "vitest";
import { logText, retryProblem, scaleProblem } from "./provisioning.ts";

describe("a retry", () => {
  test.each(PROVISIONING_STATUSES.filter((status) => status !== "failed"))("[PV6] of a %s job is refused", (status) => {
    expect(retryProblem({ id: "a", status }, "a")?.detail).toBe(
      `Only a failed job can be retried; this one is ${status}.`,
    );
  });

  test("[PV6] is for the newest job of its cluster", () => {
    expect(retryProblem({ id: "a", status: "failed" }, "a")).toBeNull();
    expect(retryProblem({ id: "a", status: "failed" }, "b")?.kind).toBe("conflict");
  });
});

describe("a change of size", () => {
  const CREATED = {
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
