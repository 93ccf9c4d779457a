import { expect, test } from "vitest";
import { sampleMinute } from "./reports.store.ts";

const NOW = new Date("2026-01-31T09:30:20.000Z");

test.each([
  ["its own minute", "2026-01-31T09:30:19.999Z", "2026-01-31T09:30:00.000Z"],
  ["a cluster's clock that is a little ahead", "2026-01-31T09:34:59.000Z", "2026-01-31T09:34:00.000Z"],
  ["yesterday, just so", "2026-01-30T09:31:00.000Z", "2026-01-30T09:31:00.000Z"],
  ["another time zone", "2026-01-31T10:30:19+01:00", "2026-01-31T09:30:00.000Z"],
])("[DS28] a sample of %s is stored for that minute", (_, at, minute) => {
  expect(sampleMinute(at, NOW)?.toISOString()).toBe(minute);
});

test.each([
  ["more than a day ago", "2026-01-30T09:30:00.000Z"],
  ["more than five minutes ahead", "2026-01-31T09:36:00.000Z"],
  ["of no time at all", "soon"],
])("[DS28] a sample with a time that is %s is not stored", (_, at) => {
  expect(sampleMinute(at, NOW)).toBeNull();
});
