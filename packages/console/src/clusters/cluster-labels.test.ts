import type { JournalEntry, ProvisioningJob } from "@binnacle/client";
import { expect, test } from "vitest";
import {
  connectionWait,
  estimateText,
  jobAdvice,
  jobText,
  jobTitle,
  journalLines,
  phasesOf,
  planText,
  skewText,
  stageText,
  tokenIssuedAt,
  tokenTone,
  upgradeAllTexts,
  upgradeMark,
  upgradeText,
} from "./cluster-labels.ts";

const cluster = { stale: false, message: null };

test.each([
  ["pending", true, 5, "waiting"],
  ["pending", true, 60, "waiting"],
  ["pending", true, 61, "late"],
  ["awaiting_operator", true, 600, "late"],
  ["installing", true, 600, "waiting"],
  ["connected", false, 1, "connected"],
  ["connected", false, 6_000, "connected"],
  ["connected", true, 5, "waiting"],
  ["install_failed", true, 5, "failed"],
  ["error", true, 5, "failed"],
] as const)("[WC64] a cluster that is %s (stale: %s) after %i s is %s", (status, stale, waited, state) => {
  expect(connectionWait({ ...cluster, status, stale }, waited).state).toBe(state);
});

test("[WC64] a failed connection is shown in the cluster's own words", () => {
  expect(connectionWait({ status: "error", stale: true, message: "No quota for t3.large." }, 5).text).toBe(
    "No quota for t3.large.",
  );
});

test.each<[ProvisioningJob["phase"], ProvisioningJob["status"], string]>([
  ["init", "pending", "to_come to_come to_come to_come to_come to_come"],
  ["init", "running", "current to_come to_come to_come to_come to_come"],
  ["apply", "running", "done done current to_come to_come to_come"],
  ["apply", "failed", "done done failed to_come to_come to_come"],
  ["apply", "pending", "done done to_come to_come to_come to_come"],
  ["operator", "succeeded", "done done done done done done"],
  ["done", "succeeded", "done done done done done done"],
])("[WC65] a job that is %s and %s has the phases %s", (phase, status, states) => {
  expect(
    phasesOf({ phase, status })
      .map(({ state }) => state)
      .join(" "),
  ).toBe(states);
});

const job = {
  phase: "apply",
  status: "failed",
  error_message: "AccessDenied: ec2:RunInstances",
  attempts: 1,
  dry_run: false,
  cancel_requested_at: null,
  retry_at: null,
} as const;

test.each<[Partial<Parameters<typeof jobText>[0]>, string, number?]>([
  [{}, "The job failed in the phase Apply: AccessDenied: ec2:RunInstances"],
  [{ attempts: 3 }, "The job failed in the phase Apply, after 3 attempts: AccessDenied: ec2:RunInstances"],
  [{ error_message: null }, "The job failed in the phase Apply: no reason was given"],
  [{ status: "running" }, "Machines and networks are being changed."],
  [{ status: "pending" }, "The job was accepted and waits for its turn. Jobs of one cluster run one after the other."],
  [
    { status: "pending" },
    "The job was accepted, but no worker has taken it up yet. Ask whoever runs this installation whether its provisioning works.",
    121,
  ],
  [
    { status: "pending", retry_at: "2026-11-19T12:00:00.000Z" },
    "The job waits for its provider, or for a snapshot, and goes on by itself; its output says when.",
    900,
  ],
  [{ status: "succeeded" }, "The job is done."],
  [{ status: "succeeded", dry_run: true }, "The plan is made. Nothing was changed."],
  [
    { status: "running", cancel_requested_at: "2026-01-31T09:00:00.000Z" },
    "The job stops after the resource that it is working on.",
  ],
])("[WC65] a job says what it does or how it has ended: %#", (change, words, waited = 5) => {
  expect(jobText({ ...job, ...change }, waited)).toBe(words);
});

test("[WC121] a dry run is called a plan, and has no phases after it", () => {
  expect(jobTitle({ action: "scale", dry_run: true })).toBe("Plan of the change of size");
  expect(jobTitle({ action: "destroy", dry_run: false })).toBe("Destruction");
  const phases = phasesOf({ phase: "plan", status: "running", dry_run: true });
  expect(phases.map(({ key, state }) => `${key} ${state}`)).toEqual(["init done", "plan current", "done to_come"]);
});

test("[WC122] a failed job says what to do about its cause", () => {
  expect(jobAdvice({ error_code: "quota_exceeded" })).toMatch(/higher quota/);
  expect(jobAdvice({ error_code: null })).toBeNull();
});

test("[WC121] a plan is shown with its numbers, and its price is called an estimate with its date", () => {
  expect(planText({ summary: { add: 2, change: 0, remove: 1 } })).toBe("2 to add, 0 to change, 1 to remove.");
  expect(planText({ summary: { add: 0, change: 0, remove: 0 } })).toBe("Nothing would change.");
  const estimate = { monthly: 142.35, currency: "USD", prices_of: "2026-11-01", note: "Without traffic.", items: [] };
  expect(estimateText(estimate)).toBe("Estimate: about 142.35 USD a month, by prices of 2026-11-01. Without traffic.");
  expect(estimateText({ ...estimate, monthly: null })).toMatch(/^Estimate: not known/);
});

