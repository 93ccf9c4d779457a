import type { ValidationItem } from "@binnacle/contract";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { loadCatalog } from "../catalog/catalog.adapter.ts";
import {
  overlay,
  type ResolvedValues,
  redactValues,
  resolveValues,
  rulesOf,
  secretRefOf,
  type Values,
  valueProblems,
} from "./addon-values.ts";

const NAME = "db";
const ref = (path: string) => secretRefOf(NAME, path);
const anything = (): ValidationItem[] => [];
const rules = (secret_values: readonly string[], check: (values: Values) => ValidationItem[] = anything) => ({
  default_values: {},
  secret_values,
  check,
});

/** `{a: {b: value}}` of `a.b`. */
const nested = (path: string, value: unknown): Values =>
  path.split(".").reduceRight<unknown>((inner, step) => ({ [step]: inner }), value) as Values;

const settle = (values: Values, secrets: readonly string[], held: readonly string[] = []) =>
  resolveValues(values, rules(secrets), { name: NAME, held });

function settled(values: Values, secrets: readonly string[], held: readonly string[] = []): ResolvedValues {
  const result = settle(values, secrets, held);
  if ("problems" in result) throw new Error(JSON.stringify(result.problems));
  return result;
}

const STRAY = "A reference stands only for the secret that was read at this place; give the value itself";

describe("the values of a new instance", () => {
  test("[AD8] the values of a new addon instance have a reference for each secret that was given or will be generated", () => {
    const { values, given, missing } = settled({ auth: { user: "app", password: "hush" } }, ["auth.password", "key"]);
    expect(values).toEqual({ auth: { user: "app", password: ref("auth.password") }, key: ref("key") });
    expect([...given]).toEqual([["auth.password", "hush"]]);
    expect(missing).toEqual(["key"]);
    expect(ref("auth.password")).toEqual({ secret_ref: { name: "db-addon-values", key: "auth.password" } });
  });

  test("[AD13] given values are laid over the default values and checked together with the given secrets", () => {
    const seen: Values[] = [];
    const check = (values: Values) => {
      seen.push(values);
      return [];
    };
    const defaults = { auth: { user: "app" }, size: "1Gi", buckets: ["a", "b"] };
    const given = { auth: { password: "hush" }, size: "2Gi", buckets: ["c"] };
    resolveValues(
      given,
      { ...rules(["auth.password", "key"], check), default_values: defaults },
      { name: NAME, held: [] },
    );
    expect(seen).toEqual([{ auth: { user: "app", password: "hush" }, size: "2Gi", buckets: ["c"] }]);
  });

  test("[AD14] a secret that the schema requires may be missing from the values, and nothing else that it requires", () => {
    const missing = (loc: string[]): ValidationItem => ({ loc, msg: "Field required", type: "missing" });
    const check = () => [missing(["auth", "password"]), missing(["auth.password"]), missing(["size"])];
    const result = resolveValues({}, rules(["auth.password"], check), { name: NAME, held: [] });
    expect(result).toEqual({ problems: [missing(["auth.password"]), missing(["size"])] });
  });

  test.each([{}, [], 7, true, null])(
    "[AD13] a secret value of an addon that is %j instead of a text is refused",
    (password) => {
      expect(settle({ password }, ["password"])).toEqual({
        problems: [{ loc: ["password"], msg: "Input should be a valid string", type: "string_type" }],
      });
    },
  );

  test("[AD20] the values of a new addon instance may have no reference, because no secret is stored yet", () => {
    expect(settle({ password: ref("password") }, ["password"])).toEqual({
      problems: [{ loc: ["password"], msg: STRAY, type: "value_error" }],
    });
  });
});

describe("the way to a secret", () => {
  test.each<[unknown, string[]]>([
    ["text", ["a"]],
    [["text"], ["a"]],
    [[{ c: "text" }], ["a"]],
    [null, ["a"]],
    [{ "0": 7 }, ["a", "0"]],
    [{ "0": [{ c: "text" }] }, ["a", "0"]],
  ])("[AD16] the path to a secret leads through maps only: %j is refused at %j", (a, loc) => {
    expect(settle({ a }, ["a.0.c"])).toEqual({
      problems: [{ loc, msg: "Input should be a valid dictionary", type: "dict_type" }],
    });
  });

  test("[AD16] a key that contains a dot is not the path to a secret", () => {
    const { values, given } = settled({ "auth.password": "for all to see" }, ["auth.password"]);
    expect(values).toEqual({ "auth.password": "for all to see", auth: { password: ref("auth.password") } });
    expect(given.size).toBe(0);
  });

  test("[AD16] a wrong path to a secret is reported once, whatever the schema says of it", () => {
    const check = (): ValidationItem[] => [{ loc: ["a"], msg: "Input should be object", type: "dict_type" }];
    const result = resolveValues({ a: 1 }, rules(["a.b", "a.c"], check), { name: NAME, held: [] });
    expect("problems" in result && result.problems).toHaveLength(1);
  });
});

