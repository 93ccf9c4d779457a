import { exampleOf, operation, PATTERN_DESCRIPTIONS } from "@binnacle/contract";
import fc from "fast-check";
import Type, { type TSchema } from "typebox";
import { describe, expect, test } from "vitest";
import { DisplayName, holdsTags } from "../../../contract/src/fields.ts";
import { describedRoutes } from "../routes.ts";
import { UnreadableBody } from "./body.ts";
import { judged } from "./checked.fixture.ts";
import { compileCheck } from "./validation.ts";

const check = compileCheck(
  operation({
    id: "make",
    method: "POST",
    path: "/things/{id}",
    tag: "Things",
    summary: "Make a thing",
    credentials: "none",
    params: Type.Object({ id: Type.String({ format: "uuid" }) }),
    query: Type.Object({
      page: Type.Integer({ minimum: 1, maximum: 9, default: 1 }),
      deep: Type.Optional(Type.Boolean()),
    }),
    body: Type.Object(
      {
        name: Type.String({ minLength: 2, maxLength: 4, pattern: "^[a-z]+$" }),
        size: Type.Optional(Type.Integer({ exclusiveMinimum: 0 })),
        kind: Type.Optional(Type.Enum(["a", "b", "c"])),
        note: Type.Optional(Type.Union([Type.String({ maxLength: 3 }), Type.Null()])),
        email: Type.Optional(Type.String({ format: "email" })),
        at: Type.Optional(Type.String({ format: "date-time" })),
        flag: Type.Optional(Type.Boolean()),
        ratio: Type.Optional(Type.Number()),
        parts: Type.Optional(
          Type.Array(Type.Object({ name: Type.String() }, { additionalProperties: false }), {
            maxItems: 2,
            minItems: 1,
            uniqueItems: true,
          }),
        ),
        labels: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
      },
      { additionalProperties: false },
    ),
    success: [200, null],
  }),
);

const ID = "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11";

function problems(body: unknown, { id = ID, query = {} }: { id?: string; query?: Record<string, unknown> } = {}) {
  return check({ path: { id }, query, cookie: {}, body }).map(({ loc, type }) => [loc.join("."), type]);
}

