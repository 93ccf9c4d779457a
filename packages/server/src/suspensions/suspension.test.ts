import { expect, test } from "vitest";
import { NOT_SUSPENDED, type SurroundingSuspension, shownSuspension } from "./suspension.ts";

const AT = new Date("2026-01-31T09:30:00Z");
const OWN = { suspended_at: AT, suspended_by: "ada@example.com", suspended_reason: "Mine.", suspension_reported: null };
const around = (scope: SurroundingSuspension["scope"], reported: boolean | null = null): SurroundingSuspension => ({
  scope,
  at: "2026-01-30T09:30:00+00:00",
  by: "bob@example.com",
  reason: null,
  reported,
});

test.each([
  ["nothing is", NOT_SUSPENDED, null, null],
  ["it is", OWN, null, ["app", "ada@example.com"]],
  ["its project is", NOT_SUSPENDED, around("project"), ["project", "bob@example.com"]],
  ["its cluster is", NOT_SUSPENDED, around("cluster"), ["cluster", "bob@example.com"]],
  ["it and its project are", OWN, around("project"), ["app", "ada@example.com"]],
] as const)("[SN4] an app shows the nearest suspension: %s suspended", (_, own, surrounding_suspension, expected) => {
  const shown = shownSuspension("app", own, { surrounding_suspension });
  expect(shown && [shown.scope, shown.by]).toEqual(expected);
});

test.each([
  ["nothing is reported", null, null, "pending"],
  ["nothing is reported, and the operator knows of it", null, true, "pending"],
  ["the operator is too old", null, false, "not_in_effect"],
  ["it is confirmed", true, true, "in_effect"],
  ["it is reported as not held", false, true, "not_in_effect"],
  ["an older operator has taken over since", true, false, "not_in_effect"],
] as const)("[SN3] a suspension whose state is read where %s", (_, reported, operator_suspends, state) => {
  const own = { ...OWN, suspension_reported: reported };
  expect(shownSuspension("project", own, { operator_suspends })?.state).toBe(state);
  const held = { operator_suspends, surrounding_suspension: around("cluster", reported) };
  expect(shownSuspension("project", NOT_SUSPENDED, held)?.state).toBe(state);
});