describe("the values of a change", () => {
  const paths = ["auth.password", "key"];

  test("[AD19] a change keeps a secret that is omitted or given back as its reference", () => {
    for (const values of [{}, { auth: {} }, { auth: { password: ref("auth.password") }, key: ref("key") }]) {
      expect(settled(values, paths, paths)).toEqual({
        values: { auth: { password: ref("auth.password") }, key: ref("key") },
        given: new Map(),
        missing: [],
      });
    }
  });

  test("[AD19] a change replaces a secret by a text, and one that is not stored yet is missing", () => {
    const { values, given, missing } = settled({ auth: { password: "new" } }, paths, ["auth.password"]);
    expect(values).toEqual({ auth: { password: ref("auth.password") }, key: ref("key") });
    expect([...given]).toEqual([["auth.password", "new"]]);
    expect(missing).toEqual(["key"]);
  });

  test("[AD19] a change keeps a stored secret that the catalog no longer calls secret", () => {
    expect(settled({ old: ref("old") }, [], ["old"]).values).toEqual({ old: ref("old") });
  });

  test.each<[string, unknown]>([
    ["of another path", ref("auth.password")],
    ["of another instance", secretRefOf("other", "key")],
    ["with more in it", { ...ref("key"), more: 1 }],
    ["with more inside", { secret_ref: { ...ref("key").secret_ref, more: 1 } }],
    ["of nothing", { secret_ref: null }],
  ])("[AD20] a change refuses a secret reference %s", (_, key) => {
    expect(settle({ key }, paths, paths)).toEqual({
      problems: [{ loc: ["key"], msg: STRAY, type: "value_error" }],
    });
  });
});

describe("the laws of redaction", () => {
  const step = fc.constantFrom("a", "b", "c", "0", "1", "__proto__", "constructor");
  const key = fc.oneof(step, fc.constantFrom("a.b", "secret_ref", ""));
  const document = fc.dictionary(
    key,
    fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { depthSize: "small" },
        fc.constantFrom<unknown>("text", 1, true, null, ["list", { a: "b" }]),
        fc.dictionary(key, tie("value")),
      ),
    })).value,
  );
  /** Paths of which none leads through another, as no definition has such: a text cannot be a map too. */
  const paths = fc
    .uniqueArray(
      fc.array(step, { minLength: 1, maxLength: 3 }).map((steps) => steps.join(".")),
      { maxLength: 4 },
    )
    .filter((all) => !all.some((one) => all.some((other) => other.startsWith(`${one}.`))));
  const SECRET = /hush-\d/;

  /** With a secret at each path, in the place of whatever is in the way. */
  const withSecrets = (values: Values, secrets: readonly string[]): Values =>
    secrets.reduce((inner, path, index) => overlay(inner, nested(path, `hush-${index}`)), values);

  test("[AD21] no secret is left anywhere in the redacted values, and each one is extracted", () => {
    fc.assert(
      fc.property(document, paths, (values, secrets) => {
        const { values: redacted, given, missing } = settled(withSecrets(values, secrets), secrets);
        expect(JSON.stringify(redacted)).not.toMatch(SECRET);
        expect([...given]).toEqual(secrets.map((path, index) => [path, `hush-${index}`]));
        expect(missing).toEqual([]);
      }),
    );
  });

  test("[AD21] redacted values that are given back keep every secret and read the same", () => {
    fc.assert(
      fc.property(document, paths, (values, secrets) => {
        const { values: redacted } = settled(withSecrets(values, secrets), secrets);
        const again = settled(JSON.parse(JSON.stringify(redacted)), secrets, secrets);
        expect(again).toEqual({ values: redacted, given: new Map(), missing: [] });
      }),
    );
  });

  test("[AD21] values that are not secret stay as they are", () => {
    fc.assert(
      fc.property(document, paths, (values, secrets) => {
        const before = withSecrets(values, secrets);
        const back = withSecrets(redactValues(before, secrets, NAME), secrets);
        expect(back).toEqual(before);
      }),
    );
  });

  test("[AD21] the resolved values have a reference at every secret path, whatever is given and stored", () => {
    const someHeld = paths.chain((secrets) => fc.tuple(fc.constant(secrets), fc.subarray(secrets)));
    fc.assert(
      fc.property(document, someHeld, (values, [secrets, held]) => {
        const result = settle(values, secrets, held);
        if ("problems" in result) return;
        expect(redactValues(result.values, secrets, NAME)).toEqual(result.values);
      }),
    );
  });
});

