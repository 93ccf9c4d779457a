import { expect, test } from "vitest";
import { diffValues, usersOf } from "./value-diff.ts";

const SECRET = { secret_ref: { name: "db", key: "password" } };

test.each([
  [{}, {}, []],
  [{ a: { b: 1 } }, { a: { b: 1 } }, []],
  [{ a: { b: 1 } }, { a: { b: 2 } }, [["a.b", "1", "2"]]],
  [{ a: 1 }, {}, [["a", "1", undefined]]],
  [{}, { a: "x" }, [["a", undefined, "x"]]],
  [{ a: [1] }, { a: [1, 2] }, [["a", "[1]", "[1,2]"]]],
  [{ p: SECRET }, { p: SECRET }, []],
  [{}, { p: SECRET }, [["p", undefined, "a secret"]]],
])("[WC94] the comparison of two revisions of an addon has the values that differ: %#", (before, after, changes) => {
  expect(diffValues(before, after).map(({ path, before: old, after: young }) => [path, old, young])).toEqual(changes);
});

const app = (...components: object[]) => ({ name: "shop", components: components as never[] });

test.each<[string, object[], readonly string[]]>([
  ["an attached component", [{ name: "web", export_refs: [{ component: "db" }] }], ["web"]],
  ["a variable", [{ name: "web", workload_spec: { env: [{ export_ref: { component: "db" } }, {}] } }], ["web"]],
  [
    "a component that stands for it",
    [
      { name: "store", addon_spec: { instance: "db" } },
      { name: "web", export_refs: [{ component: "store" }] },
    ],
    ["store", "web"],
  ],
  [
    "another component of its name",
    [
      { name: "db", workload_spec: {} },
      { name: "web", export_refs: [{ component: "db" }] },
    ],
    [],
  ],
  ["nothing of it", [{ name: "web", export_refs: [{ component: "other" }] }], []],
])("[WC94] the list of an addon's users is right for an app that has %s", (_, components, names) => {
  expect(usersOf([app(...components)], "db").flatMap((user) => user.components)).toEqual(names);
});