describe("the check of a request", () => {
  test("[CV1] a request that fits has no problems", () => {
    expect(problems({ name: "abc", note: null, labels: { any: [1, { deep: true }] } })).toEqual([]);
  });

  test.each([
    [{}, "body.name", "missing"],
    [{ name: "abc", colour: 1 }, "body.colour", "extra_forbidden"],
    [{ name: 3 }, "body.name", "string_type"],
    [{ name: null }, "body.name", "string_type"],
    [{ name: "a" }, "body.name", "string_too_short"],
    [{ name: "abcde" }, "body.name", "string_too_long"],
    [{ name: "ABC" }, "body.name", "string_pattern_mismatch"],
    [{ name: "abc", size: "1" }, "body.size", "int_type"],
    [{ name: "abc", size: 1.5 }, "body.size", "int_type"],
    [{ name: "abc", size: 0 }, "body.size", "greater_than"],
    [{ name: "abc", kind: "d" }, "body.kind", "enum"],
    [{ name: "abc", note: 1 }, "body.note", "string_type"],
    [{ name: "abc", note: "four" }, "body.note", "string_too_long"],
    [{ name: "abc", email: "nobody" }, "body.email", "value_error"],
    [{ name: "abc", at: "yesterday" }, "body.at", "datetime_parsing"],
    [{ name: "abc", flag: "true" }, "body.flag", "bool_type"],
    [{ name: "abc", ratio: "1" }, "body.ratio", "float_type"],
    [{ name: "abc", parts: {} }, "body.parts", "list_type"],
    [{ name: "abc", parts: [] }, "body.parts", "too_short"],
    [{ name: "abc", parts: [{ name: "x" }, { name: 1 }] }, "body.parts.1.name", "string_type"],
    [{ name: "abc", parts: [{ name: "x", y: 1 }] }, "body.parts.0.y", "extra_forbidden"],
    [{ name: "abc", labels: [] }, "body.labels", "dict_type"],
    [{ name: "abc", labels: { a: "\0" } }, "body.labels.a", "value_error"],
    [{ name: "abc", labels: { "\0": 1 } }, "body.labels.<key>", "value_error"],
    [{ name: "abc", labels: { deep: [{ x: "\ud800" }] } }, "body.labels.deep.0.x", "value_error"],
    [undefined, "body", "missing"],
    [[], "body", "dict_type"],
    ["text", "body", "dict_type"],
  ])("[CV2] the body %j is refused with what is wrong and where", (body, loc, type) => {
    expect(problems(body)).toEqual([[loc, type]]);
  });

  test("[CV2] a list with an item twice is refused in plain words", () => {
    const parts = [{ name: "x" }, { name: "x" }];
    const [item] = check({ path: { id: ID }, query: {}, cookie: {}, body: { name: "abc", parts } });
    expect(item).toEqual({ loc: ["body", "parts"], msg: "Input should not have an item twice", type: "value_error" });
  });

  test("[CV8] an operation without a body accepts none and an empty one, and refuses anything else", () => {
    const checkNoBody = compileCheck({});
    const found = (body: unknown) =>
      checkNoBody({ path: {}, query: {}, cookie: {}, body }).map(({ loc, type }) => [loc.join("."), type]);
    expect(found(undefined)).toEqual([]);
    expect(found({})).toEqual([]);
    expect(found({ force: true })).toEqual([["body.force", "extra_forbidden"]]);
    expect(found(new UnreadableBody("json_invalid", "JSON decode error"))).toEqual([["body", "json_invalid"]]);
  });

  test("[CV3] every invalid field is reported at once, in all parts of the request", () => {
    const items = problems({ size: -1, kind: 7, x: 1 }, { id: "not-a-uuid", query: { page: "0", deep: "perhaps" } });
    expect(items).toEqual([
      ["path.id", "uuid_parsing"],
      ["query.page", "greater_than_equal"],
      ["query.deep", "bool_type"],
      ["body.name", "missing"],
      ["body.x", "extra_forbidden"],
      ["body.size", "greater_than"],
      ["body.kind", "enum"],
    ]);
  });

  test("[CV4] values of a query are converted and defaults filled in, and values of a body are not converted", () => {
    const query: Record<string, unknown> = { deep: "true" };
    expect(problems({ name: "abc" }, { query })).toEqual([]);
    expect(query).toEqual({ page: 1, deep: true });
    expect(problems({ name: "abc" }, { query: { page: "ten" } })).toEqual([["query.page", "int_type"]]);
    for (const page of ["1e3", "0x10", "1e999", "-1e999", "1.0", " 1", "", "Infinity"]) {
      expect(problems({ name: "abc" }, { query: { page } })).toEqual([["query.page", "int_type"]]);
    }
    const padded: Record<string, unknown> = { page: "007" };
    expect(problems({ name: "abc" }, { query: padded })).toEqual([]);
    expect(padded["page"]).toBe(7);
    expect(problems({ name: "abc", size: Number.POSITIVE_INFINITY })).toEqual([["body.size", "value_error"]]);
    expect(judged(Type.Object({ values: Type.Unknown() }), JSON.parse('{"values":{"a":[1,1e999]}}'))).toEqual([
      ["body.values.a.1", "value_error", "Number must be finite"],
    ]);
  });

  test("[CV47] a parameter that may be repeated is a list, however often it is given", () => {
    const phases = Type.Array(Type.Enum(["failed", "running"]), { maxItems: 2, uniqueItems: true });
    const checkQuery = compileCheck({ query: Type.Object({ phase: Type.Optional(phases) }) });
    const found = (query: Record<string, unknown>) =>
      checkQuery({ path: {}, query, cookie: {}, body: undefined }).map(({ loc, type }) => [loc.join("."), type]);
    const once: Record<string, unknown> = { phase: "failed" };
    expect([found(once), once["phase"]]).toEqual([[], ["failed"]]);
    expect(found({ phase: ["failed", "running"] })).toEqual([]);
    expect(found({})).toEqual([]);
    expect(found({ phase: "" })).toEqual([["query.phase.0", "enum"]]);
    expect(found({ phase: ["failed", "x"] })).toEqual([["query.phase.1", "enum"]]);
    expect(found({ phase: ["failed", "failed"] })).toEqual([["query.phase", "value_error"]]);
  });

  test("[CV5] an index in a list is a number in the location, and a key that looks like one is not", () => {
    const [item] = check({ path: { id: ID }, query: {}, cookie: {}, body: { name: "abc", parts: [{ name: 1 }] } });
    expect(item?.loc).toEqual(["body", "parts", 0, "name"]);
  });

  test("[CV6] a UUID is accepted only in its plain form", () => {
    expect(problems({ name: "abc" }, { id: `urn:uuid:${ID}` })).toEqual([["path.id", "uuid_parsing"]]);
    expect(problems({ name: "abc" }, { id: ID.toUpperCase() })).toEqual([]);
  });

  test("[CV7] a field is reported once, however much is wrong with it", () => {
    expect(problems({ name: "X\0" })).toEqual([["body.name", "value_error"]]);
    expect(problems({ name: "TOO LONG" })).toEqual([["body.name", "string_too_long"]]);
    expect(problems({ name: "abc", note: { not: "text" } })).toEqual([["body.note", "string_type"]]);
  });

  test("[CV8] unknown fields are refused at every level, except in a free-form map", () => {
    const body = { name: "abc", x: 1, parts: [{ name: "a", x: 1 }], labels: { x: { y: 1 } } };
    expect(problems(body)).toEqual([
      ["body.x", "extra_forbidden"],
      ["body.parts.0.x", "extra_forbidden"],
    ]);
    expect(problems(JSON.parse('{"name":"abc","__proto__":1}'))).toEqual([["body.__proto__", "extra_forbidden"]]);
  });

  test("[CV9] no text that a database cannot store is accepted, wherever it is", () => {
    const wrap = fc.constantFrom(
      (text: string) => ({ name: "abc", labels: { a: text } }),
      (text: string) => ({ name: "abc", labels: { [text]: 1 } }),
      (text: string) => ({ name: "abc", labels: { a: [[{ b: text }]] } }),
    );
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.constantFrom("", "\0", "\ud83d"), wrap, (text, extra, inside) => {
        const given = text + extra;
        const isStorable = given.isWellFormed() && !given.includes("\0");
        expect(problems(inside(given)).length).toBe(isStorable ? 0 : 1);
      }),
    );
  });

  test("[CV3] a body that could not be read is reported beside the rest", () => {
    const body = new UnreadableBody("json_invalid", "JSON decode error");
    expect(problems(body, { id: "x" })).toEqual([
      ["path.id", "uuid_parsing"],
      ["body", "json_invalid"],
    ]);
  });
});