const entry = (given: Partial<JournalEntry>): JournalEntry => ({
  stage: "preflight",
  status: "completed",
  component: null,
  detail: null,
  reason_code: null,
  at: "2026-01-31T09:00:00.000Z",
  ...given,
});

test("[WC66] the journal of an installation is a timeline, newest first, with stage, component, reason and detail", () => {
  const lines = journalLines([
    entry({}),
    entry({
      stage: "platform-storage",
      component: "longhorn",
      status: "failed",
      reason_code: "TIMEOUT",
      detail: "10 min",
    }),
    entry({ stage: "verify", status: "started", detail: "" }),
  ]);
  expect(lines.map(({ title, word, tone, detail }) => [title, word, tone, detail])).toEqual([
    ["Verification", "Started", "progress", null],
    ["Storage: longhorn", "Failed", "bad", "TIMEOUT: 10 min"],
    ["Preflight checks", "Completed", "good", null],
  ]);
});

test("[WC197] the stage of an installation that is under way is above the journal, and beside the status of the cluster", () => {
  const current = { stage: "profiles", component: "kyverno", started_at: "2026-03-01T00:00:00.000Z" } as const;
  expect(journalLines([entry({})], current).map(({ title, word, at }) => [title, word, at])).toEqual([
    ["Profiles: kyverno", "Under way", current.started_at],
    ["Preflight checks", "Completed", entry({}).at],
  ]);
  expect(stageText({ stage: "k3s-server", component: null })).toBe("Kubernetes server");
  expect(stageText(null)).toBeNull();
});

test("[WC66] the age of the operator's token is that of the newest audit entry that issued one", () => {
  const log = [
    { action: "cluster.update", at: "2026-03-01T00:00:00.000Z" },
    { action: "cluster.rotate_token", at: "2026-02-01T00:00:00.000Z" },
    { action: "cluster.create", at: "2026-01-01T00:00:00.000Z" },
  ];
  expect(tokenIssuedAt(log)).toBe("2026-02-01T00:00:00.000Z");
  expect(tokenIssuedAt(log.slice(2))).toBe("2026-01-01T00:00:00.000Z");
  expect(tokenIssuedAt(log.slice(0, 1))).toBeNull();
});

test.each([
  [0, "good"],
  [334, "good"],
  [335, "warning"],
  [364, "warning"],
  [365, "bad"],
])("[WC66] an operator's token of %i days is %s", (days, tone) => {
  const now = Date.parse("2026-01-31T00:00:00.000Z");
  expect(tokenTone(new Date(now - days * 86_400_000).toISOString(), now)).toBe(tone);
});

const UPGRADE = {
  upgrade_id: "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11",
  phase: "returned",
  from_version: "0.1.0",
  to_version: "0.2.0",
  reason: "The image cannot be pulled.",
  started_at: null,
  finished_at: null,
} as const;

test.each([
  [null, null],
  ["supported", null],
  ["outdated", "warning"],
  ["unsupported", "bad"],
] as const)("[OU32] an operator whose skew is %s has the tone %s", (skew, tone) => {
  expect(skewText(skew)?.tone ?? null).toBe(tone);
});

test.each([
  ["pending", "0.1.0", "unknown"],
  ["running", "0.1.0", "progress"],
  ["running", "0.2.0", undefined],
  ["returned", "0.1.0", "bad"],
  ["failed", "0.1.0", "bad"],
  ["succeeded", "0.1.0", undefined],
  ["skipped", "0.1.0", undefined],
] as const)(
  "[OU39] an upgrade that is %s of an operator of %s to 0.2.0 has the tone %s in the list",
  (phase, operator_version, tone) => {
    const operator_upgrade = { ...UPGRADE, phase };
    expect(upgradeMark({ operator_upgrade, operator_version })?.tone).toBe(tone);
  },
);

test("[OU39] an upgrade of all operators is said by versions, with what it leaves out", () => {
  const preview = {
    to_version: "0.2.0",
    cluster_count: 3,
    from_versions: [
      { version: "0.1.0", cluster_count: 2 },
      { version: "0.0.9", cluster_count: 1 },
    ],
    skipped_count: 0,
  };
  const upgraded = "2 operators of 0.1.0 and 1 operator of 0.0.9 get the version 0.2.0.";
  expect(upgradeAllTexts(preview)).toEqual([upgraded]);
  expect(upgradeAllTexts({ ...preview, skipped_count: 1 })).toEqual([
    upgraded,
    "Left out: 1 operator of an older version that cannot be upgraded from here now, as while it is not connected.",
  ]);
});

test("[OU32] the newest upgrade of an operator is one sentence, with its reason", () => {
  expect(upgradeText(UPGRADE)).toBe("went back to the former image, from 0.2.0: The image cannot be pulled.");
  expect(upgradeText({ ...UPGRADE, phase: "running", reason: null })).toBe("under way, to 0.2.0");
  expect(upgradeText(null)).toBe("none was started here");
});
