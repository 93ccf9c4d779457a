import { describe, expect, test } from "vitest";
import { skewOf } from "../clusters/operator-skew.ts";
import { Fault } from "../fault.ts";
import { countsOf, isOlder, obstacleTo, outcomeOf, planOf } from "./operator-upgrade.ts";

const NOW = new Date("2026-01-31T09:30:00.000Z");
const minutesAgo = (minutes: number) => new Date(NOW.getTime() - minutes * 60_000);

test.each([
  ["1.4.2", "supported"],
  ["1.4.0-rc.1", "supported"],
  ["1.5.0", "supported"],
  ["1.3.9", "outdated"],
  ["1.2.0", "unsupported"],
  ["1.6.0", "unsupported"],
  ["0.4.2", "unsupported"],
  ["simulated", "unsupported"],
] as const)("[OU1] an operator of version %s is %s by a control plane of version 1.4.1", (version, skew) => {
  expect(skewOf(version, "1.4.1")).toBe(skew);
});

describe("whether an operator can be upgraded", () => {
  const cluster = {
    id: "c1",
    name: "production",
    operator_version: "0.1.0",
    self_upgrade: true,
    is_leaving: false,
    is_upgrading: false,
    lease_until: minutesAgo(-1),
  };
  test.each([
    [{}, null],
    [{ self_upgrade: false }, /upgrade_command/],
    [{ lease_until: null }, /not connected/],
    [{ lease_until: minutesAgo(1) }, /not connected/],
    [{ operator_version: "0.2.0" }, /already/],
    [{ is_upgrading: true }, /already/],
    [{ is_leaving: true }, /deleted/],
  ])("[OU2] a cluster with %j", (fields, reason) => {
    const obstacle = obstacleTo({ ...cluster, ...fields }, "0.2.0", NOW);
    if (reason === null) expect(obstacle).toBeNull();
    else expect(obstacle).toMatch(reason);
  });
});

test.each([
  ["0.1.9", true],
  ["0.2.0-rc.1", true],
  ["simulated", true],
  ["0.2.0", false],
  ["0.2.1", false],
  ["1.0.0", false],
  [null, false],
])("[OU2] an upgrade of all operators to 0.2.0 has one of version %s in it: %s", (operator_version, expected) => {
  expect(isOlder({ operator_version }, "0.2.0")).toBe(expected);
});

describe("the plan of an upgrade", () => {
  const upgrade = { batch_size: 3, stop_on_failure: true, cancel_requested_at: null };

  test("[OU3] as many clusters are under way as the batch has", () => {
    expect(planOf(upgrade, countsOf({ pending: 10 }))).toEqual({ start: 3, cancel: null, status: "running" });
    expect(planOf(upgrade, countsOf({ pending: 8, running: 2 })).start).toBe(1);
    expect(planOf(upgrade, countsOf({ pending: 1, running: 0 })).start).toBe(1);
  });

  test("[OU4] after a failure no more are begun, and the upgrade has failed when the last has ended", () => {
    const first = planOf(upgrade, countsOf({ pending: 5, running: 2, returned: 1 }));
    expect(first).toEqual({ start: 0, cancel: expect.stringContaining("failed"), status: "running" });
    expect(planOf(upgrade, countsOf({ cancelled: 5, succeeded: 2, returned: 1 })).status).toBe("failed");
  });

  test("[OU4] without stop_on_failure the others are begun all the same", () => {
    const plan = planOf({ ...upgrade, stop_on_failure: false }, countsOf({ pending: 5, failed: 1 }));
    expect(plan).toEqual({ start: 3, cancel: null, status: "running" });
  });

  test("[OU5] a cancelled upgrade begins no more, and ends with those that are under way", () => {
    const cancelled = { ...upgrade, cancel_requested_at: NOW };
    expect(planOf(cancelled, countsOf({ pending: 5, running: 1 }))).toMatchObject({ start: 0, status: "running" });
    expect(planOf(cancelled, countsOf({ cancelled: 5, succeeded: 1 })).status).toBe("cancelled");
  });

  test("[OU3] an upgrade has succeeded when all have, or were skipped", () => {
    expect(planOf(upgrade, countsOf({ succeeded: 5, skipped: 2 })).status).toBe("succeeded");
  });
});

describe("what the answer of an operator means", () => {
  const observed = { phase: "running", from: "a", to: "b", since: NOW.toISOString(), reason: null } as const;
  const away = new Fault("unavailable", "No operator of the cluster is connected.");

  test("[OU6] an operator that is away is waited for, because its new pod has yet to connect", () => {
    expect(outcomeOf(away, minutesAgo(14), NOW).phase).toBe("running");
    expect(outcomeOf(away, minutesAgo(15), NOW)).toMatchObject({
      phase: "failed",
      reason: expect.stringContaining("15"),
    });
  });

  test("[OU6] an upgrade that is under way for too long is not taken for one that works", () => {
    expect(outcomeOf(observed, minutesAgo(1), NOW).phase).toBe("running");
    expect(outcomeOf(observed, minutesAgo(15), NOW).phase).toBe("failed");
  });

  test("[OU6] the end that the operator reports is taken over with its reason", () => {
    const returned = { ...observed, phase: "returned", reason: "The image cannot be pulled." } as const;
    expect(outcomeOf(returned, minutesAgo(20), NOW)).toEqual({ phase: "returned", reason: returned.reason });
    expect(outcomeOf(new Fault("bad_gateway", "It refuses."), NOW, NOW)).toEqual({
      phase: "failed",
      reason: "It refuses.",
    });
  });
});
