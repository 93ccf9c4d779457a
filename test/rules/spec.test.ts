import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";

const ROOT = new URL("../../", import.meta.url).pathname;
const RULE = /\[([A-Z]{2}\d+)\]/g;

function filesUnder(folder: string, ending: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(ending) && !file.includes("node_modules"))
    .map((file) => join(ROOT, folder, file));
}

const rulesIn = (file: string): string[] =>
  [...readFileSync(file, "utf8").matchAll(/^- \*\*\[([A-Z]{2}\d+)\]\*\*/gm)].map((match) => match[1] ?? "");

const written = (): string[] => filesUnder("docs/spec", ".md").flatMap(rulesIn);

/** Numbers in the names of tests, wherever the name is written. */
function tested(): Set<string> {
  const files = ["packages", "bench", "test"].flatMap((folder) => filesUnder(folder, ".test.ts"));
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

test("[SP7] the index of the rules lists every page with the prefixes of its rules", () => {
  const index = readFileSync(join(ROOT, "docs/spec/README.md"), "utf8");
  const listed = [...index.matchAll(/^\| \[.+\]\((\S+\.md)\) \| (.+) \|$/gm)].map(
    (match) => `${match[1]}: ${match[2]}`,
  );
  const pages = filesUnder("docs/spec", ".md").filter((file) => basename(file) !== "README.md");
  const prefixesOf = (file: string) => new Set(rulesIn(file).map((rule) => rule.slice(0, 2)));
  expect(listed.sort()).toEqual(
    pages.map((file) => `${basename(file)}: ${[...prefixesOf(file)].join(", ") || "generated"}`).sort(),
  );
});

test("[SP8] the rules of one list in docs/spec are in the order of their numbers", () => {
  const lists = filesUnder("docs/spec", ".md").flatMap((file) => readFileSync(file, "utf8").split("\n\n"));
  const unordered = lists.flatMap((list) => {
    const rules = [...list.matchAll(/^- \*\*\[([A-Z]{2})(\d+)\]\*\*/gm)];
    return rules.filter(([, prefix, number], at) => {
      const [, before, last] = rules[at - 1] ?? [];
      return prefix === before && Number(number) < Number(last);
    });
  });
  expect(unordered.map(([rule]) => rule)).toEqual([]);
});

test("[SP1309] every page of docs/spec opens with at least two sentences that say what it is about", () => {
  const sentencesAtTop = (file: string) => {
    const [title = "", opening = ""] = readFileSync(file, "utf8").split("\n\n");
    return title.startsWith("# ") && /^[A-Z`]/.test(opening) ? opening.split(/[.!?](?=\s|$)/).length - 1 : 0;
  };
  const pages = filesUnder("docs/spec", ".md");
  expect(pages.filter((file) => sentencesAtTop(file) < 2).map((file) => basename(file))).toEqual([]);
});
