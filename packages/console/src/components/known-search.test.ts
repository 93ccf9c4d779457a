import { expect, test } from "vitest";
import { knownSearch, wrongText } from "./known-search.ts";

const FILTERS = {
  phase: [{ value: "failed" }, { value: "running" }],
  project: "id",
  sort: { orders: ["name", "phase"] },
} as const;
const PROJECT = "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11";

test.each([
  [{ phase: "blocked", q: "x" }, { q: "x" }, ["The address asks for the phase “blocked”, which does not exist."]],
  [
    { phase: "failed,blocked,running" },
    { phase: "failed,running" },
    ["The address asks for the phase “blocked”, which does not exist."],
  ],
  [{ project: "shop" }, {}, ["The address asks for the project “shop”, which does not exist."]],
  [{ sort: "-colour" }, {}, ["The address asks for the order “-colour”, which does not exist."]],
  [{ phase: "failed", project: PROJECT, sort: "-phase", tab: "x" }, null, []],
])("[WC2910] of the address %j the page takes %j and tells the rest in words", (search, known, words) => {
  const found = knownSearch(search, FILTERS);
  expect(JSON.parse(JSON.stringify(found.known))).toEqual(known ?? search);
  expect(found.wrong.map(wrongText)).toEqual(words);
});
