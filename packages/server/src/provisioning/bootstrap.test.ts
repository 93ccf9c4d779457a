import { expect, test } from "vitest";
import {
  afterReport,
  DROPPED,
  MOST_LOG_BYTES,
  machinesToReplace,
  type NodeBoot,
  type Report,
  refusedSeconds,
  reportMask,
  type Wait,
  waitStep,
} from "./bootstrap.ts";
import { nodeTokenHash } from "./node-token.ts";

const NOW = new Date("2026-11-18T09:00:00Z");
const LATER = new Date("2026-11-18T09:20:00Z");

const boot = (node: string, status: NodeBoot["status"], facts: Partial<NodeBoot> = {}): NodeBoot => ({
  cluster_id: "cluster",
  node,
  job_id: "job",
  status,
  stage: null,
  message: null,
  lines: 0,
  log_bytes: 0,
  window_at: null,
  window_reports: 0,
  updated_at: NOW,
  ...facts,
});
const wait = (changes: Partial<Wait>): Wait => ({
  action: "create",
  boots: [],
  hasConnected: false,
  isRestore: false,
  needsOperator: false,
  isOperatorHere: false,
  isCancelled: false,
  until: LATER,
  minutes: 20,
  ...changes,
});
const PAIR = ["control-plane", "agent-1"];

test.each<[string, Partial<Wait>, string]>([
  ["no machine has reported", { boots: PAIR.map((node) => boot(node, "pending")) }, "bootstrap 80"],
  ["one of two is a node", { boots: [boot("control-plane", "completed"), boot("agent-1", "running")] }, "bootstrap 87"],
  ["all are nodes", { boots: PAIR.map((node) => boot(node, "completed")) }, "operator 95"],
  [
    "all are nodes and the operator has connected",
    { boots: [boot("agent-1", "completed")], hasConnected: true },
    "done",
  ],
  [
    "the operator has connected before its machine reported",
    { boots: [boot("control-plane", "running")], hasConnected: true },
    "done",
  ],
  [
    "the operator has connected and an agent is missing",
    { boots: [boot("agent-1", "running")], hasConnected: true },
    "bootstrap 80",
  ],
  ["a change of size made no machine", { action: "scale" }, "done"],
  ["a change of size waits for its machine alone", { action: "scale", boots: [boot("agent-1", "completed")] }, "done"],
])("[PN140] while %s, a provisioning job is in %s %s", (_, changes, expected) => {
  const step = waitStep(wait(changes), NOW);
  expect(step.is === "waiting" ? `${step.progress.phase} ${step.progress.percent}` : step.is).toBe(expected);
});

test("[PN154] a control plane that was restored is awaited, although an operator has connected from the one before", () => {
  const restored = { action: "replace", hasConnected: true, isRestore: true } as const;
  const booting = wait({ ...restored, boots: [boot("control-plane", "running")] });
  expect(waitStep(booting, NOW)).toMatchObject({ is: "waiting", progress: { phase: "bootstrap" } });
  expect(waitStep(wait({ ...restored, boots: [boot("control-plane", "completed")] }), NOW)).toEqual({ is: "done" });
});

test("[PN175] an upgrade goes on to the next node once the operator, which drains it, is connected again", () => {
  const upgraded = { action: "upgrade", hasConnected: true, boots: [boot("control-plane", "completed")] } as const;
  expect(waitStep(wait({ ...upgraded, isRestore: true, needsOperator: true }), NOW)).toMatchObject({
    is: "waiting",
    progress: { phase: "operator" },
  });
  const late = waitStep(wait({ ...upgraded, isRestore: true, needsOperator: true }), LATER);
  expect(late).toMatchObject({
    failure: { code: "timed_out", message: expect.stringMatching(/operator has not connected/) },
  });
  expect(waitStep(wait({ ...upgraded, needsOperator: true, isOperatorHere: true }), NOW)).toEqual({ is: "done" });
  expect(waitStep(wait(upgraded), NOW)).toEqual({ is: "done" });
});

test("[PN141] a machine that reports a failure fails the job with the step and the cause", () => {
  const broken = boot("agent-1", "failed", { stage: "install", message: "k3s could not be downloaded: status 503" });
  const step = waitStep(wait({ boots: [boot("control-plane", "running"), broken] }), NOW);
  expect(step).toMatchObject({
    is: "failed",
    progress: { phase: "bootstrap" },
    failure: {
      code: "bootstrap_failed",
      message: expect.stringMatching(
        /^The machine agent-1 failed at installing k3s: k3s could not be downloaded: status 503\./,
      ),
    },
  });
});

test("[PN141] a job whose machines are late says which, and how far each has come", () => {
  const boots = [boot("control-plane", "running", { stage: "start" }), boot("agent-1", "pending")];
  expect(waitStep(wait({ boots }), LATER)).toMatchObject({
    is: "failed",
    failure: {
      code: "timed_out",
      message: expect.stringMatching(
        /within 20 minutes: control-plane was last starting k3s, agent-1 has never reported\. .*BINNACLE_PUBLIC_URL/,
      ),
    },
  });
});

