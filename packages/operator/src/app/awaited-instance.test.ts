import { describe, expect, test } from "vitest";
import { createTelling, mayStillCome } from "./sync-progress.ts";

describe("an addon instance that an app names and nobody sees", () => {
  const NOTHING_KNOWN = { isHeld: false, isAllTold: false, wasMissing: false };
  test.each([
    ["is waited for while the hub may still tell of it", {}, true],
    ["is missing once the hub has told everything", { isAllTold: true }, false],
    ["is waited for where the cluster holds it", { isAllTold: true, isHeld: true }, true],
    ["stays missing for the same app when a new session begins", { wasMissing: true }, false],
    ["is waited for once it is told after all", { wasMissing: true, isHeld: true }, true],
  ])("[AO38] %s", (_, given, isAwaited) => {
    expect(mayStillCome({ ...NOTHING_KNOWN, ...given })).toBe(isAwaited);
  });
});

test("[AO38] everything is told once a sync has ended since the resource was told of", () => {
  const telling = createTelling();
  const [shop, blog] = ["app/market/shop", "app/market/blog"];
  expect(telling.isAllToldSince(shop)).toBe(false);
  telling.heard(shop);
  telling.ended();
  expect(telling.isAllToldSince(shop)).toBe(true);
  telling.heard(blog);
  expect([shop, blog].map(telling.isAllToldSince)).toEqual([true, false]);
  telling.heard(shop);
  expect(telling.isAllToldSince(shop)).toBe(false);
  telling.ended();
  expect([shop, blog].map(telling.isAllToldSince)).toEqual([true, true]);
});
