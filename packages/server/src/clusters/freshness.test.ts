import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { freshnessOf, isStale, reportingAt, type Surroundings, shownReason } from "./freshness.ts";

const NOW = new Date("2026-02-01T00:00:00.000Z");
const at = (ms: number) => new Date(NOW.getTime() + ms);
const connection = (leaseMs: number | null, heartbeatMs: number | null) => ({
  session_lease_until: leaseMs === null ? null : at(leaseMs),
  last_heartbeat: heartbeatMs === null ? null : at(heartbeatMs),
});

test.each([
  ["connected with a heartbeat just now", 30_000, 0, false],
  ["connected with a heartbeat 75 seconds ago", 30_000, -75_000, false],
  ["connected with a heartbeat longer ago", 30_000, -75_001, true],
  ["without a session", null, 0, true],
  ["with a lease that ends now", 0, 0, true],
  ["that has never connected", null, null, true],
])("[CL62] the state of a cluster %s is stale: %s", (_, leaseMs, heartbeatMs, expected) => {
  expect(isStale(connection(leaseMs, heartbeatMs), NOW)).toBe(expected);
});

test.each([
  ["its report, where that is later", -1_000, -20_000, -1_000],
  ["the last heartbeat, which confirms it", -500_000, -20_000, -20_000],
  ["its report, where no heartbeat is stored", -1_000, null, -1_000],
])("[CL63] observed_at is %s", (_, reportedMs, heartbeatMs, expectedMs) => {
  expect(freshnessOf(at(reportedMs), connection(30_000, heartbeatMs), NOW)).toEqual({
    observed_at: at(expectedMs).toISOString(),
    stale: heartbeatMs === null,
  });
});

test("[CL63] observed_at is null before the first report, whatever the heartbeats", () => {
  expect(freshnessOf(null, connection(30_000, 0), NOW)).toEqual({ observed_at: null, stale: false });
});

test("[CL63] a report is fresh at its own time, and observed_at never decreases with further heartbeats", () => {
  const times = fc.integer({ min: -1_000_000, max: 0 });
  expect(freshnessOf(NOW, reportingAt(NOW), NOW)).toEqual({ observed_at: NOW.toISOString(), stale: false });
  fc.assert(
    fc.property(times, times, times, (reported, one, other) => {
      const [earlier, later] = [Math.min(one, other), Math.max(one, other)];
      const seen = (heartbeat: number) => freshnessOf(at(reported), connection(null, heartbeat), NOW).observed_at ?? "";
      expect(seen(earlier) <= seen(later)).toBe(true);
    }),
  );
});

describe("why a change waits", () => {
  const PENDING = { phase: "pending", phase_reason: null, phase_message: null };
  const surroundings = (facts: Partial<Surroundings>): Surroundings => ({
    ...connection(30_000, -1_000),
    project_reason: null,
    project_message: null,
    ...facts,
  });
  const CONFLICT = { project_reason: "namespace_conflict", project_message: "It is theirs." } as const;
  const AWAY = { session_lease_until: null };

  test.each<[string, object, Partial<Surroundings>, string | null]>([
    ["a pending change on a connected cluster", {}, {}, null],
    ["a pending change on a cluster that is away", {}, AWAY, "operator_disconnected"],
    ["a deletion on a cluster that is away", { phase: "deleting" }, AWAY, "operator_disconnected"],
    ["a deletion whose obstacle is known", { phase: "deleting", phase_reason: "Deleting" }, AWAY, "Deleting"],
    ["a running app on a cluster that is away", { phase: "running", phase_reason: "Ready" }, AWAY, "Ready"],
    ["a pending change where the namespace is another's", {}, CONFLICT, "namespace_conflict"],
    [
      "a pending change in another's namespace on a cluster that is away",
      {},
      { ...CONFLICT, ...AWAY },
      "operator_disconnected",
    ],
    ["a running app where the namespace is another's", { phase: "running", phase_reason: "Ready" }, CONFLICT, "Ready"],
    ["a pending change in a project with another trouble", {}, { project_reason: "apply_failed" }, null],
  ])("[CL64] the reason shown for %s says why it waits, if it waits", (_, facts, around, reason) => {
    expect(shownReason({ ...PENDING, ...facts }, surroundings(around), NOW).phase_reason).toBe(reason);
  });

  test("[CL64] the message says since when the operator is disconnected, or which namespace conflict there is", () => {
    expect(shownReason(PENDING, surroundings(AWAY), NOW).phase_message).toContain("since 2026-01-31T23:59:59.000Z");
    const never = shownReason(PENDING, surroundings({ ...AWAY, last_heartbeat: null }), NOW);
    expect(never.phase_message).toContain("has connected yet");
    expect(shownReason(PENDING, surroundings(CONFLICT), NOW).phase_message).toBe("It is theirs.");
  });
});