describe("what a schema refuses", () => {
  test("[CV6] a text that is not a UUID is refused in words", () => {
    expect(judged(Type.String({ format: "uuid" }), "x")).toEqual([
      ["body", "uuid_parsing", "Input should be a valid UUID"],
    ]);
  });

  test.each<[string, TSchema, unknown]>([
    ["null alone", Type.Null(), 1],
    ["a multiple", Type.Integer({ multipleOf: 5 }), 7],
    ["one of two shapes", Type.Union([Type.Object({ a: Type.Null() }), Type.Null()]), { a: 1 }],
    ["what must not be", Type.Unsafe({ not: { type: "string" } }), "x"],
    ["nothing ever", Type.Never(), 1],
  ])("[CV10] a value is refused, also where there are no words for the reason: %s", (_, schema, value) => {
    expect(judged(schema, value)).toEqual([[expect.stringMatching(/^body/), "value_error", expect.any(String)]]);
  });

  test.each<[string, TSchema, unknown, string]>([
    ["a choice", Type.Enum(["a", "b", "c"]), "d", "Input should be 'a', 'b' or 'c'"],
    ["a literal", Type.Literal("bearer"), "basic", "Input should be 'bearer'"],
    ["a length of one", Type.String({ minLength: 1 }), "", "String should have at least 1 character"],
    ["a longer one", Type.String({ maxLength: 2 }), "abc", "String should have at most 2 characters"],
    ["a largest number", Type.Integer({ maximum: 20 }), 21, "Input should be less than or equal to 20"],
    ["a number below another", Type.Number({ exclusiveMaximum: 1 }), 1, "Input should be less than 1"],
    ["a list that is too long", Type.Array(Type.Any(), { maxItems: 1 }), [1, 2], "Input should have at most 1 item"],
    ["a form of text", Type.String({ format: "uri" }), "x", "Input should be a valid URL"],
  ])("[CV2] a value is refused in words that help: %s", (_, schema, value, message) => {
    expect(judged(schema, value)).toEqual([["body", expect.any(String), message]]);
  });
});

