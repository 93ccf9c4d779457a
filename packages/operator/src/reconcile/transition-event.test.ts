import { type AppReport, UNKNOWN_DRIFT } from "@binnacle/contract";
import { expect, test } from "vitest";
import type { KubeObject } from "../kube/kube-client.ts";
import { verdictOf } from "./conditions.ts";
import { fullAllowance, isTransition, MOST_EVENTS_AT_ONCE, takeEvent, transitionEvent } from "./transition-event.ts";

const verdict = (phase: AppReport["phase"], reason: string, given: Partial<AppReport> = {}) =>
  verdictOf({ phase, reason, message: null, components: [], drift: UNKNOWN_DRIFT, ...given });
const holder = (status: object = {}, metadata: object = { namespace: "shop" }): KubeObject => ({
  apiVersion: "binnacle.dev/v1alpha1",
  kind: "App",
  metadata: { name: "web", uid: "u1", resourceVersion: "5", ...metadata },
  status,
});
const FACTS = { id: "1-a", leftOut: 0, nowMs: Date.parse("2026-03-01T12:00:00.750Z") };

test.each([
  ["another phase", { phase: "deploying", reason: "RollingOut" }, true],
  ["another reason", { phase: "running", reason: "Suspended" }, true],
  ["the first status", {}, true],
  ["the same", { phase: "running", reason: "RolloutComplete", message: "another" }, false],
  ["a reason where an older version wrote none", { phase: "running" }, false],
])("[OD52] an event is made of %s: after %o it is %s", (_, status, expected) => {
  expect(isTransition(holder(status), verdict("running", "RolloutComplete"))).toBe(expected);
});

test("[OD52] an event is about the custom resource, in its namespace, and has phase, reason and message", () => {
  const event = transitionEvent(holder(), verdict("running", "RolloutComplete"), FACTS);
  expect(event).toMatchObject({
    apiVersion: "v1",
    kind: "Event",
    metadata: { name: "web.1-a", namespace: "shop" },
    involvedObject: { apiVersion: "binnacle.dev/v1alpha1", kind: "App", name: "web", namespace: "shop", uid: "u1" },
    type: "Normal",
    reason: "RolloutComplete",
    message: "running: All components run as they were asked for.",
    reportingComponent: "binnacle-operator",
    lastTimestamp: "2026-03-01T12:00:00Z",
    count: 1,
  });
  const ofProject = transitionEvent(holder({}, {}), verdict("running", "RolloutComplete"), FACTS);
  expect(ofProject.metadata.namespace).toBe("default");
  expect(ofProject["involvedObject"]).not.toHaveProperty("namespace");
});

test.each([
  ["failed", "OOMKilled", "Warning"],
  ["invalid", "NoImage", "Warning"],
  ["degraded", "ReplicasMissing", "Warning"],
  ["deleting", "HeldByFinalizers", "Warning"],
  ["deploying", "RollingOut", "Normal"],
  ["paused", "Paused", "Normal"],
] as const)("[OD52] the event of an app that is %s for %s is of the type %s", (phase, reason, type) => {
  expect(transitionEvent(holder(), verdict(phase, reason), FACTS)["type"]).toBe(type);
});

test("[OD52] the message of an event is masked and has at most 1,024 bytes", () => {
  const secret = verdict("failed", "Error", { message: "login postgres://ada:s3cret@db failed" });
  expect(JSON.stringify(transitionEvent(holder(), secret, FACTS))).not.toContain("s3cret");
  for (const letter of ["a", "ä", "漢", "😀"]) {
    const long = transitionEvent(holder(), verdict("failed", "Error", { message: letter.repeat(1_000) }), FACTS);
    const message = String(long["message"]);
    expect(Buffer.byteLength(message)).toBeLessThanOrEqual(1_024);
    expect(Buffer.byteLength(message)).toBeGreaterThan(900);
    expect(message).not.toContain("\uFFFD");
  }
});

test("[OD53] one object has 25 events at once and then one in five minutes, which says how many are left out", () => {
  let allowance = fullAllowance(0);
  const take = (nowMs: number) => {
    const { isAllowed, ...after } = takeEvent(allowance, nowMs);
    allowance = after;
    return isAllowed;
  };
  const first = Array.from({ length: MOST_EVENTS_AT_ONCE + 3 }, () => take(0));
  expect(first.filter(Boolean)).toHaveLength(25);
  expect(allowance.leftOut).toBe(3);
  expect([take(299_000), take(300_000)]).toEqual([false, true]);
  expect(allowance.leftOut).toBe(0);
  expect(take(300_001)).toBe(false);
  for (let index = 0; index < 30; index += 1) take(100 * 3_600_000);
  expect(allowance.leftOut).toBe(5);
  const event = transitionEvent(holder(), verdict("running", "RolloutComplete"), { ...FACTS, leftOut: 4 });
  expect(event["message"]).toMatch(/^\(4 changes before this one have no event\.\) running: /);
});
