import type { ProjectReport } from "@binnacle/contract";
import { expect, test } from "vitest";
import { NEVER_SUSPENDED } from "../suspensions/suspension.ts";
import type { Lifecycle, Project } from "./project.ts";
import { FIRST_POLICY } from "./project-policy.ts";
import { projectAfterReport, projectBody, type SeenProject } from "./project-sync.ts";

const AT = new Date("2026-01-31T09:30:00Z");
const project = (
  lifecycle: Lifecycle["lifecycle"],
  reason: Lifecycle["lifecycle_reason"] = null,
  more: Partial<SeenProject> = {},
): SeenProject => ({
  id: "p",
  org_id: "o",
  cluster_id: "c",
  name: "shop",
  namespace: "shop",
  lifecycle,
  lifecycle_reason: reason,
  lifecycle_message: null,
  ...FIRST_POLICY,
  ...NEVER_SUSPENDED,
  cluster_suspended_at: null,
  reported_at: null,
  created_at: AT,
  updated_at: AT,
  ...more,
});

const shown = ({ lifecycle, lifecycle_reason, lifecycle_message }: Project) =>
  [lifecycle, lifecycle_reason, lifecycle_message] as const;

test.each<[ProjectReport["state"], SeenProject, ReturnType<typeof shown>]>([
  ["ready", project("pending"), ["ready", null, null]],
  ["ready", project("degraded", "apply_failed"), ["ready", null, null]],
  ["apply_failed", project("pending"), ["degraded", "apply_failed", "why"]],
  ["namespace_conflict", project("pending"), ["degraded", "namespace_conflict", "why"]],
  ["cleanup_blocked", project("cleanup_pending"), ["cleanup_pending", "cleanup_degraded", "why"]],
])("[DS14] the report %s sets lifecycle, reason and message of the project", (state, before, after) => {
  expect(shown(projectAfterReport(before, { state, message: "why" }))).toEqual(after);
});

test.each<[ProjectReport["state"], SeenProject]>([
  ["ready", project("ready")],
  ["ready", project("cleanup_pending")],
  ["apply_failed", project("cleanup_pending")],
  ["cleaning", project("cleanup_pending")],
  ["cleanup_blocked", project("ready")],
])("[DS14] the report %s leaves a project alone that it does not concern", (state, before) => {
  expect(projectAfterReport(before, { state, message: "why" })).toBe(before);
});

test.each<[ProjectReport["state"], SeenProject]>([
  ["apply_failed", project("pending")],
  ["namespace_conflict", project("pending")],
  ["cleanup_blocked", project("cleanup_pending")],
])("[DS14] the report %s without a message gets a message for people", (state, before) => {
  expect(projectAfterReport(before, { state, message: null }).lifecycle_message).toMatch(/^[A-Z].*\.$/);
});

const HELD = { suspended_at: AT } as const;

test.each<[string, Partial<SeenProject>, boolean | undefined, boolean | null]>([
  ["of its own that the operator confirms", HELD, true, true],
  ["of its own that the operator does not know", HELD, undefined, false],
  ["of its cluster that the operator confirms", { cluster_suspended_at: AT }, true, true],
  ["of its cluster that the operator does not know", { cluster_suspended_at: AT }, undefined, false],
  ["that has ended on the way", {}, true, null],
])("[SN3] a report of a project keeps whether it holds the suspension %s", (_, more, suspended, expected) => {
  const report = { state: "ready", message: null, ...(suspended === undefined ? {} : { suspended }) } as const;
  expect(projectAfterReport(project("ready", null, more), report).suspension_reported).toBe(expected);
});

test.each<[string, Date | null, Date | null, true | undefined]>([
  ["neither is", null, null, undefined],
  ["the project is", AT, null, true],
  ["its cluster is", null, AT, true],
  ["both are", AT, AT, true],
])(
  "[SN2] the operator is told that nothing in a project is to be touched where %s suspended",
  (_, own, around, told) => {
    const body = projectBody(project("ready", null, { suspended_at: own }), null, { suspended_at: around });
    expect(body.spec.suspended).toBe(told);
  },
);