describe("the addons that ship", async () => {
  const { addons } = await loadCatalog();

  test.each(addons.map((addon) => [addon.name, addon] as const))(
    "[AD14] the values schema of %s accepts generated secrets",
    (_, addon) => {
      const made = "0123456789abcdef".repeat(3);
      const values = addon.secret_values.reduce(
        (inner, path) => overlay(inner, nested(path, made)),
        addon.default_values,
      );
      expect(valueProblems(addon.values_schema, values)).toEqual([]);
    },
  );
});

const schema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  additionalProperties: false,
  required: ["size"],
  properties: {
    size: { type: "string", pattern: "^[0-9]+Gi$", minLength: 3, maxLength: 5 },
    replicas: { type: "integer", minimum: 1, exclusiveMaximum: 8 },
    share: { type: "number", exclusiveMinimum: 0, maximum: 1 },
    mode: { const: "standalone" },
    brokers: { enum: [1, 3, 5] },
    enabled: { type: "boolean" },
    limits: { type: "object", minProperties: 1, maxProperties: 2 },
    pair: { type: "array", prefixItems: [{ type: "string" }, { type: "integer" }], minItems: 2, maxItems: 2 },
    tags: { type: "array", uniqueItems: true },
    "a/b~c": { type: "string" },
  },
};

const problems = (values: Record<string, unknown>) =>
  valueProblems(schema, { size: "10Gi", ...values }).map(({ loc, type }) => [loc, type]);

test("[AD13] values that the schema accepts have no problem", () => {
  expect(valueProblems(schema, { size: "10Gi", replicas: 3, pair: ["a", 1], brokers: 3 })).toEqual([]);
});

test.each<[Record<string, unknown>, (string | number)[], string]>([
  [{ size: 10 }, ["size"], "string_type"],
  [{ size: "1234Gi" }, ["size"], "string_too_long"],
  [{ size: "ten" }, ["size"], "string_pattern_mismatch"],
  [{ replicas: "3" }, ["replicas"], "int_type"],
  [{ replicas: 0 }, ["replicas"], "greater_than_equal"],
  [{ replicas: 8 }, ["replicas"], "less_than"],
  [{ share: 0 }, ["share"], "greater_than"],
  [{ share: 2 }, ["share"], "less_than_equal"],
  [{ share: "x" }, ["share"], "float_type"],
  [{ mode: "cluster" }, ["mode"], "enum"],
  [{ brokers: 2 }, ["brokers"], "enum"],
  [{ enabled: "yes" }, ["enabled"], "bool_type"],
  [{ limits: [] }, ["limits"], "dict_type"],
  [{ limits: {} }, ["limits"], "too_short"],
  [{ limits: { a: 1, b: 2, c: 3 } }, ["limits"], "too_long"],
  [{ pair: "x" }, ["pair"], "list_type"],
  [{ pair: ["a", "b"] }, ["pair", 1], "int_type"],
  [{ tags: ["a", "a"] }, ["tags"], "value_error"],
  [{ "a/b~c": 1 }, ["a/b~c"], "string_type"],
  [{ unheard_of: 1 }, ["unheard_of"], "extra_forbidden"],
])("[AD13] the values %j are refused at %j as %s", (values, loc, type) => {
  expect(problems(values)).toEqual([[loc, type]]);
});

test("[AD13] all problems of values are reported at once, in words that do not repeat the values", () => {
  const found = valueProblems(schema, { brokers: 77, mode: "hush" });
  expect(found).toEqual([
    { loc: ["size"], msg: "Field required", type: "missing" },
    { loc: ["mode"], msg: 'Input should be "standalone"', type: "enum" },
    { loc: ["brokers"], msg: "Input should be one of [1,3,5]", type: "enum" },
  ]);
  expect(JSON.stringify(found)).not.toMatch(/77|hush/);
});

test("[SV316] a value of a standalone addon instance that looks like a secret is refused where the addon does not seal it", () => {
  const definition = { default_values: {}, secret_values: ["auth.password"], values_schema: { type: "object" } };
  const problemsOf = (values: Values, held: readonly string[] = []) => {
    const result = resolveValues(values, rulesOf(definition), { name: NAME, held });
    return "problems" in result ? result.problems : [];
  };
  expect(problemsOf({ auth: { password: "hunter22" }, replica: { password: "hunter23" } })).toMatchObject([
    { loc: ["replica", "password"], msg: expect.stringContaining("looks like a secret"), type: "value_error" },
  ]);
  expect(problemsOf({ replica: { password: ref("replica.password") } }, ["replica.password"])).toEqual([]);
});
