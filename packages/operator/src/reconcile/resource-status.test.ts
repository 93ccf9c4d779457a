import { type AppReport, UNKNOWN_DRIFT } from "@binnacle/contract";
import { expect, test } from "vitest";
import { verdictOf } from "./conditions.ts";
import { isSameStatus, statusAfter } from "./resource-status.ts";

const report: AppReport = {
  phase: "running",
  reason: "RolloutComplete",
  message: null,
  components: [],
  drift: UNKNOWN_DRIFT,
};
const holder = (status: object = {}) => ({
  apiVersion: "binnacle.dev/v1alpha1",
  kind: "App",
  metadata: { name: "web" },
  status,
});
const observed = (status: object = {}) => ({
  holder: holder(status),
  observedGeneration: 2,
  report,
  fields: { generation: 7 },
});

test("[OD50] a status is the same where it has the same fields, whatever else it has; null and absent are the same", () => {
  expect(isSameStatus({ phase: "running", drift: {} }, { phase: "running", reason: null, drift: { a: null } })).toBe(
    true,
  );
  expect(isSameStatus({ phase: "running", older: "field" }, { phase: "running" })).toBe(true);
  expect(isSameStatus(undefined, { phase: "running" })).toBe(false);
  expect(isSameStatus({ phase: "running", list: [1, 2] }, { phase: "running", list: [1] })).toBe(false);
  const status = statusAfter(observed(), verdictOf(report), 0);
  expect(
    isSameStatus(JSON.parse(JSON.stringify(status)), statusAfter(observed(status), verdictOf(report), 60_000)),
  ).toBe(true);
});

test("[OD47] a status names the generation of the object that it is about, and since when its phase holds", () => {
  const before = { phase: "running", phaseSince: "2026-01-01T00:00:00.000Z" };
  expect(statusAfter(observed(before), verdictOf(report), 0)).toMatchObject({
    phase: "running",
    phaseSince: "2026-01-01T00:00:00.000Z",
    observedGeneration: 2,
    generation: 7,
    conditions: [{ type: "Ready", status: "True", observedGeneration: 2 }, {}, {}],
  });
  expect(statusAfter(observed({ phase: "deploying" }), verdictOf(report), 0)).toMatchObject({
    phaseSince: "1970-01-01T00:00:00.000Z",
  });
});