test("[PN141] a job whose operator is late says so, in the phase `operator`", () => {
  expect(waitStep(wait({ boots: [boot("control-plane", "completed")] }), LATER)).toMatchObject({
    is: "failed",
    progress: { phase: "operator" },
    failure: {
      code: "timed_out",
      message: expect.stringContaining("the operator has not connected within 20 minutes"),
    },
  });
});

test("[PN141] a job that was cancelled at the end of its apply does not wait", () => {
  for (const boots of [[], [boot("control-plane", "pending")]]) {
    expect(waitStep(wait({ boots, isCancelled: true }), NOW)).toMatchObject({ failure: { code: "cancelled" } });
  }
});

const NODES = [...PAIR, "agent-2"];
test.each<[string, [string, NodeBoot["status"]][], boolean, string[]]>([
  [
    "nothing of machines that still boot",
    [
      ["control-plane", "running"],
      ["agent-1", "pending"],
    ],
    false,
    [],
  ],
  [
    "an agent that has failed",
    [
      ["control-plane", "completed"],
      ["agent-1", "failed"],
    ],
    false,
    ["agent-1"],
  ],
  [
    "all with a control plane that has failed",
    [
      ["control-plane", "failed"],
      ["agent-1", "completed"],
    ],
    false,
    NODES,
  ],
  [
    "no control plane whose operator has connected",
    [
      ["control-plane", "failed"],
      ["agent-2", "failed"],
    ],
    true,
    ["agent-2"],
  ],
])("[PN142] a retry of a job replaces %s", (_, boots, hasConnected, expected) => {
  expect(
    machinesToReplace(
      boots.map(([node, status]) => boot(node, status)),
      NODES,
      hasConnected,
    ),
  ).toEqual(expected);
});

const report = (changes: Partial<Report> = {}): Report => ({
  stage: "install",
  status: "running",
  message: null,
  firstLine: 0,
  lines: [],
  ...changes,
});

test("[PV92] lines that a machine reports again are stored once, and lines carry the name of their machine", () => {
  const { fields, stored } = afterReport(
    boot("agent-1", "running", { lines: 2 }),
    report({ firstLine: 1, lines: ["b", "c"] }),
    NOW,
  );
  expect([fields.lines, stored]).toEqual([3, ["[agent-1] c"]]);
});

test("[PV94] what a machine prints beyond its bound is dropped, and the log says so once", () => {
  let current = boot("agent-1", "running");
  const all: string[] = [];
  for (let sent = 0; sent < 2_000; sent += 100) {
    const lines = Array.from({ length: 100 }, () => "x".repeat(999));
    const { fields, stored } = afterReport(current, report({ firstLine: sent, lines }), NOW);
    current = { ...current, ...fields };
    all.push(...stored);
  }
  expect(current).toMatchObject({ lines: 2_000, log_bytes: MOST_LOG_BYTES });
  expect(Buffer.byteLength(all.join("\n"))).toBeLessThan(MOST_LOG_BYTES * 1.1);
  expect(all.filter((line) => line.includes(DROPPED))).toEqual([`[agent-1] ${DROPPED}`]);
});

test("[PV94] a machine cannot fill the log with empty lines either", () => {
  const lines = Array.from({ length: 200_000 }, () => "");
  expect(afterReport(boot("agent-1", "running"), report({ lines }), NOW).stored.length).toBeLessThan(3_000);
});

test("[PV93] a machine that has reported as a node stays one, whatever it reports later", () => {
  const { fields } = afterReport(boot("agent-1", "completed"), report({ status: "failed", message: "late" }), NOW);
  expect(fields).not.toHaveProperty("status");
});

test("[PV94] more than 60 reports of a machine within a minute are refused until the minute is over", () => {
  let current = boot("agent-1", "running");
  for (let sent = 0; sent < 60; sent++) {
    expect(refusedSeconds(current, NOW)).toBeNull();
    current = { ...current, ...afterReport(current, report(), NOW).fields };
  }
  expect(refusedSeconds(current, new Date(NOW.getTime() + 20_000))).toBe(40);
  expect(refusedSeconds(current, new Date(NOW.getTime() + 60_000))).toBeNull();
});

test("[PV95] known secrets, tokens whose hash is known, and text that looks like a token are masked; checksums are not", () => {
  const [token, checksum] = ["a1".repeat(32), "b2".repeat(32)];
  const mask = reportMask(["join-token-9d3m"], new Set([nodeTokenHash(token)]));
  const jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJjbHVzdGVyIn0.c2lnbmF0dXJl";
  expect(mask(`join-token-9d3m ${token} ${jwt} K10${checksum}::server:abc ${checksum}`)).toBe(
    `**** **** **** **** ${checksum}`,
  );
});
