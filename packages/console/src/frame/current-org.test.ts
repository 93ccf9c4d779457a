import { expect, test } from "vitest";
import { currentOrg } from "./current-org.ts";

const [acme, demo] = [{ slug: "acme" }, { slug: "demo" }];

test.each([
  ["of the address", "demo", "acme", demo],
  ["shown last, on a page that belongs to none", undefined, "demo", demo],
  ["shown last, at the address of one that is not there", "gone", "demo", demo],
  ["first, in a new tab", undefined, "", acme],
  ["first, when the one shown last is not there any more", undefined, "gone", acme],
])("[WC155] the organization of a page is the one %s", (_, slug, last, expected) => {
  expect(currentOrg([acme, demo], slug, last)).toBe(expected);
});

test("[WC155] the console shows no organization to somebody who belongs to none", () => {
  expect(currentOrg([], undefined, "demo")).toBeUndefined();
});
