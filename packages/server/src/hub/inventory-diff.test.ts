import type { InventoryEntry } from "@binnacle/contract";
import fc from "fast-check";
import { expect, test } from "vitest";
import { diffInventory, type ExpectedRow, expectedText } from "./inventory-diff.ts";

const row = (fields: Partial<ExpectedRow> = {}): ExpectedRow => ({
  cluster_id: "c",
  kind: "app",
  resource_id: "web",
  key: "app/shop/web",
  generation: 5,
  revision: 9,
  removed_at: null,
  acked_generation: 5,
  acked_hash: "h5",
  ...fields,
});
const entry = (fields: Partial<InventoryEntry> = {}): InventoryEntry => ({
  key: "app/shop/web",
  resource_id: "web",
  generation: 5,
  hash: "h5",
  ...fields,
});
const removed = { removed_at: new Date(0), generation: 6 };
const NOTHING = { pending: [], reissued: [], unknown: [] };

test.each([
  ["as expected", row(), entry(), "nothing"],
  ["as expected, while the next generation is on its way", row({ generation: 6 }), entry(), "nothing"],
  ["not held, and never told", row({ acked_generation: null, acked_hash: null }), null, "nothing"],
  ["not held, its removal confirmed", row({ ...removed, acked_generation: 6, acked_hash: null }), null, "nothing"],
  ["not held, though confirmed", row(), null, "pending"],
  ["held in an older generation", row(), entry({ generation: 4, hash: "h4" }), "pending"],
  ["held with another content", row(), entry({ hash: "x" }), "pending"],
  [
    "held in a generation whose confirmation was lost",
    row({ generation: 6 }),
    entry({ generation: 6, hash: "h6" }),
    "pending",
  ],
  ["held under another key", row(), entry({ key: "app/shop/other" }), "pending"],
  [
    "held, though its removal was confirmed",
    row({ ...removed, acked_generation: 6, acked_hash: null }),
    entry(),
    "pending",
  ],
  ["not held, its removal not yet confirmed", row(removed), null, "pending"],
] as const)(
  "[HB47] a resource that is %s is sent again only if cluster and record differ",
  (_, expected, held, outcome) => {
    const diff = diffInventory([expected], held ? [held] : [], false);
    expect(diff).toEqual(outcome === "nothing" ? NOTHING : { ...NOTHING, pending: [expected] });
  },
);

test("[HB47] a resource in the inventory that is not on record is named", () => {
  const { unknown } = diffInventory([], [entry({ key: "project/shop", resource_id: "p", generation: 7 })], false);
  expect(unknown).toEqual(["project/shop"]);
});

test("[HB47] a project and its pull secrets, which share an id, are compared as two resources", () => {
  const project = row({ kind: "project", key: "project/shop", resource_id: "p" });
  const secrets = row({ kind: "registry_secrets", key: "registry_secrets/shop", resource_id: "p" });
  const held = [project, secrets].map(({ key, resource_id }) => entry({ key, resource_id }));
  expect(diffInventory([project, secrets], held, false)).toEqual(NOTHING);
});

test.each([
  ["a later generation", false, entry({ generation: 8, hash: "h8" }), 8],
  ["a later generation", true, entry({ generation: 8, hash: "h8" }), 8],
  ["the same generation with another content", true, entry({ hash: "x" }), 5],
])(
  "[HB48] a resource that the cluster holds in %s is issued again above it (restored: %s)",
  (_, isRestored, held, above) => {
    expect(diffInventory([row()], [held], isRestored)).toEqual({
      ...NOTHING,
      reissued: [{ kind: "app", resourceId: "web", above }],
    });
  },
);

test("[HB46] the digest covers what clusters have acknowledged, in any order", () => {
  const rows = [
    row(),
    row({ key: "app/shop/api", resource_id: "api", generation: 9, acked_generation: 8, acked_hash: "h8" }),
    row({ key: "app/shop/new", resource_id: "new", acked_generation: null, acked_hash: null }),
    row({ key: "app/shop/leaving", resource_id: "leaving", ...removed }),
    row({ key: "app/shop/left", resource_id: "left", ...removed, acked_generation: 6, acked_hash: null }),
  ];
  expect(expectedText(rows.toReversed())).toBe("app/shop/api|8|h8\napp/shop/leaving|5|h5\napp/shop/web|5|h5");
});

test("[HB47] a cluster that holds exactly what it has acknowledged has no difference", () => {
  const acked = fc.uniqueArray(fc.nat(50), { maxLength: 20 });
  fc.assert(
    fc.property(acked, fc.boolean(), (numbers, isRestored) => {
      const rows = numbers.map((n) =>
        row({ key: `app/a/x${n}`, resource_id: `${n}`, acked_generation: n, generation: n }),
      );
      const held = rows.map(({ key, resource_id, generation }) => entry({ key, resource_id, generation }));
      expect(diffInventory(rows, held.toReversed(), isRestored)).toEqual(NOTHING);
    }),
  );
});