describe("what exceeds a limit", () => {
  /** A pattern that would be tried in more ways than anybody could wait for. */
  const costly = { pattern: "^(a+)+$", maxLength: 50 };
  const tooLong = `${"a".repeat(60)}${"!".repeat(60)}`;

  test("[CV42] a text that is too long is refused for that, and not matched against a pattern or a format", () => {
    expect(judged(Type.String(costly), tooLong)).toEqual([["body", "string_too_long", expect.any(String)]]);
    expect(judged(Type.String({ format: "email", maxLength: 5 }), "no address")).toEqual([
      ["body", "string_too_long", expect.any(String)],
    ]);
  });

  test("[CV42] a length limit counts characters, and a pattern is matched against all texts that fit", () => {
    const schema = Type.String({ pattern: "^x", maxLength: 3 });
    expect(judged(schema, "🚢🚢🚢")).toEqual([["body", "string_pattern_mismatch", expect.any(String)]]);
    expect(judged(schema, "x🚢🚢")).toEqual([]);
  });

  test("[CV42] a list or map that is too large is refused for that, and its items are not checked", () => {
    const list = Type.Array(Type.String(costly), { maxItems: 2, uniqueItems: true });
    expect(judged(list, [1, 2, 3])).toEqual([["body", "too_long", "Input should have at most 2 items"]]);
    const map = Type.Record(Type.String({ pattern: "^[a-z]+$" }), Type.Integer(), {
      additionalProperties: false,
      maxProperties: 2,
    });
    expect(judged(map, { a: "1", B: 2, c: 3 })).toEqual([["body", "too_long", "Input should have at most 2 items"]]);
  });

  test("[CV42] a list within its limits is checked as a whole", () => {
    const list = Type.Array(Type.String({ pattern: "^x", maxLength: 3 }), { maxItems: 2, uniqueItems: true });
    expect(judged(list, ["a", "a"]).map(([loc, type]) => [loc, type])).toEqual([
      ["body.0", "string_pattern_mismatch"],
      ["body.1", "string_pattern_mismatch"],
      ["body", "value_error"],
    ]);
  });
});

/** The value, which counts how many of its items and fields somebody reads. */
function countingReads(value: unknown): { body: unknown; reads(): number } {
  let count = 0;
  const counted = (inner: unknown): unknown =>
    typeof inner === "object" && inner !== null
      ? new Proxy(inner, {
          get(target, key) {
            count++;
            return counted(Reflect.get(target, key));
          },
        })
      : inner;
  return { body: counted(value), reads: () => count };
}

describe("problems without end", () => {
  const wrong = <T>(count: number, item: T) => Array.from({ length: count }, () => item);
  const unknown = Object.fromEntries(wrong(100_000, 1).map((value, index) => [`k${index}`, value]));
  const nested = Type.Object({ lists: Type.Array(Type.Array(Type.Integer())) });

  test.each<[string, TSchema, unknown, number]>([
    ["wrong items", Type.Array(Type.Integer()), wrong(400_000, "x"), 400_000],
    ["unknown fields", Type.Object({}, { additionalProperties: false }), unknown, 100_000],
    ["wrong values of a map", Type.Record(Type.String(), Type.Boolean()), unknown, 100_000],
    ["wrong items of items", nested, { lists: wrong(1000, wrong(400, "x")) }, 400_000],
    ["items that fit no choice", Type.Array(Type.Union([Type.Integer(), Type.Null()])), wrong(400_000, "x"), 400_000],
    ["text that cannot be stored", Type.Array(Type.String()), wrong(400_000, "\0"), 400_000],
  ])("[CV43] %s are reported up to a hundred, and looked for no further", (_, schema, value, count) => {
    const { body, reads } = countingReads(value);
    const items = compileCheck({ body: schema })({ path: {}, query: {}, cookie: {}, body });
    // Everything is read once, to know whether it can be stored, and what is wrong a second time.
    expect(reads()).toBeLessThan(1.02 * count);
    // A choice that none fits counts once for each of its sides, and is told once.
    expect(items.length).toBeGreaterThan(30);
    expect(items.length).toBeLessThanOrEqual(101);
  });

  test("[CV43] all problems are reported where there are fewer than a hundred", () => {
    expect(judged(Type.Array(Type.Integer()), wrong(99, "x"))).toHaveLength(99);
  });
});

