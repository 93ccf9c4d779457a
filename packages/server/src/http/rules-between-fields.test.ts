import { exactlyOneOf, except, given, holds, holdsByDefault, where, withoutRules } from "@binnacle/contract";
import Type from "typebox";
import { describe, expect, test } from "vitest";
import { judged } from "./checked.fixture.ts";

describe("a rule between fields", () => {
  const Thing = Type.Object(
    {
      kind: Type.Optional(Type.Enum(["file", "link"], { default: "file" })),
      path: Type.Optional(Type.String()),
      url: Type.Optional(Type.String({ format: "uri" })),
      size: Type.Optional(Type.Integer({ minimum: 1 })),
      user: Type.Optional(Type.String()),
      password: Type.Optional(Type.String()),
      name: Type.Optional(Type.String({ allOf: [except("The name is reserved", { pattern: "^root$" })] })),
    },
    {
      additionalProperties: false,
      dependentRequired: { user: ["password"] },
      allOf: [
        exactlyOneOf("path", "url"),
        where(holds("kind", ["link"]), "A link has no size", { requires: ["url"], refuses: ["size"] }),
        where(holdsByDefault("kind", ["file"]), "A file is not larger than 10", {
          fields: { size: { type: "number", maximum: 10 } },
        }),
        where(given("size"), "A size goes with a name", { requires: ["name"] }),
      ],
    },
  );
  const one = "Exactly one of path and url is required";
  const URL = "https://example.com";

  test.each<[string, object, [string, string, string][]]>([
    ["one of two", { path: "/" }, []],
    ["the other of two", { kind: "link", url: URL }, []],
    ["none of two", {}, [["body", "value_error", one]]],
    ["both of two", { path: "/", url: URL }, [["body", "value_error", one]]],
    [
      "a field that another needs",
      { path: "/", user: "ada" },
      [["body.password", "missing", "Field required with user"]],
    ],
    ["a field that a choice needs", { path: "/", kind: "link" }, [["body.url", "missing", "Field required"]]],
    [
      "a field in the way",
      { kind: "link", url: URL, size: 3, name: "x" },
      [["body.size", "value_error", "A link has no size"]],
    ],
    [
      "a default that a rule is about",
      { path: "/", size: 11, name: "x" },
      [["body.size", "value_error", "A file is not larger than 10"]],
    ],
    ["a value that is excepted", { path: "/", name: "root" }, [["body.name", "value_error", "The name is reserved"]]],
    [
      "a field that is wrong by itself",
      { path: "/", size: 0.5, name: "x" },
      [["body.size", "int_type", "Input should be a valid integer"]],
    ],
    ["an unknown choice", { path: "/", kind: "door" }, [["body.kind", "enum", "Input should be 'file' or 'link'"]]],
  ])("[OA19] a broken rule between fields is reported: %s", (_, body, expected) => {
    expect(judged(Thing, body)).toEqual(expected);
  });

  test("[OA19] a rule between fields holds in a list too, and is reported at its place", () => {
    expect(judged(Type.Array(Thing), [{ path: "/" }, {}])).toEqual([["body.1", "value_error", one]]);
  });

  test("[OA19] a rule between fields is not part of the schema that passes on what was accepted", () => {
    expect(
      judged(withoutRules(Thing), { path: "/", url: URL, kind: "link", size: 3, name: "root", user: "ada" }),
    ).toEqual([]);
    // Optional fields stay optional when they are copied into another schema.
    expect(judged(Type.Object({ ...withoutRules(Thing).properties }), {})).toEqual([]);
    expect(judged(withoutRules(Thing), { size: 0 })).toEqual([
      ["body.size", "greater_than_equal", "Input should be greater than or equal to 1"],
    ]);
  });

  test("[OA19] one shape of several is chosen by a field, and the body is checked against that shape alone", () => {
    const Change = Type.Unsafe({
      type: "object",
      discriminator: { propertyName: "op" },
      oneOf: [
        Type.Object({ op: Type.Literal("add"), size: Type.Integer() }, { additionalProperties: false }),
        Type.Object({ op: Type.Literal("drop") }, { additionalProperties: false }),
      ],
      required: ["op"],
    });
    expect(judged(Change, { op: "add", size: 1 })).toEqual([]);
    expect(judged(Change, { op: "add" })).toEqual([["body.size", "missing", "Field required"]]);
    expect(judged(Change, { op: "drop", size: 1 })).toMatchObject([
      ["body.size", "extra_forbidden", expect.any(String)],
    ]);
    expect(judged(Change, { op: "turn" })).toEqual([["body.op", "enum", "Input should be 'add' or 'drop'"]]);
    expect(judged(Change, {})).toEqual([["body.op", "missing", "Field required"]]);
  });
});
