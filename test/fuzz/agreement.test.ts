import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { openApiDocument } from "../../packages/server/src/http/openapi.ts";
import { compileCheck } from "../../packages/server/src/http/validation.ts";
import { describedRoutes } from "../../packages/server/src/routes.ts";
import { readDocument } from "./document.ts";
import { mutated } from "./hostile.ts";
import { randomOf } from "./random.ts";
import { schemaValues } from "./schema-values.ts";

const routes = describedRoutes();
const document = readDocument(JSON.parse(JSON.stringify(openApiDocument(routes, { serverUrl: "/api/v1" }))));
const valuesOf = schemaValues(document, () => []);
const NUM_RUNS = 15;

/** Of operations that take JSON: what the document says of the body, and what the server checks it by. */
const bodies = routes.flatMap(({ operation: { id, body, bodyType } }) => {
  const described = document.operations.find((it) => it.id === id)?.body;
  return body && !bodyType && described ? [{ id, schema: described.schema, check: compileCheck({ body }) }] : [];
});

const isTaken = (check: ReturnType<typeof compileCheck>, body: unknown) =>
  check({ path: {}, query: {}, cookie: {}, body: structuredClone(body) }).length === 0;

/** As it arrives: what JSON does not write is not there. */
const sent = (value: unknown): unknown => JSON.parse(JSON.stringify(value) ?? "null");

describe.each(bodies)("the body of $id", ({ schema, check }) => {
  const values = valuesOf(schema);

  test("[OA16] the server takes a body that the document accepts", () => {
    fc.assert(
      fc.property(values, (value) => isTaken(check, sent(value))),
      { numRuns: NUM_RUNS },
    );
  });

  test("[OA16] the server refuses a changed body that the document does not accept", () => {
    // Text that cannot be stored is refused wherever it is, and the document says so once for all.
    const isStorable = (value: unknown) => {
      const text = JSON.stringify(value);
      return !/\\u0000|\\ud[89a-f]/.test(text);
    };
    fc.assert(
      fc.property(values, fc.nat(), (value, seed) => {
        const changed = sent(mutated(value, randomOf(seed)));
        fc.pre(isStorable(changed));
        expect(isTaken(check, changed)).toBe(document.accepts(schema, changed));
      }),
      { numRuns: NUM_RUNS },
    );
  });
});

test("[OA16] every operation that takes JSON is compared with the document", () => {
  expect(bodies.length).toBe(document.operations.filter(({ body }) => body?.type === "application/json").length);
  expect(bodies.length).toBeGreaterThan(30);
});
