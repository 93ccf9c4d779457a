import { expect, test } from "vitest";
import { dedupe } from "./dedupe.ts";

test("[DS31] a value is new when it differs from the last one of its subject", () => {
  const isNew = dedupe(10);
  expect(["a", "a", "b", "a"].map((fact) => isNew("one", fact))).toEqual([true, false, true, true]);
  expect(isNew("other", "a")).toBe(true);
});

test("[DS31] deduplication forgets the subject that was silent for longest first", () => {
  const isNew = dedupe(2);
  for (const subject of ["one", "two", "one", "three"]) isNew(subject, "a");
  expect(isNew("one", "a")).toBe(false);
  expect(isNew("two", "a")).toBe(true);
});
