import * as contract from "@binnacle/contract";
import { exampleOf, type Operation, withoutRules } from "@binnacle/contract";
import Fastify from "fastify";
import Type, { type TSchema } from "typebox";
import { expect, test } from "vitest";
import { answerSchema } from "./answer-schema.ts";

const answers = Object.values<unknown>(contract)
  .filter((value): value is Operation => typeof value === "object" && value !== null && "success" in value)
  .flatMap(({ id, success, otherSuccess }): [string, TSchema][] =>
    [success, otherSuccess].flatMap((answer) => (answer?.[1] ? [[`${id} ${answer[0]}`, answer[1]]] : [])),
  );

/** The answers as Fastify writes them by the schemas, one for each value; null where it refuses to. */
async function written(schema: TSchema, values: readonly unknown[]): Promise<(string | null)[]> {
  const app = Fastify();
  app.get<{ Params: { index: string } }>("/:index", { schema: { response: { 200: schema } } }, async ({ params }) =>
    structuredClone(values[Number(params.index)]),
  );
  const sent = values.map((_, index) => app.inject(`/${index}`));
  return (await Promise.all(sent)).map(({ statusCode, body }) => (statusCode === 200 ? body : null));
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

test.each(answers)("[OA5] %s is written the same by what its schema becomes", async (_, ruled) => {
  // Otherwise the fields of a rule would be written in another order.
  const schema = withoutRules(ruled);
  const example = exampleOf(schema);
  const values = [example, withMore(example), ...namesIn(example).map((name) => withNull(example, name))];
  const [byContract, bySchema] = await Promise.all([written(schema, values), written(answerSchema(schema), values)]);
  expect(bySchema[0]).not.toBeNull();
  expect(bySchema.filter((_, index) => byContract[index] !== null)).toEqual(byContract.filter((text) => text !== null));
});

test("[OA5] a field that the schema does not name is not written, also within one that may be null", async () => {
  const Inner = Type.Object({ a: Type.String() });
  const schema = Type.Object({
    inner: Type.Union([Inner, Type.Null()]),
    list: Type.Array(Type.Union([Inner, Type.Null()])),
  });
  const value = { inner: { a: "x", hush: 1 }, list: [null, { a: "y", hush: 2 }], hush: 3 };
  expect(await written(answerSchema(schema), [value])).toEqual([
    JSON.stringify({ inner: { a: "x" }, list: [null, { a: "y" }] }),
  ]);
});

test("[OA5] what only looks like a schema, in an example, stays as it is", () => {
  const example = { anyOf: [{ type: "string" }, { type: "null" }] };
  expect(answerSchema(Type.Object({}, { examples: [example] }))).toMatchObject({ examples: [example] });
});