describe("a name for people to read", () => {
  const VISIBLE_TEXT =
    "Input should begin and end with a visible character, and have no spaces but the plain one, and no control characters, line breaks, zero-width characters, tags, variation selectors or marks of the writing direction";
  const problem = (name: string) => judged(DisplayName("x"), name)[0];

  test.each(["a", "Ünïcode 名前 🚢", "x".repeat(100), "🚢".repeat(100), "a b  c", "naïve & <b>", "שלום", "e\u0301"])(
    "[CV22] a display name may be %j",
    (name) => {
      expect(problem(name)).toBeUndefined();
    },
  );

  test.each<[string, string]>([
    ["nothing to see", " \u3000"],
    ["a blank that is not a space", "\u2800"],
    ["a filler", "\u3164"],
    ["a line break", "a\nb"],
    ["a line break at its end", "a\n"],
    ["a tab", "a\tb"],
    ["a bell", "a\u0007"],
    ["a control character of the second set", "a\u009bb"],
    ["a separator of lines", "a\u2028b"],
    ["a soft hyphen", "a\u00adb"],
    ["a space without a width", "a\u200bb"],
    ["a joiner without a width", "👩\u200d🚀"],
    ["a mark of direction", "a\u200fb"],
    ["an Arabic mark of direction", "a\u061cb"],
    ["an override of direction", "gpj.\u202eexe"],
    ["an isolate", "a\u2066b"],
    ["an invisible operator", "a\u2062b"],
    ["a byte order mark", "\ufeffa"],
    ["tags, which repeat ASCII unseen", "shop\u{e0068}\u{e0069}"],
    ["a variation selector", "a\ufe0f"],
    ["a variation selector beyond U+FFFF", "a\u{e0100}"],
  ])("[CV22] a display name may not hold %s, and the refusal says so in words", (_, name) => {
    expect(problem(name)).toEqual(["body", "string_pattern_mismatch", VISIBLE_TEXT]);
  });

  test.each([" ", "\u00a0", "\u1680", "\u2003", "\u202f", "\u205f", "\u2800", "\u3000", "\ufeff", "\u{1d159}"])(
    "[CV368] a display name neither begins nor ends with %j, and only the plain space is within one",
    (space) => {
      const refused = ["body", "string_pattern_mismatch", VISIBLE_TEXT];
      expect([problem(`sandbox${space}`), problem(`${space}sandbox`)]).toEqual([refused, refused]);
      expect(problem(`sand${space}box`)).toEqual(space === " " ? undefined : refused);
    },
  );

  test("[CV22] a display name may hold no character that Unicode lets programs leave invisible", () => {
    const all = Array.from({ length: 0x110000 }, (_, code) => code)
      .filter((code) => code < 0xd800 || code > 0xdfff)
      .map((code) => String.fromCodePoint(code));
    const unseen = all.filter((character) => /\p{Default_Ignorable_Code_Point}/u.test(character));
    expect(unseen.length).toBeGreaterThan(4000);
    const pattern = new RegExp(String((DisplayName("x") as { pattern?: string }).pattern), "u");
    expect(unseen.filter((character) => pattern.test(`a${character}`) && !holdsTags(character))).toEqual([]);
  });

  test("[CV22] a display name has 1 to 100 characters", () => {
    expect(problem("")?.[1]).toBe("string_too_short");
    expect(problem("x".repeat(101))?.[1]).toBe("string_too_long");
  });

  test.each(Object.keys(PATTERN_DESCRIPTIONS))(
    "[CV32] the pattern %s is understood by clients without Unicode classes",
    (pattern) => {
      expect(pattern).not.toMatch(/\\[pP]\{|\\u\{|\(\?/);
      // With and without the Unicode flag it says the same of text without characters that take two units.
      const [one, other] = [new RegExp(pattern), new RegExp(pattern, "u")];
      fc.assert(
        fc.property(fc.string({ unit: "binary" }), (text) => {
          fc.pre(!/[\ud800-\udfff]/.test(text));
          expect(one.test(text)).toBe(other.test(text));
        }),
      );
    },
  );

  test.each(Object.keys(PATTERN_DESCRIPTIONS))(
    "[CV32] the pattern %s takes time in proportion to the text",
    (pattern) => {
      const regex = new RegExp(pattern, "u");
      for (const text of [" ".repeat(1_000_000), "x".repeat(1_000_000), " x".repeat(500_000)]) {
        const started = performance.now();
        expect(regex.test(`${text}\n`)).toBe(false);
        // A search from every character would take hours.
        expect(performance.now() - started).toBeLessThan(5_000);
      }
    },
  );

  const named = describedRoutes().flatMap(({ operation: taking }) => {
    const { properties = {} } = (taking.body ?? {}) as { properties?: Record<string, TSchema> };
    return ["name", "client_name"]
      .filter((field) => field in properties)
      .map((field) => [taking.id, field, taking] as const);
  });

  test.each(named)("[CV22] %s refuses a %s that reads otherwise than it is written", (_, field, taking) => {
    const body = { ...structuredClone(exampleOf(taking.body as TSchema) as object), [field]: "good\u202eeman" };
    const found = compileCheck(taking)({ path: {}, query: {}, cookie: {}, body });
    expect(found).toContainEqual(expect.objectContaining({ loc: ["body", field], type: "string_pattern_mismatch" }));
  });
});
