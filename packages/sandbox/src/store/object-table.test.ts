import fc from "fast-check";
import { expect, test } from "vitest";
import type { KubeObject } from "./kube-object.ts";
import { type Change, ObjectTable } from "./object-table.ts";

const object = (name: string, value = 0): KubeObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "n" },
  value,
});

/** Puts and removals, each of one of a few names. */
const acts = fc.array(fc.tuple(fc.constantFrom("a", "b", "c"), fc.boolean(), fc.nat()), { maxLength: 60 });

function carryOut(table: ObjectTable, [name, isRemoval, value]: readonly [string, boolean, number]): void {
  if (!isRemoval) table.put("configmaps", object(name, value));
  else if (table.get("configmaps", name, "n")) table.remove("configmaps", object(name));
}

const stateOf = (table: ObjectTable) => new Map(table.list("configmaps").map((one) => [one.metadata.name, one]));

function replay(state: Map<string, KubeObject>, changes: readonly Change[]) {
  for (const { type, object: changed } of changes) {
    if (type === "DELETED") state.delete(changed.metadata.name);
    else state.set(changed.metadata.name, changed);
  }
  return state;
}

test("[SA10] resource versions grow with every change", () => {
  fc.assert(
    fc.property(acts, (all) => {
      const table = new ObjectTable();
      for (const act of all) carryOut(table, act);
      const versions = (table.changesSince(1) ?? []).map(({ version }) => version);
      expect(versions).toEqual([...new Set(versions)].sort((a, b) => a - b));
    }),
  );
});

test("[SA11] a list and the changes since then add up to the present objects", () => {
  fc.assert(
    fc.property(acts, acts, (before, after) => {
      const table = new ObjectTable({ historyLength: 1_000 });
      for (const act of before) carryOut(table, act);
      const [state, version] = [stateOf(table), table.version];
      for (const act of after) carryOut(table, act);
      expect(replay(state, table.changesSince(version) ?? [])).toEqual(stateOf(table));
    }),
  );
});

test("[SA11] changes that are no longer stored are refused, and not delivered in part", () => {
  const table = new ObjectTable({ historyLength: 2 });
  const first = table.version;
  for (let value = 0; value < 10; value++) table.put("configmaps", object("a", value));
  expect(table.changesSince(first)).toBeNull();
  expect(table.changesSince(table.version - 1)).toHaveLength(1);
  expect(table.changesSince(table.version)).toEqual([]);
});

test("[SA10] a change is delivered after the call that made it, and changes made meanwhile after that", async () => {
  const table = new ObjectTable();
  const announced: unknown[] = [];
  table.listen(({ object: { value } }) => {
    announced.push(value);
    if (value === 1) table.put("configmaps", object("a", 3));
  });
  table.put("configmaps", object("a", 1));
  table.put("configmaps", object("a", 2));
  expect(announced).toEqual([]);
  await Promise.resolve();
  await Promise.resolve();
  expect(announced).toEqual([1, 2, 3]);
});

test("[SA10] a listener gets no change from before it listened, or after it stopped", async () => {
  const table = new ObjectTable();
  const announced: unknown[] = [];
  table.put("configmaps", object("a", 1));
  const stop = table.listen(({ object: { value } }) => announced.push(value));
  table.put("configmaps", object("a", 2));
  await Promise.resolve();
  stop();
  table.put("configmaps", object("a", 3));
  await Promise.resolve();
  expect(announced).toEqual([2]);
});
