import { MAX_TEMPLATE_YAML } from "@binnacle/contract";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { LARGEST_YAML_CHARACTERS, readYaml } from "./template-yaml.ts";

const bomb = `a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: [*c, *c]\n`;

describe("reading YAML", () => {
  test("[TP30] the reader of YAML and the contract state the same limit of characters", () => {
    expect(LARGEST_YAML_CHARACTERS).toBe(MAX_TEMPLATE_YAML);
  });

  test("[TP28] a value that is written as YAML is read back unchanged, whatever it is", () => {
    // YAML has no other characters, and the writer leaves them as they are.
    const isPrintable = (text: string) => !/[\u007f-\u0084\u0086-\u009f\ufffe\uffff]/.test(text);
    const key = fc.string({ unit: "binary", maxLength: 8 }).filter((text) => text !== "__proto__" && isPrintable(text));
    const scalar = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null));
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { depthSize: "small" },
        scalar,
        fc.array(tie("value"), { maxLength: 4 }),
        fc.dictionary(key, tie("value"), { maxKeys: 4 }),
      ),
    }));
    fc.assert(
      fc.property(value, (given) => {
        const text = stringify(given, { aliasDuplicateObjects: false });
        expect(readYaml(text)).toEqual({ kind: "value", value: given });
      }),
      { numRuns: 300 },
    );
  });

  test("[TP28] the reader of YAML takes JSON, which is YAML too", () => {
    expect(readYaml('{"a": [1, {"b": "c"}]}')).toEqual({ kind: "value", value: { a: [1, { b: "c" }] } });
  });

  test.each([
    ["an unfinished list", "a: [1, 2", /^Line 1: /],
    ["a tab for an indent", "a:\n\tb: 1", /^Line 2: /],
    ["nothing", "", /empty/],
    ["nothing but a comment", "# here\n", /empty/],
  ])("[TP28] the reader of YAML says where %s is not YAML", (_, text, msg) => {
    expect(readYaml(text)).toMatchObject({ kind: "malformed", msg: expect.stringMatching(msg) });
  });

  test.each([
    ["a bomb of aliases", bomb, "anchors are not taken"],
    ["an alias that holds itself", "a: &a [*a]", "anchors are not taken"],
    ["an anchor", "a: &a 1", "anchors are not taken"],
    ["a tag", "a: !!js/function x", "tags are not taken"],
    ["a tag of YAML's own", "a: !!binary aGVsbG8=", "tags are not taken"],
    ["a key given twice", "a: 1\nb: 2\na: 3", "a key is given twice"],
    ["a key given twice as text and number", '1: a\n"1": b', "a key is given twice"],
    ["a key that is a list", "? [a]\n: 1", "a key must be text"],
    ["a key that reaches into prototypes", "__proto__: { admin: true }", "__proto__"],
    ["a number without end", "a: .inf", "a number must be finite"],
    ["what is not a number", "a: .nan", "a number must be finite"],
    ["two documents", "a: 1\n---\nb: 2", "one document"],
    ["deep lists", `a: ${"[".repeat(65)}${"]".repeat(65)}`, "nest deeper"],
    ["endless lists", "[".repeat(100_000), "nest deeper"],
    ["endless dashes", "- ".repeat(60_000), "nest deeper"],
    ["a deep staircase", Array.from({ length: 70 }, (_, depth) => `${" ".repeat(depth)}a:`).join("\n"), "nest deeper"],
    ["too many nodes", "-\n".repeat(41_000), "more than 40000 nodes"],
    ["too many nodes in one line", `[${"1,".repeat(41_000)}]`, "more than 40000 nodes"],
    ["too much", "x".repeat(LARGEST_YAML_CHARACTERS + 1), "at most"],
  ])("[TP30] the reader of YAML refuses %s", (_, text, msg) => {
    expect(readYaml(text)).toMatchObject({ kind: "refused", msg: expect.stringContaining(msg) });
  });
});
