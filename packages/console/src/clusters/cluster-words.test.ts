import type { JournalEntry, ProvisioningJob } from "@binnacle/client";
import { expect, test } from "vitest";
import {
  connectionWait,
  estimateWords,
  jobAdvice,
  jobTitle,
  jobWords,
  journalLines,
  phasesOf,
  planWords,
  stageWords,
  tokenIssuedAt,
  tokenTone,
} from "./cluster-words.ts";

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

test("[WC64] a failure is told in the cluster's own words", () => {
  expect(connectionWait({ status: "error", stale: true, message: "No quota for t3.large." }, 5).words).toBe(
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
} as const;

test.each<[Partial<Parameters<typeof jobWords>[0]>, string, number?]>([
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
  [{ status: "succeeded" }, "The job is done."],
  [{ status: "succeeded", dry_run: true }, "The plan is made. Nothing was changed."],
  [
    { status: "running", cancel_requested_at: "2026-01-31T09:00:00.000Z" },
    "The job stops after the resource that it is working on.",
  ],
])("[WC65] a job says what it does or how it has ended: %#", (change, words, waited = 5) => {
  expect(jobWords({ ...job, ...change }, waited)).toBe(words);
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

test("[WC121] a plan is told with its numbers, and its price is called an estimate with its date", () => {
  expect(planWords({ summary: { add: 2, change: 0, remove: 1 } })).toBe("2 to add, 0 to change, 1 to remove.");
  expect(planWords({ summary: { add: 0, change: 0, remove: 0 } })).toBe("Nothing would change.");
  const estimate = { monthly: 142.35, currency: "USD", prices_of: "2026-11-01", note: "Without traffic.", items: [] };
  expect(estimateWords(estimate)).toBe("Estimate: about 142.35 USD a month, by prices of 2026-11-01. Without traffic.");
  expect(estimateWords({ ...estimate, monthly: null })).toMatch(/^Estimate: not known/);
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

test("[WC66] the journal is a timeline, newest first, with stage, component, reason and detail", () => {
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

test("[WC197] the stage that is under way is above the journal, and stands beside the status of the cluster", () => {
  const current = { stage: "profiles", component: "kyverno", started_at: "2026-03-01T00:00:00.000Z" } as const;
  expect(journalLines([entry({})], current).map(({ title, word, at }) => [title, word, at])).toEqual([
    ["Profiles: kyverno", "Under way", current.started_at],
    ["Preflight checks", "Completed", entry({}).at],
  ]);
  expect(stageWords({ stage: "k3s-server", component: null })).toBe("Kubernetes server");
  expect(stageWords(null)).toBeNull();
});

test("[WC66] the age of the operator's token is that of the newest entry that issued one", () => {
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
])("[WC66] a token of %i days is %s", (days, tone) => {
  const now = Date.parse("2026-01-31T00:00:00.000Z");
  expect(tokenTone(new Date(now - days * 86_400_000).toISOString(), now)).toBe(tone);
});
