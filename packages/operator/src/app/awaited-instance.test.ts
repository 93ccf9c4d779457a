import { describe, expect, test } from "vitest";
import { createSyncProgress, mayStillCome } from "./sync-progress.ts";

describe("an addon instance that an app names and nobody sees", () => {
  const NOTHING_KNOWN = { isHeld: false, isSyncComplete: false, wasMissing: false, isDeleted: false };
  test.each([
    ["is waited for while the hub may still tell of it", {}, true],
    ["is missing once the hub has told everything", { isSyncComplete: true }, false],
    ["is waited for where the cluster holds it", { isSyncComplete: true, isHeld: true }, true],
    ["stays missing for the same app when a new session begins", { wasMissing: true }, false],
    ["is missing if it was deleted, whatever the hub may still tell", { isDeleted: true }, false],
    ["is waited for if it comes again after it was deleted", { isDeleted: true, isHeld: true }, true],
    ["is waited for once it is told after all", { wasMissing: true, isHeld: true }, true],
  ])("[AO38] an addon instance that an app names and nobody has seen %s", (_, given, isAwaited) => {
    expect(mayStillCome({ ...NOTHING_KNOWN, ...given })).toBe(isAwaited);
  });
});

test("[AO38] the sync is complete once it has ended after the resource was received", () => {
  const syncProgress = createSyncProgress();
  const [shop, blog] = ["app/market/shop", "app/market/blog"];
  expect(syncProgress.isCompleteSince(shop)).toBe(false);
  syncProgress.received(shop);
  syncProgress.syncEnded();
  expect(syncProgress.isCompleteSince(shop)).toBe(true);
  syncProgress.received(blog);
  expect([shop, blog].map(syncProgress.isCompleteSince)).toEqual([true, false]);
  syncProgress.received(shop);
  expect(syncProgress.isCompleteSince(shop)).toBe(false);
  syncProgress.syncEnded();
  expect([shop, blog].map(syncProgress.isCompleteSince)).toEqual([true, true]);
});
