import * as contract from "@binnacle/contract";
import { exampleOf, type Operation, withoutRules } from "@binnacle/contract";
import buildSerializer, { type Schema } from "fast-json-stringify";
import Type, { type TSchema } from "typebox";
import { expect, test } from "vitest";
import { memoized } from "../memoized.ts";
import { answerSchema } from "./answer-schema.ts";

const answers = Object.values<unknown>(contract)
  .filter((value): value is Operation => typeof value === "object" && value !== null && "success" in value)
  .flatMap(({ id, success, otherSuccess }): [string, TSchema][] =>
    [success, otherSuccess].flatMap((answer) => (answer?.[1] ? [[`${id} ${answer[0]}`, answer[1]]] : [])),
  );

/** The answers as they are written by the schemas, one for each value; null where the schema refuses to. */
function written(schema: TSchema, values: readonly unknown[]): (string | null)[] {
  const serialize = buildSerializer(schema as Schema);
  return values.map((value) => {
    try {
      return serialize(structuredClone(value));
    } catch {
      return null;
    }
  });
}

/** The value with a change made to each object in it, the innermost first. */
function each(value: unknown, change: (object: Record<string, unknown>) => object): unknown {
  if (Array.isArray(value)) return value.map((item) => each(item, change));
  if (typeof value !== "object" || value === null) return value;
  return change(Object.fromEntries(Object.entries(value).map(([key, item]) => [key, each(item, change)])));
}

const withMore = (value: unknown) => each(value, (object) => ({ ...object, hush: "hush" }));
const withNull = (value: unknown, name: string) =>
  each(value, (object) => (name in object ? { ...object, [name]: null } : object));

function namesIn(value: unknown): string[] {
  const names = new Set<string>();
  each(value, (object) => {
    for (const name of Object.keys(object)) names.add(name);
    return object;
  });
  return [...names];
}

/** An example and changed ones by both schemas. Several operations have the same answer. */
const writtenByBoth = memoized((ruled: TSchema) => {
  // Otherwise the fields of a rule would be written in another order.
  const schema = withoutRules(ruled);
  const example = exampleOf(schema);
  const values = [example, withMore(example), ...namesIn(example).map((name) => withNull(example, name))];
  return { byContract: written(schema, values), bySchema: written(answerSchema(schema), values) };
});

test.each(answers)("[OA5] the answer %s is written the same by its writing schema", (_, schema) => {
  const { byContract, bySchema } = writtenByBoth(schema);
  expect(bySchema[0]).not.toBeNull();
  expect(bySchema.filter((_, index) => byContract[index] !== null)).toEqual(byContract.filter((text) => text !== null));
});

test("[OA5] a field that the schema does not name is not written, also within one that may be null", () => {
  const Inner = Type.Object({ a: Type.String() });
  const schema = Type.Object({
    inner: Type.Union([Inner, Type.Null()]),
    list: Type.Array(Type.Union([Inner, Type.Null()])),
  });
  const value = { inner: { a: "x", hush: 1 }, list: [null, { a: "y", hush: 2 }], hush: 3 };
  expect(written(answerSchema(schema), [value])).toEqual([
    JSON.stringify({ inner: { a: "x" }, list: [null, { a: "y" }] }),
  ]);
});

test("[OA5] an example that only looks like a schema stays as it is", () => {
  const example = { anyOf: [{ type: "string" }, { type: "null" }] };
  expect(answerSchema(Type.Object({}, { examples: [example] }))).toMatchObject({ examples: [example] });
});
