import type { ProjectReport } from "@binnacle/contract";
import { expect, test } from "vitest";
import type { Lifecycle, Project } from "./project.ts";
import { FIRST_POLICY } from "./project-policy.ts";
import { projectAfterReport } from "./project-sync.ts";

const AT = new Date("2026-01-31T09:30:00Z");
const project = (lifecycle: Lifecycle["lifecycle"], reason: Lifecycle["lifecycle_reason"] = null): Project => ({
  id: "p",
  org_id: "o",
  cluster_id: "c",
  name: "shop",
  namespace: "shop",
  lifecycle,
  lifecycle_reason: reason,
  lifecycle_message: null,
  ...FIRST_POLICY,
  reported_at: null,
  created_at: AT,
  updated_at: AT,
});

const shown = ({ lifecycle, lifecycle_reason, lifecycle_message }: Project) =>
  [lifecycle, lifecycle_reason, lifecycle_message] as const;

test.each<[ProjectReport["state"], Project, ReturnType<typeof shown>]>([
  ["ready", project("pending"), ["ready", null, null]],
  ["ready", project("degraded", "apply_failed"), ["ready", null, null]],
  ["apply_failed", project("pending"), ["degraded", "apply_failed", "why"]],
  ["namespace_conflict", project("pending"), ["degraded", "namespace_conflict", "why"]],
  ["cleanup_blocked", project("cleanup_pending"), ["cleanup_pending", "cleanup_degraded", "why"]],
])("[DS14] %s makes a project what it says", (state, before, after) => {
  expect(shown(projectAfterReport(before, { state, message: "why" }))).toEqual(after);
});

test.each<[ProjectReport["state"], Project]>([
  ["ready", project("ready")],
  ["ready", project("cleanup_pending")],
  ["apply_failed", project("cleanup_pending")],
  ["cleaning", project("cleanup_pending")],
  ["cleanup_blocked", project("ready")],
])("[DS14] %s leaves alone what it says nothing about", (state, before) => {
  expect(projectAfterReport(before, { state, message: "why" })).toBe(before);
});

test.each<[ProjectReport["state"], Project]>([
  ["apply_failed", project("pending")],
  ["namespace_conflict", project("pending")],
  ["cleanup_blocked", project("cleanup_pending")],
])("[DS14] %s without a message has one for people all the same", (state, before) => {
  expect(projectAfterReport(before, { state, message: null }).lifecycle_message).toMatch(/^[A-Z].*\.$/);
});
