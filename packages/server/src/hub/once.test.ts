import { expect, test } from "vitest";
import { rememberLast } from "./once.ts";

test("[DS31] a fact is news where it is another one than the last of its subject", () => {
  const isNews = rememberLast(10);
  expect(["a", "a", "b", "a"].map((fact) => isNews("one", fact))).toEqual([true, false, true, true]);
  expect(isNews("other", "a")).toBe(true);
});

test("[DS31] the subject that was longest silent is forgotten first", () => {
  const isNews = rememberLast(2);
  for (const subject of ["one", "two", "one", "three"]) isNews(subject, "a");
  expect(isNews("one", "a")).toBe(false);
  expect(isNews("two", "a")).toBe(true);
});
