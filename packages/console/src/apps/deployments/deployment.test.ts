import { expect, test } from "vitest";
import { changeText, comparedPair, toggled, tookText } from "./deployment.ts";

const deployments = [3, 2, 1].map((revision) => ({ deployment_id: `d${revision}`, revision }));

test.each([
  [
    ["3", "1"],
    [1, 3],
  ],
  [
    ["1", "3"],
    [1, 3],
  ],
  [["2"], null],
  [["2", "2"], null],
  [["2", "9"], null],
  [[], null],
] as const)(
  "[WC39] the comparison of the chosen revisions %o goes from the older to the newer",
  (chosen, revisions) => {
    const pair = comparedPair(deployments, chosen);
    expect(pair?.map(({ revision }) => revision) ?? null).toEqual(revisions);
  },
);

test("[WC39] at most two revisions are chosen, and a second click removes a choice", () => {
  expect(toggled([], "1")).toEqual(["1"]);
  expect(toggled(["1"], "2")).toEqual(["1", "2"]);
  expect(toggled(["1", "2"], "3")).toEqual(["2", "3"]);
  expect(toggled(["1", "2"], "1")).toEqual(["2"]);
});

const at = (seconds: number) => new Date(Date.parse("2026-01-31T09:30:00.000Z") + seconds * 1_000).toISOString();

test.each([
  [null, null],
  [at(12), "12 s"],
  [at(95), "1 min 35 s"],
  [at(7_320), "2 h 2 min"],
  // The two times come from different clocks.
  [at(-1), "0 s"],
])("[WC39] a deployment that ended at %s took %s", (finished_at, words) => {
  expect(tookText({ created_at: at(0), finished_at })).toBe(words);
});

test.each([
  ["update", "web: 2 → 3 replicas", "web: 2 → 3 replicas"],
  ["pause", "Paused", null],
  ["update", null, null],
] as const)("[WC237] a deployment by %s with the summary %j has the further text %j", (operation, summary, words) => {
  expect(changeText({ operation, summary })).toBe(words);
});
