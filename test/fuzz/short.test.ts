import { beforeAll, expect, test } from "vitest";
import { LONGEST_DELAY_MS, MOST_GROWTH_BYTES, summary } from "./report.ts";
import { type FuzzReport, fuzz } from "./run.ts";

/** The same choices every time, so that it fails for a change and not by chance; `npm run fuzz` draws new ones. */
const SEED = 1;
const REQUESTS = 3_000;
const SECONDS = 120;

let report: FuzzReport;
beforeAll(async () => {
  report = await fuzz({ requests: REQUESTS, seconds: SECONDS, seed: SEED, only: [] }, () => undefined);
});

test("[OA17] every answer to whatever is sent is one that the document describes, and none a fault of ours", () => {
  expect(report.findings.length, `seed ${SEED}\n${summary(report)}`).toBe(0);
});

test("[OA17] most operations are asked so that they succeed", () => {
  expect(report.requests).toBeGreaterThan(REQUESTS / 2);
  expect(report.succeeded.size, summary(report)).toBeGreaterThan(report.operations.length * 0.7);
});

test("[OA18] nothing that is sent keeps the event loop busy for long", () => {
  // Other processes have their share of a machine that builds beside this; the server's own work is its own.
  expect(report.vitals.ownP999Ms, summary(report)).toBeLessThanOrEqual(LONGEST_DELAY_MS);
});

test("[OA18] memory does not grow with what was sent", () => {
  expect(report.grownBytes, summary(report)).toBeLessThan(MOST_GROWTH_BYTES);
});
