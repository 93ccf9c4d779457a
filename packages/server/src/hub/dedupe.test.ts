import { expect, test } from "vitest";
import { dedupe } from "./dedupe.ts";

test("[DS31] a fact is news where it is another one than the last of its subject", () => {
  const isNew = dedupe(10);
  expect(["a", "a", "b", "a"].map((fact) => isNew("one", fact))).toEqual([true, false, true, true]);
  expect(isNew("other", "a")).toBe(true);
});

test("[DS31] the subject that was longest silent is forgotten first", () => {
  const isNew = dedupe(2);
  for (const subject of ["one", "two", "one", "three"]) isNew(subject, "a");
  expect(isNew("one", "a")).toBe(false);
  expect(isNew("two", "a")).toBe(true);
});
