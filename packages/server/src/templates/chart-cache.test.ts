import type { ChartInspection } from "@binnacle/contract";
import { expect, test } from "vitest";
import { readKept, slotOf, writtenKept } from "./chart-cache.ts";

const inspection: ChartInspection = {
  chart_metadata: { name: "web", version: "1.0.0", description: null, app_version: null, versions: ["1.0.0"] },
  has_schema: false,
  schema: {},
  secret_values: [],
  defaults: {},
  readme: null,
};
const chart = { at: 7, inspection };

test("[TP127] a chart in the shared cache is read only with the key that it was written with", () => {
  const text = writtenKept("a", chart);
  expect(readKept(text, "a")).toMatchObject(chart);
  expect(readKept(text, "b")).toBeNull();
  expect(text).not.toContain('"a"');
});

test.each(["", "null", "{}", "[", JSON.stringify({ digest: "x", at: 1, inspection: {} })])(
  "[TP128] an entry of the cache that is not a chart is a miss: %s",
  (text) => {
    expect(readKept(text, "a")).toBeNull();
  },
);

test("[TP129] the charts of all organizations together fill only a few slots of the cache, and a large chart fills none", () => {
  const slots = new Set(Array.from({ length: 10_000 }, (_, index) => slotOf(`key ${index}`)));
  expect(slots.size).toBeLessThanOrEqual(128);
  expect(writtenKept("a", { at: 0, inspection: { ...inspection, readme: "x".repeat(600_000) } })).toBeNull();
});
