import { describe, expect, test } from "vitest";
import {
  AUDIT_LOG,
  firstRange,
  isFarEnough,
  METRIC_SAMPLES,
  missingRanges,
  obsoletePartitions,
  partitionsOfManyPeriods,
  rangeNamed,
  smallestId,
  tableOfPartition,
} from "./partitions.ts";

const at = (text: string) => new Date(`${text}Z`);
const NOW = at("2026-11-19T14:20:00");

test("[DB5401] months of the audit log and hours of samples have names that say their range", () => {
  const end = (name: string, table = AUDIT_LOG) => rangeNamed(table, name);
  expect(end("audit_log_2026_12")).toMatchObject({ start: at("2026-12-01T00:00"), end: at("2027-01-01T00:00") });
  expect(end("audit_log_before_2027_01")).toMatchObject({ start: null, end: at("2027-01-01T00:00") });
  expect(end("audit_log_default")).toBeNull();
  expect(end("metric_samples_2026_12_31_23", METRIC_SAMPLES)).toMatchObject({
    start: at("2026-12-31T23:00"),
    end: at("2027-01-01T00:00"),
  });
  expect(end("metric_samples_default", METRIC_SAMPLES)).toBeNull();
});

test("[BK5402] a table is known by the names of its partitions, and by none that is only like them", () => {
  const names = ["audit_log_2026_11", "audit_log_before_2027_01", "audit_log_default", "metric_samples_2026_11_19_14"];
  expect(names.map((name) => tableOfPartition(name)?.name)).toEqual([
    ...["audit_log", "audit_log", "audit_log", "metric_samples"],
  ]);
  const others = [
    "audit_log",
    "audit_log_2026",
    "audit_log_2026_13",
    "audit_log_2026_11_19",
    "other_log_2026_11",
    "apps_default",
  ];
  expect(others.filter((name) => tableOfPartition(name))).toEqual([]);
});

describe("partitions that are made ahead", () => {
  const missing = (...partitions: string[]) =>
    missingRanges(AUDIT_LOG, partitions, NOW).map((range) => range.partition);
  const named = (...months: string[]) => months.map((month) => `audit_log_${month}`);

  test.each<[string, string[], string[]]>([
    ["none", [], named("2026_11", "2026_12", "2027_01", "2027_02", "2027_03")],
    ["those before a month", named("before_2027_01"), named("2027_01", "2027_02", "2027_03")],
    ["old months", named("2026_09", "2026_10"), named("2026_11", "2026_12", "2027_01", "2027_02", "2027_03")],
    ["all but the last", named("before_2026_12", "2026_12", "2027_01", "2027_02"), named("2027_03")],
    ["all", named("before_2027_02", "2027_02", "2027_03"), []],
  ])("[DB5401] the month that has begun and four more have a partition, where there are %s", (_, present, expected) => {
    expect(missing("audit_log_default", ...present)).toEqual(expected);
  });

  test("[DB5401] the hour that has begun and twelve more have a partition", () => {
    const ranges = missingRanges(METRIC_SAMPLES, [], NOW).map(({ partition }) => partition);
    expect(ranges).toHaveLength(13);
    expect([ranges[0], ranges.at(-1)]).toEqual(["metric_samples_2026_11_19_14", "metric_samples_2026_11_20_02"]);
  });
});

test("[DB5402] the rows so far end with a month that is at least thirty days away, and an hour that is a day away", () => {
  expect(firstRange(AUDIT_LOG, NOW).partition).toBe("audit_log_before_2027_01");
  expect(firstRange(AUDIT_LOG, at("2026-11-01T00:00")).partition).toBe("audit_log_before_2027_01");
  expect(firstRange(METRIC_SAMPLES, NOW).partition).toBe("metric_samples_before_2026_11_20_15");
});

test("[DB5402] an end that a stopped server has left is taken while half of the time is left", () => {
  const end = firstRange(AUDIT_LOG, NOW, AUDIT_LOG.provedLeadMs);
  expect(end.partition).toBe("audit_log_before_2028_12");
  expect(isFarEnough(AUDIT_LOG, end, at("2027-12-02T00:00"))).toBe(true);
  expect(isFarEnough(AUDIT_LOG, end, at("2027-12-02T00:01"))).toBe(false);
});

test("[DB5403] a partition is obsolete when its whole range is older, and the default one never is", () => {
  const partitions = ["audit_log_2026_09", "audit_log_2026_10", "audit_log_before_2026_09", "audit_log_default"];
  const obsolete = (before: string) => obsoletePartitions(AUDIT_LOG, partitions, at(before));
  expect(obsolete("2026-08-31T23:59:59")).toEqual([]);
  expect(obsolete("2026-09-01T00:00")).toEqual(["audit_log_before_2026_09"]);
  expect(obsolete("2026-10-31T23:59:59")).toEqual(["audit_log_2026_09", "audit_log_before_2026_09"]);
  expect(partitionsOfManyPeriods(AUDIT_LOG, partitions)).toEqual(["audit_log_before_2026_09", "audit_log_default"]);
});

test("[DB5401] the range of an id is that of its time", () => {
  expect(smallestId(at("2026-11-01T00:00"))).toBe("01a19467-e800-0000-0000-000000000000");
});
