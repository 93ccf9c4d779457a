import { LABELS } from "@binnacle/contract";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type InventoryItem,
  itemId,
  itemOf,
  itemsIn,
  type PruneScope,
  pruningOf,
  union,
  without,
} from "./inventory.ts";
import type { KubeObject } from "./kube-client.ts";

const item = (given: Partial<InventoryItem> = {}): InventoryItem => ({
  group: "apps",
  version: "v1",
  kind: "Deployment",
  namespace: "shop",
  name: "web",
  component: "web",
  uid: "u1",
  ...given,
});
const object = (given: Partial<KubeObject["metadata"]> = {}): KubeObject => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", namespace: "shop", uid: "u1", labels: { [LABELS.component]: "web" }, ...given },
});
const scope: PruneScope = { namespace: "shop", isOurs: () => true, isLast: false };

describe("what is not desired any more", () => {
  test.each<[string, Partial<InventoryItem>, KubeObject | null, Partial<PruneScope>, string]>([
    ["is deleted", {}, object(), {}, "delete"],
    ["is deleted, though only its name is on record", { uid: "" }, object(), {}, "delete"],
    ["is waited for", {}, object({ deletionTimestamp: "2026-01-01T00:00:00Z" }), {}, "wait"],
    ["is forgotten where it is gone", {}, null, {}, "forget"],
    ["is forgotten where another has its name", {}, object({ uid: "u2" }), {}, "forget"],
    ["is forgotten where it is not ours", {}, object(), { isOurs: () => false }, "forget"],
    ["is forgotten where it is elsewhere", { namespace: "kube-system" }, object(), {}, "forget"],
  ])("[AO4] an object that is not desired any more %s", (_, given, live, change, expected) => {
    expect(pruningOf(item(given), live, { ...scope, ...change })).toBe(expected);
  });

  test.each<[string, string, boolean, string]>([
    ["a claim stays", "PersistentVolumeClaim", false, "retain"],
    ["a claim goes with the app", "PersistentVolumeClaim", true, "delete"],
    ["a definition stays for good", "CustomResourceDefinition", true, "forget"],
  ])("[AO5] what is pruned depends on the kind: %s", (_, kind, isLast, expected) => {
    expect(pruningOf(item({ kind }), object(), { ...scope, isLast })).toBe(expected);
  });
});

const anItem: fc.Arbitrary<InventoryItem> = fc.record({
  group: fc.constantFrom("", "apps"),
  version: fc.constantFrom("v1", "v2"),
  kind: fc.constantFrom("Deployment", "Service"),
  namespace: fc.constantFrom("shop", "other"),
  name: fc.constantFrom("web", "api", "db"),
  component: fc.constant("web"),
  uid: fc.constantFrom("", "u1", "u2"),
});
const someItems = fc.uniqueArray(anItem, { selector: itemId });

describe("an inventory", () => {
  test("[AO3] the union of two inventories holds everything of both, and each object once", () => {
    fc.assert(
      fc.property(someItems, someItems, (before, after) => {
        const both = union(before, after);
        const ids = both.map(itemId);
        expect(new Set(ids).size).toBe(ids.length);
        expect([...new Set([...before, ...after].map(itemId))].sort()).toEqual([...ids].sort());
        expect(without(both, after).every((one) => before.includes(one))).toBe(true);
        expect(union(both, after)).toEqual(both);
      }),
    );
  });

  test("[AO3] the union of two inventories keeps the uid of an object that is about to be made again", () => {
    expect(union([item()], [item({ uid: "" })])).toEqual([item()]);
    expect(union([item({ uid: "" })], [item()])).toEqual([item()]);
    expect(union([item()], [item({ uid: "u2" })])).toEqual([item({ uid: "u2" })]);
  });

  test("[AO3] an inventory is made of objects, and read from a status that anybody may have written", () => {
    expect(itemOf(object())).toEqual(item());
    expect(itemsIn([item(), { kind: "Secret" }, null, "x", { ...item(), uid: 7 }])).toEqual([item()]);
    expect(itemsIn("nonsense")).toEqual([]);
  });
});
