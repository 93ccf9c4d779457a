import { expect, test } from "vitest";
import { type OverdueFacts, overdueMessage } from "./deployment.ts";

const REPORTED = { observed_generation: 2, phase_reason: "ImagePullBackOff", phase_message: "web: no image" };
const UNREPORTED = { observed_generation: 1, phase_reason: null, phase_message: null };
const READY = { lifecycle: "ready", lifecycle_message: null } as const;
const CONFLICT = { lifecycle: "degraded", lifecycle_message: "The namespace shop belongs to somebody else." } as const;

test.each<[string, Partial<OverdueFacts>, string]>([
  ["reported a message", { app: REPORTED }, "web: no image"],
  ["reported a reason alone", { app: { ...REPORTED, phase_message: null } }, "ImagePullBackOff"],
  ["reported neither", { app: { ...UNREPORTED, observed_generation: 2 } }, "the cluster has not reported why."],
  ["reported before it was lost", { app: REPORTED, isConnected: false }, "web: no image"],
  ["is not connected", { isConnected: false, project: CONFLICT }, "the operator of the cluster is not connected."],
  ["cannot have the namespace", { project: CONFLICT }, "The namespace shop belongs to somebody else."],
  ["is silent", {}, "the cluster has not reported on the change."],
])("[AP80] the message of an overdue deployment has the cause when its cluster %s", (_, facts, cause) => {
  const known = { app: UNREPORTED, deployment: { generation: 2 }, isConnected: true, project: READY, ...facts };
  expect(overdueMessage(known)).toBe(`The app was not running in time: ${cause}`);
});
