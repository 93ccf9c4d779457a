import { mergePatch } from "@binnacle/contract";
import fc from "fast-check";
import { expect, test } from "vitest";
import { kubernetesSchema } from "../schema/kubernetes-schema.ts";
import { jsonPatch, PatchFailed } from "./json-patch.ts";
import { strategicPatch } from "./strategic-patch.ts";

test.each([
  [{ a: 1 }, [{ op: "add", path: "/b", value: 2 }], { a: 1, b: 2 }],
  [{ a: [1, 3] }, [{ op: "add", path: "/a/1", value: 2 }], { a: [1, 2, 3] }],
  [{ a: [1] }, [{ op: "add", path: "/a/-", value: 2 }], { a: [1, 2] }],
  [{ a: 1 }, [{ op: "replace", path: "/a", value: 2 }], { a: 2 }],
  [{ a: [1, 2] }, [{ op: "remove", path: "/a/0" }], { a: [2] }],
  [
    { "a/b": 1, "m~n": 2 },
    [
      { op: "remove", path: "/a~1b" },
      { op: "test", path: "/m~0n", value: 2 },
    ],
    { "m~n": 2 },
  ],
  [{ a: 1 }, [{ op: "move", from: "/a", path: "/b" }], { b: 1 }],
  [{ a: { x: 1 } }, [{ op: "copy", from: "/a", path: "/b" }], { a: { x: 1 }, b: { x: 1 } }],
])("[SA40] the document %j, JSON-patched by %j, is %j", (document, patch, result) => {
  expect(jsonPatch(document, patch)).toEqual(result);
});

test.each([
  [[{ op: "remove", path: "/zz" }]],
  [[{ op: "replace", path: "/zz", value: 1 }]],
  [[{ op: "test", path: "/a", value: 9 }]],
  [[{ op: "add", path: "/l/9", value: 9 }]],
  [[{ op: "add", path: "nowhere", value: 9 }]],
  [
    [
      { op: "add", path: "/b", value: 1 },
      { op: "frob", path: "/a" },
    ],
  ],
  [{}],
])("[SA40] the JSON patch %j fails, and changes nothing", (patch) => {
  const document = { a: 1, l: [1] };
  expect(() => jsonPatch(document, patch)).toThrow(PatchFailed);
  expect(document).toEqual({ a: 1, l: [1] });
});

const values = fc.object({ maxDepth: 2, values: [fc.integer(), fc.string(), fc.constant(null)] });

test("[SA40] applying a merge patch a second time changes nothing", () => {
  fc.assert(
    fc.property(values, values, (target, patch) => {
      const once = mergePatch(target, patch);
      expect(mergePatch(once, patch)).toEqual(once);
    }),
  );
});

const schema = kubernetesSchema("core.v1.PodSpec");
const spec = {
  containers: [
    {
      name: "a",
      image: "a:1",
      env: [
        { name: "X", value: "1" },
        { name: "Y", value: "2" },
      ],
    },
    { name: "b", image: "b:1", args: ["p", "q"] },
  ],
  volumes: [{ name: "v", emptyDir: {} }],
  nodeSelector: { k: "1" },
};

test.each([
  [
    "merges by name",
    { containers: [{ name: "a", env: [{ name: "X", value: "9" }] }] },
    { containers: [{ env: [{ value: "9" }, { name: "Y" }] }, { name: "b" }] },
  ],
  [
    "replaces lists that have no keys",
    { containers: [{ name: "b", args: ["z"] }] },
    { containers: [{ name: "a" }, { args: ["z"] }] },
  ],
  ["deletes an element", { containers: [{ name: "a", $patch: "delete" }] }, { containers: [{ name: "b" }] }],
  ["replaces a list", { containers: [{ $patch: "replace" }, { name: "z" }] }, { containers: [{ name: "z" }] }],
  [
    "orders",
    { "$setElementOrder/containers": [{ name: "b" }, { name: "a" }] },
    { containers: [{ name: "b" }, { name: "a" }] },
  ],
  [
    "keeps only some keys",
    { volumes: [{ name: "v", $retainKeys: ["name", "secret"], secret: { secretName: "s" } }] },
    { volumes: [{ name: "v", secret: { secretName: "s" } }] },
  ],
  ["deletes a field", { nodeSelector: null }, {}],
])("[SA40] a strategic patch %s", (_, patch, expected) => {
  const result = strategicPatch(schema, spec, patch);
  expect(result).toMatchObject(expected);
  expect(JSON.stringify(result)).not.toContain("$");
});

test("[SA40] a strategic patch removes an element from a list that is kept, and nothing else", () => {
  const result = strategicPatch(schema, spec, {
    containers: [{ name: "a", env: [{ name: "X", $patch: "delete" }] }],
    nodeSelector: null,
  });
  expect(result).toEqual({
    containers: [{ name: "a", image: "a:1", env: [{ name: "Y", value: "2" }] }, spec.containers[1]],
    volumes: spec.volumes,
  });
  expect(() => strategicPatch(schema, spec, { containers: [{ image: "x" }] })).toThrow(PatchFailed);
});
