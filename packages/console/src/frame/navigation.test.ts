import { expect, test } from "vitest";
import { searchOf, withChoice } from "../search.ts";
import { crumbsOf, ENTRIES } from "./navigation.ts";

test.each([
  ["/o/demo/apps", [["Apps", null]]],
  [
    "/o/demo/apps/web/shop",
    [
      ["Apps", "/o/demo/apps"],
      ["shop", null],
    ],
  ],
  [
    "/o/demo/apps/new",
    [
      ["Apps", "/o/demo/apps"],
      ["New", null],
    ],
  ],
  [
    "/o/demo/clusters/01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11",
    [
      ["Clusters", "/o/demo/clusters"],
      ["getCluster", null],
    ],
  ],
  [
    "/o/demo/clusters/01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11/jobs/01932c07-31f1-7a4e-8d8b-6f1a2f0c5d12",
    [
      ["Clusters", "/o/demo/clusters"],
      ["getCluster", "/o/demo/clusters/01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11"],
      ["Provisioning job", null],
    ],
  ],
  ["/admin", [["Administration", null]]],
])("[WC8] the breadcrumb leads to the pages above %s", (path, expected) => {
  expect(crumbsOf(path).map(({ label, to, object }) => [object?.read ?? label, to])).toEqual(expected);
});

test("[WC8] every page of the navigation has an address and a key of its own", () => {
  expect(new Set(ENTRIES.map(({ to }) => to)).size).toBe(ENTRIES.length);
  expect(new Set(ENTRIES.map(({ key }) => key)).size).toBe(ENTRIES.length);
});

test("[WC9] only short texts of an address are taken as choices", () => {
  expect(searchOf({ tab: "logs", page: 3, all: true, evil: { a: 1 }, empty: "", long: "x".repeat(501) })).toEqual({
    tab: "logs",
    page: "3",
    all: "true",
  });
});

test("[WC9] a choice that is taken back disappears from the address", () => {
  expect(withChoice({ tab: "logs", phase: "failed" }, { phase: undefined, q: "x" })).toEqual({ tab: "logs", q: "x" });
});
