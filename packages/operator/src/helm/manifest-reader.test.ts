import { describe, expect, test } from "vitest";
import { documentsIn, objectsIn, UnreadableManifest } from "./manifest-reader.ts";

const read = (manifest: string) => documentsIn(manifest).flatMap(objectsIn);

describe("the text of a chart's objects", () => {
  test.each<[string, string, unknown[]]>([
    ["nothing", "", []],
    ["comments alone", "# Source: a.yaml\n", []],
    ["null", "~\n", []],
    ["documents", "kind: A\n---\nkind: B\n--- # next\nkind: C\r\n---\n", [{ kind: "A" }, { kind: "B" }, { kind: "C" }]],
    ["JSON", '{"kind": "A", "spec": {"a": [1, true, null]}}', [{ kind: "A", spec: { a: [1, true, null] } }]],
    ["an escaped key", '"ki\\u006ed": A', [{ kind: "A" }]],
    ["a key with a question mark", "? kind\n: A", [{ kind: "A" }]],
    ["a byte order mark", "kind: A\n\ufeffspec: b", [{ kind: "A", spec: "b" }]],
    ["an alias", "a: &a {b: c}\nd: *a", [{ a: { b: "c" }, d: { b: "c" } }]],
    ["the tags of YAML", "a: !!str 1\nb: !!map {}", [{ a: "1", b: {} }]],
    ["a list", "kind: List\nitems: [{kind: A}, {kind: B}]", [{ kind: "A" }, { kind: "B" }]],
    ["a list in a list", "kind: List\nitems: [{kind: List, items: [{kind: A}]}]", [{ kind: "A" }]],
    [
      "a list of a kind, whose objects have theirs from it",
      "apiVersion: networking.k8s.io/v1\nkind: IngressList\nitems: [{metadata: {name: a}}]",
      [{ apiVersion: "networking.k8s.io/v1", kind: "Ingress", metadata: { name: "a" } }],
    ],
    ["an empty list that calls itself something else", "kind: Ingress\nitems: []", []],
  ])("[HE42] a manifest is read as Kubernetes reads it: %s", (_, manifest, objects) => {
    expect(read(manifest)).toEqual(objects);
  });

  test.each<[string, string, RegExp]>([
    ["a key twice", "kind: ConfigMap\nkind: Ingress", /duplicated mapping key/],
    ["a key twice in JSON", '{"kind": "ConfigMap", "kind": "Ingress"}', /duplicated mapping key/],
    ["an unknown tag", "spec: {rules: [{host: !x victim.example}]}", /unknown scalar tag/],
    ["an encoded key", "!!binary a2luZA==: Ingress", /unknown scalar tag/],
    ["a merge key", "a: &a {host: b}\nspec: {<<: *a}", /merge key/],
    ["a comment that ends at a line separator", "kind: A # \u2028host: b", /line break/],
    ["a comment that ends at a next line", "kind: A # \u0085host: b", /line break/],
    ["a comment that ends at a carriage return", "kind: A # \rhost: b", /line break/],
    ["more behind the end of a document", "kind: A\n...\nkind: B", /ends before its text/],
    ["more than one value", '{"kind": "A"}{"kind": "B"}', /separator is expected/],
    ["text behind a separator", "kind: A\n--- kind: B\n", /behind a document separator/],
    ["directives", "%TAG ! tag:yaml.org,2002:\n---\nkind: !binary a2luZA==", /./],
    ["no object", "- kind: A", /not an object/],
    ["a list with something else in it", "kind: List\nitems: [a]", /not an object/],
    ["an alias that is not there", "kind: *a", /unidentified alias/],
    ["something that holds itself", "kind: A\nspec: &a {b: *a}", /aliases stand for too much/],
    ["]broken[", "]broken[", /./],
  ])("[HE42] a manifest is refused with %s", (_, manifest, message) => {
    expect(() => read(manifest)).toThrow(UnreadableManifest);
    expect(() => read(manifest)).toThrow(message);
  });

  test("[HE42] a manifest that nests, repeats or grows too much is refused in bounded time and memory", () => {
    const doubling = Array.from({ length: 60 }, (_, at) => `a${at + 1}: &a${at + 1} [*a${at}, *a${at}]\n`).join("");
    expect(() => read(`a0: &a0 [x, x]\n${doubling}`)).toThrow("aliases stand for too much");
    const lists = [1, 2, 3, 4].map((at) => `l${at}: &l${at} {items: [${`*l${at - 1},`.repeat(100)}]}\n`).join("");
    expect(() => read(`l0: &l0 {items: []}\n${lists}kind: List\nitems: [*l4]`)).toThrow(/too much|more than 10000/);
    expect(() => read("[".repeat(100_000))).toThrow("nesting exceeded");
    // Keys that are numbers come back in their own order, so the deepest one is reached first.
    const link = (key: number) => `${key}: &a${key} ${"[".repeat(60)}*a${key + 1}${"]".repeat(60)}\n`;
    const chain = Array.from({ length: 900 }, (_, at) => link(899 - at)).join("");
    expect(() => read(`900: &a900 []\n${chain}`)).toThrow("nest too deeply");
  });

  test("[HE42] a refused manifest is never quoted, because it may hold a secret", () => {
    expect(() => read("password: s3cret-of-the-test\npassword: again")).toThrow(/^duplicated mapping key$/);
  });
});
