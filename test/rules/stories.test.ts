import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = new URL("../../packages/console/", import.meta.url).pathname;
const textsOf = (pattern: string) =>
  globSync(pattern, { cwd: ROOT }).map((path) => ({ path, text: readFileSync(join(ROOT, path), "utf8") }));

/** Components without a story of their own, with the reason. */
const WITHOUT_STORY: Readonly<Record<string, string>> = {
  TimeChartPlot: "The story of TimeChart draws it: it is a module of its own for its library alone.",
};

/** The components that a file exports. Hooks and constants are named in another way. */
const componentsIn = (text: string) =>
  [...text.matchAll(/^export (?:default )?(?:async )?(?:function|const|class) ([A-Z][a-z]\w*)/gm)].map(
    ([, name = ""]) => name,
  );

/** The shared components that no story renders. */
function unshown(stories: string): string[] {
  const shared = textsOf("src/{components,status}/*.tsx").flatMap(({ text }) => componentsIn(text));
  expect(shared.length).toBeGreaterThan(35);
  return shared.filter((name) => !new RegExp(`<${name}\\b`).test(stories));
}

test("[WC479] every shared component is rendered by a story, or says why it has none", () => {
  const stories = textsOf("stories/*.tsx")
    .map(({ text }) => text)
    .join("\n");
  expect(unshown(stories)).toEqual(Object.keys(WITHOUT_STORY));
  expect(unshown(stories.replaceAll("<Notice", "<Other"))).toContain("Notice");
});

test.each([
  ["export function Page() {", ["Page"]],
  ["export const Card = () => null;", ["Card"]],
  ["export default function Plot() {", ["Plot"]],
  ["export const LOADING = {};\nexport function useGone() {\nfunction Inner() {", []],
])("[WC479] the components in %j are found", (text, names) => {
  expect(componentsIn(text)).toEqual(names);
});
