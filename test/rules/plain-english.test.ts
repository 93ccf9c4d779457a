import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";

const ROOT = new URL("../../", import.meta.url).pathname;

const CODE = ["packages/*/{src,stories}/**/*.{ts,tsx}", "{bench,scripts,test}/**/*.{ts,tsx}"];
const PAGES = ["*.md", "docs/**/*.md", "deploy/**/*.{md,tf,yaml,sh}"];

const read = (patterns: readonly string[], isWanted: (path: string) => boolean) =>
  globSync([...patterns], { cwd: ROOT, exclude: (name) => basename(name) === "node_modules" })
    // The phrases stand here as examples.
    .filter((path) => path !== "test/rules/plain-english.test.ts" && isWanted(path))
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), "utf8") }));

/** Lines of a paragraph, a comment or a text in several parts as one, because a phrase may go on in the next line. */
const inOneLine = (text: string) => text.replace(/["`] \+\n[ \t]*["`]/g, "").replace(/\n[ \t]*(?:\*|\/\/|#)? ?/g, " ");

const PHRASES =
  /(?<!\bthere )\b(?:is|are|was|were|be|been) no (?!(?:longer|more|later|faster|\w+er than)\b)\w+|\b(?:that|which|it|text|pattern|and) (?:is|are) none\b(?! of)|\bbelieved\b/gi;

/** Declared names that say neither what they hold nor what they do. */
const NAMES =
  /\b(?:const|let|function|class|interface|type)\s+(?:told\w*|Told\w*|\w+Told|look|turned|\w+Words|(?:[A-Z_]+_)?WORDS)\b|\bfunction\s+taken\b/g;

/** First words that leave the subject to the title of the group. */
const VERBS =
  /["'`]((?:\[[A-Z]{2}\d+\] )+(?:is|are|was|were|has|have|does|do|can|cannot|may|must|says?|shows?|tells?|keeps?|lets|refuses|returns|gives|sends|speaks|trusts|runs)\b[^"'`\n]*)/g;

const phrasesIn = (text: string) => [...inOneLine(text).matchAll(PHRASES)].map(([phrase]) => phrase);
const namesIn = (text: string) => [...text.matchAll(NAMES)].map(([name]) => name);
const groupedTitlesIn = (text: string) => [...text.matchAll(VERBS)].map(([, title]) => title);

const isTest = (path: string) => /\.test\.tsx?$/.test(path);

const findings = (
  patterns: readonly string[],
  find: (text: string) => readonly (string | undefined)[],
  isWanted = (_path: string) => true,
) => {
  const files = read(patterns, isWanted);
  expect(files.length).toBeGreaterThan(200);
  return files.flatMap(({ path, text }) => find(text).map((found) => `${path}: ${found}`));
};

test("[SP3112] sources, tests and pages say what something is not in plain English", () => {
  expect(findings([...CODE, ...PAGES], phrasesIn)).toEqual([]);
});

test("[SP3113] names that were replaced are not declared again", () => {
  expect(findings(CODE, namesIn)).toEqual([]);
});

test("[SP3114] no title of a test begins with a verb", () => {
  expect(findings(CODE, groupedTitlesIn, isTest)).toEqual([]);
});

test.each([
  ['`"$' + '{text}" is no output format.`', ["is no output"]],
  ["/** Interrupted; that\n * is no failure. */", ["is no failure"]],
  ["// A text that is no\n  // cursor is refused.", ["is no cursor"]],
  ['"Values that look like secrets and " +\n  "are none, or lists of them"', ["and are none"]],
  ["It is no JSON any more.", ["is no JSON"]],
  ["There is no image.", []],
  ["It is no longer valid, which is no later than before.", []],
  ["A 404 where there is none.", []],
])("[SP3112] the phrases of %s are found", (text, phrases) => {
  expect(phrasesIn(text)).toEqual(phrases);
});

test.each([
  "const told = 1;",
  "export interface ToldApp {",
  "async function look() {}",
  "const AUDIT_WORDS = {};",
  "export async function taken<N>() {}",
])("[SP3113] the name in %s is found", (code) => {
  expect(namesIn(code)).toHaveLength(1);
});

test.each([
  ['test("[SP1] shows the version", () => {', 1],
  ['test.each(CASES)("[SP1] does not hold %s", () => {', 1],
  ['test("[SP1] shows of a cluster are kept", () => {', 1],
  ['test("[SP1] a cluster shows the version", () => {', 0],
])("[SP3114] the title in %s is judged", (code, count) => {
  expect(groupedTitlesIn(code)).toHaveLength(count);
});
