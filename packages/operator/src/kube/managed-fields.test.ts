import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ManagedFields } from "./kube-client.ts";
import {
  type FieldPath,
  fieldsOf,
  find,
  holdersOf,
  jsonPointer,
  ownFields,
  type PathStep,
  pathId,
} from "./managed-fields.ts";

/** As the API server writes a step. */
function textOf(step: PathStep): string {
  if ("field" in step) return `f:${step.field}`;
  if ("index" in step) return `i:${step.index}`;
  if ("value" in step) return `v:${JSON.stringify(step.value)}`;
  return `k:${JSON.stringify(step.key)}`;
}

type Tree = { [text: string]: Tree };

/** As the API server writes a set of paths. */
function fieldsV1Of(paths: readonly FieldPath[]): Tree {
  const root: Tree = {};
  for (const path of paths) {
    const end = path.reduce((node, step) => {
      node[textOf(step)] ??= {};
      return node[textOf(step)] as Tree;
    }, root);
    end["."] = {};
  }
  return withoutLoneDots(root);
}

/** A leaf is written without a dot. */
function withoutLoneDots(tree: Tree): Tree {
  const entries = Object.entries(tree).filter(([text]) => text !== ".");
  const inner = Object.fromEntries(entries.map(([text, below]) => [text, withoutLoneDots(below)]));
  return entries.length > 0 && "." in tree ? { ...inner, ".": {} } : inner;
}

const step: fc.Arbitrary<PathStep> = fc.oneof(
  fc.string().map((field) => ({ field })),
  fc.nat(20).map((index) => ({ index })),
  fc.oneof(fc.string(), fc.integer()).map((value) => ({ value })),
  fc.record({ name: fc.string() }).map((key) => ({ key })),
  fc.record({ containerPort: fc.nat(), protocol: fc.constantFrom("TCP", "UDP") }).map((key) => ({ key })),
);
const somePaths = fc.uniqueArray(fc.array(step, { minLength: 1, maxLength: 5 }), { selector: pathId, maxLength: 12 });

describe("who manages which field", () => {
  test("[AO26] the managers of fields are read from `managedFields` as they were written", () => {
    fc.assert(
      fc.property(somePaths, (paths) => {
        const read = fieldsOf(fieldsV1Of(paths));
        expect(read.map(({ path }) => pathId(path)).sort()).toEqual(paths.map(pathId).sort());
      }),
    );
  });

  test("[AO26] a field with fields below it is read as present, and not as a value", () => {
    const read = fieldsOf({ "f:spec": { "f:ports": { 'k:{"port":80}': { ".": {}, "f:name": {} } } } });
    const element = [{ field: "spec" }, { field: "ports" }, { key: { port: 80 } }];
    expect(read).toEqual([
      { path: element, isLeaf: false },
      { path: [...element, { field: "name" }], isLeaf: true },
    ]);
  });

  test("[AO26] a field is the operator's only where it applied the field, and declared by others only where they applied it", () => {
    const fieldsV1 = { "f:spec": { "f:replicas": {} } };
    const entry = (manager: string, operation: "Apply" | "Update", subresource = ""): ManagedFields => ({
      manager,
      operation,
      apiVersion: "apps/v1",
      fieldsV1,
      ...(subresource ? { subresource } : {}),
    });
    const managedFields = [
      entry("binnacle", "Apply"),
      entry("binnacle", "Apply", "status"),
      entry("binnacle-handover", "Apply"),
      entry("argocd", "Apply"),
      entry("kubectl-edit", "Update"),
    ];
    const object = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web", managedFields } };
    expect(ownFields(object)).toHaveLength(1);
    expect(holdersOf(object, [{ field: "spec" }, { field: "replicas" }])).toMatchObject([
      { manager: "binnacle", isDeclared: false },
      { manager: "binnacle-handover", isDeclared: false },
      { manager: "argocd", isDeclared: true },
      { manager: "kubectl-edit", isDeclared: false },
    ]);
    expect(holdersOf(object, [{ field: "spec" }])).toEqual([]);
  });
});

/** RFC 6901, section 4. */
function resolve(document: unknown, pointer: string): unknown {
  return pointer
    .split("/")
    .slice(1)
    .map((text) => text.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce((value, name) => (value as Record<string, unknown>)[name], document);
}

describe("a pointer", () => {
  test("[AO31] a JSON pointer leads back to the value, whatever the names on the way", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ minLength: 1 }), { maxLength: 4 }), fc.jsonValue(), (names, value) => {
        const safe = names.filter((name) => name !== "__proto__");
        const document = safe.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
        const found = find(
          document,
          safe.map((field) => ({ field })),
        );
        expect(resolve(document, jsonPointer(found?.steps ?? []))).toEqual(value);
      }),
    );
  });

  test("[AO31] an element of a list is found by its key, value or index, wherever the element stands", () => {
    const document = { ports: [{ containerPort: 53, protocol: "UDP" }, { containerPort: 53 }], args: ["-v", "-q"] };
    const at = (element: PathStep, list = "ports") => find(document, [{ field: list }, element])?.steps;
    expect(at({ key: { containerPort: 53, protocol: "UDP" } })).toEqual(["ports", 0]);
    expect(at({ key: { containerPort: 53, protocol: "TCP" } })).toEqual(["ports", 1]);
    expect(at({ value: "-q" }, "args")).toEqual(["args", 1]);
    expect(at({ index: 1 }, "args")).toEqual(["args", 1]);
    expect(at({ index: 2 }, "args")).toBeUndefined();
    expect(at({ key: { containerPort: 54 } })).toBeUndefined();
  });
});
