import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = new URL("../../", import.meta.url).pathname;
const RULE = /\[([A-Z]{2}\d+)\]/g;

function filesUnder(folder: string, ending: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(ending) && !file.includes("node_modules"))
    .map((file) => join(ROOT, folder, file));
}

function written(): string[] {
  return filesUnder("docs/spec", ".md").flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(/^- \*\*\[([A-Z]{2}\d+)\]\*\*/gm)].map((match) => match[1] ?? ""),
  );
}

/** Numbers in the names of tests, wherever the name is written. */
function tested(): Set<string> {
  const files = [...filesUnder("packages", ".test.ts"), ...filesUnder("test", ".test.ts")];
  return new Set(
    files.flatMap((file) => [...readFileSync(file, "utf8").matchAll(RULE)].map((match) => match[1] ?? "")),
  );
}

test("[SP1] every rule has a number of its own", () => {
  const numbers = written();
  expect(numbers.filter((number, index) => numbers.indexOf(number) !== index)).toEqual([]);
  expect(numbers.length).toBeGreaterThan(0);
});

test("[SP2] every rule has a test that carries its number", () => {
  const proven = tested();
  expect(written().filter((number) => !proven.has(number))).toEqual([]);
});

test("[SP3] every number that a test carries is a rule", () => {
  const rules = new Set(written());
  expect([...tested()].filter((number) => !rules.has(number)).sort()).toEqual([]);
});
