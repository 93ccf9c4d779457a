import { expect, test, vi } from "vitest";
import { until } from "./waiting.adapter.ts";

const patience = { withinMs: 60_000, print: () => undefined };

test("[FL6] a step of a rehearsal ends as soon as nothing is missing, and tells how long it took", async () => {
  const missing = vi.fn<() => Promise<string | null>>(async () => null);
  missing.mockResolvedValueOnce("2 of 3 apps run");
  expect(await until(missing, patience)).toBeGreaterThan(0);
  expect(missing).toHaveBeenCalledTimes(2);
});

test("[FL6] a step of a rehearsal that takes too long fails with what is missing", async () => {
  const impatient = { ...patience, withinMs: -1 };
  await expect(until(async () => "2 of 3 apps run", impatient)).rejects.toThrow("After 0 s, 2 of 3 apps run.");
});
