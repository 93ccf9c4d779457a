import { expect, test } from "vitest";
import { deletionLines } from "./deletion-lines.ts";

const nothing = { volumes: [], objects: [], apps: [], addon_instances: [], truncated: false };
const volume = (fate: "deleted" | "released" | "kept" | "unknown") => ({
  claim: "data-db-0",
  component: null,
  size: "10Gi",
  storage_class: null,
  volume: null,
  reclaim_policy: null,
  fate,
  recovery: "Restore a backup.",
});
const object = (name: string) => ({ component: null, kind: "Secret", name, namespace: "shop" });

test.each([
  ["deleted", "Volume data-db-0 (10Gi) is deleted with its data. Restore a backup."],
  [
    "released",
    "Volume data-db-0 (10Gi) is released: the storage keeps the data, and the claim goes. Restore a backup.",
  ],
  ["kept", "Volume data-db-0 (10Gi) is kept. Restore a backup."],
  ["unknown", "Volume data-db-0 (10Gi) has an unknown fate. Restore a backup."],
] as const)("[WC95] the preview of a deletion says of a volume that is %s what becomes of the data", (fate, line) => {
  expect(deletionLines({ ...nothing, volumes: [volume(fate)] })).toEqual([line]);
});

test("[WC95] the preview of a deletion begins with volumes, and says how many more a long list has", () => {
  const objects = Array.from({ length: 14 }, (_, index) => object(`s${index}`));
  const lines = deletionLines({ ...nothing, volumes: [volume("deleted")], objects });
  expect(lines[0]).toContain("Volume");
  expect(lines).toHaveLength(1 + 12 + 1);
  expect(lines.at(-1)).toBe("2 more objects go.");
});

test("[WC95] the preview of a deletion says that its list was cut off", () => {
  expect(deletionLines({ ...nothing, truncated: true })).toEqual(["More objects go than are listed."]);
});
