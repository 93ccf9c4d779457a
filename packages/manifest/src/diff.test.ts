import { expect, test } from "vitest";
import { lineDiff } from "./diff.ts";

const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index}`);

test("[WC48] two versions are compared line by line, with three lines around each difference", () => {
  const before = lines(20);
  const after = before.with(0, "first").with(19, "last");
  const shown = lineDiff(`${before.join("\n")}\n`, `${after.join("\n")}\n`);
  expect(shown.map(({ kind, text }) => (kind === "same" ? "=" : `${kind} ${text}`.trim()))).toEqual([
    "removed line 0",
    "added first",
    "=",
    "=",
    "=",
    "gap",
    "=",
    "=",
    "=",
    "removed line 19",
    "added last",
  ]);
});

test("[WC48] the comparison of a text with itself has no differences", () => {
  expect(lineDiff("a: 1\n", "a: 1\n")).toEqual([]);
});
