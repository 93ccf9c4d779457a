import type { Operation } from "@binnacle/contract";
import type { TSchema } from "typebox";
import { compileCheck } from "./validation.ts";

/** Returns the problems of a value under the schema of an operation's body. */
export const bodyProblems = ({ body }: Operation, value: unknown) => schemaProblems(body as TSchema, value);

export function schemaProblems(schema: TSchema, value: unknown) {
  return compileCheck({ body: schema })({ path: {}, query: {}, cookie: {}, body: structuredClone(value) });
}

/** The problems as lists of location, type and message, which tables of tests compare. */
export const judged = (schema: TSchema, value: unknown) =>
  schemaProblems(schema, value).map(({ loc, type, msg }) => [loc.join("."), type, msg]);

/** The same for values of a query, which come as text. */
export function queryProblems({ query }: Operation, value: Record<string, string>) {
  const request = { path: {}, query: { ...value }, cookie: {}, body: undefined };
  return compileCheck({ query: query as TSchema })(request);
}
