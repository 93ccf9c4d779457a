import { expect, test } from "vitest";
import { recheckMs, unchangedSince } from "./recheck.ts";

test("[AO17] a state is looked at again after as long as it has been the same, from five seconds to a minute", () => {
  expect([0, 4_000, 7_000, 45_000, 90_000].map(recheckMs)).toEqual([5_000, 5_000, 7_000, 45_000, 60_000]);
  const broken = unchangedSince(undefined, "broken", 1_000);
  expect(unchangedSince(broken, "broken", 9_000)).toEqual({ state: "broken", sinceMs: 1_000 });
  expect(unchangedSince(broken, "running", 9_000)).toEqual({ state: "running", sinceMs: 9_000 });
});
