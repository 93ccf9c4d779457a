import { startWorld, type World } from "@binnacle/world";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { describedRoutes } from "../routes.ts";
import { rowsOf } from "./rows.fixture.ts";

/** Taken out of the description of the API, so that a new operation is among them from its first day. */
const operations = describedRoutes().map(({ operation }) => operation);
const NOBODY = "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11";

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
afterAll(() => world.stop());

/** JSON of any kind, and objects that have the operation's own fields with values that may or may not fit. */
function bodiesOf(schema: object): fc.Arbitrary<unknown> {
  const { properties = {} } = schema as {
    properties?: Record<string, { examples?: readonly unknown[]; enum?: unknown[] }>;
  };
  const anything = fc.jsonValue({ maxDepth: 3, stringUnit: "binary" });
  const fields = Object.entries(properties).map(([name, { examples = [], enum: choices = [] }]) => {
    const fitting = [...examples, ...choices];
    return [name, fitting.length > 0 ? fc.oneof(anything, fc.constantFrom(...fitting)) : anything] as const;
  });
  return fc.oneof(anything, fc.record(Object.fromEntries(fields), { requiredKeys: [] }));
}

const addressOf = (path: string, id: string) => path.replace(/\{\w+\}/g, () => encodeURIComponent(id));

/**
 * All but the tallies, because a code that is not there counts as a guess, whichever way it is asked for, and the positions of
 * events, which are given by whoever reads them first.
 */
async function recordsOf(of: World): Promise<Record<string, string>> {
  const { login_tallies: _counted, event_log: _events, event_log_head: _position, ...records } = await rowsOf(of);
  return records;
}

describe("whatever is sent", () => {
  test.each(operations.filter(({ body, bodyType }) => body && !bodyType).map((it) => [it.id, it] as const))(
    "[CV18] the operation %s never fails with a 5xx, whatever body it is given",
    async (_, { method, path, body = {}, query }) => {
      const address = addressOf(path, NOBODY) + (query ? `?org_id=${world.demoOrgId}` : "");
      await fc.assert(
        fc.asyncProperty(bodiesOf(body), async (given) => {
          const answer = await world.admin.api.send(method, address, { body: given });
          expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(500);
        }),
        { numRuns: 25 },
      );
    },
  );

  test.each(operations.filter(({ method }) => method === "GET").map((it) => [it.id, it] as const))(
    "[CV18] the operation %s never fails with a 5xx, whatever address it is given, and changes nothing",
    async (_, { path, query = {} }) => {
      const { properties = {} } = query as { properties?: object };
      const text = fc.oneof(
        fc.string({ unit: "binary", maxLength: 20 }),
        fc.constantFrom(NOBODY, world.demoOrgId, "1", "\0"),
      );
      const parameters = fc.dictionary(fc.constantFrom(...Object.keys(properties), "x"), text);
      const before = await recordsOf(world);
      await fc.assert(
        fc.asyncProperty(
          text.map((id) => id.toWellFormed()),
          parameters,
          async (id, given) => {
            const pairs = Object.entries(given).map(([name, value]): [string, string] => [name, value.toWellFormed()]);
            const answer = await world.admin.api.get(`${addressOf(path, id)}?${new URLSearchParams(pairs).toString()}`);
            expect(answer.status).toBeLessThan(500);
          },
        ),
        { numRuns: 25 },
      );
      expect(await recordsOf(world)).toEqual(before);
    },
  );
});
