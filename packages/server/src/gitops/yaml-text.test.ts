import fc from "fast-check";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { yamlText } from "./yaml-text.ts";

test("[GO41] the text of an object is read as that object, whatever is in it", () => {
  const awkward = fc.constantFrom(
    ...[
      "true",
      "No",
      "1e3",
      "0x1f",
      "~",
      "",
      " a",
      "a ",
      "- a",
      "a: b",
      "a #b",
      "#a",
      "&a",
      "*a",
      "!a",
      "%a",
      "@a",
      "`a",
      "2026-01-01",
    ],
    ...[
      "a\nb",
      "a\nb\n",
      "a\n\n",
      "\na",
      " a\nb",
      "a\r\nb",
      "a\n b\n  c",
      "a\n\nb",
      "\t",
      "a\tb\n",
      "\u2028",
      "\u0085",
      "\ufeff",
      "日本",
      "--- a",
      "...",
      ".inf",
      "=",
      "<<",
    ],
  );
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      awkward,
      tie("list"),
      tie("map"),
      fc.string({ unit: "grapheme" }),
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.boolean(),
      fc.constant(null),
    ),
    list: fc.array(tie("any"), { maxLength: 4 }),
    map: fc.dictionary(
      fc.oneof(awkward, fc.string()).filter((key) => key !== "__proto__"),
      tie("any"),
      { maxKeys: 4 },
    ),
  })).map;
  fc.assert(
    fc.property(value, (given) => {
      const expected = JSON.parse(JSON.stringify(given));
      expect(parse(yamlText(given), { merge: false })).toEqual(expected);
    }),
    { numRuns: 500 },
  );
});

test("[GO41] a text in YAML has sorted keys, and several lines as they are", () => {
  const text = yamlText({ b: [{ z: 1, a: "x" }, "y", []], a: { script: "one\n  two\n", none: {} } });
  expect(text).toBe('a:\n  none: {}\n  script: |\n    one\n      two\nb:\n  - a: x\n    z: 1\n  - "y"\n  - []\n');
});
