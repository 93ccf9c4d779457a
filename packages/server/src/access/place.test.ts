import { globSync } from "node:fs";
import { startWorld } from "@binnacle/world";
import { sql } from "kysely";
import { afterAll, describe, expect, test } from "vitest";
import { choiceOf, listStatements } from "./list.store.ts";
import type { List } from "./list.ts";
import { placeStatements } from "./place.store.ts";
import type { Place } from "./place.ts";

type AnyPlace = Place<string, never, never, never>;

/** Found by the names of their files, so that none can be left out. */
const files = globSync("../*/*-place{,.store}.ts", { cwd: import.meta.dirname });
const exported = await Promise.all(files.map((file) => import(file) as Promise<Record<string, unknown>>));
const isPlace = (value: unknown): value is AnyPlace => typeof value === "object" && value !== null && "owners" in value;
const isList = (value: unknown): value is List<unknown, object> =>
  typeof value === "object" && value !== null && ("choose" in value || "surroundings" in value);
const places = exported.flatMap((module) => Object.values(module)).filter(isPlace);
const cases = places.map((place) => [place.key, place] as const);

/** Columns of documents and lists that are short. */
const SHORT_DOCUMENTS = [
  // These hold a few values, by their schemas.
  ...["cloud_credentials.settings", "clusters.capacity", "clusters.profiles", "clusters.kubernetes_release"],
  "provisioning_jobs.kubernetes_release",
  // It holds a number for each component.
  "apps.replicas_before_pause",
];

interface Plan {
  readonly Plans?: readonly Plan[];
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Cond"?: string;
}
const nodesOf = (plan: Plan): readonly Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
afterAll(() => world.stop());

/** A value for each parameter of a statement. */
const nullsFor = (text: string) => Array.from(new Set(text.match(/\$\d+/g)), () => null);

/** The plan for any values, as if all tables were large. */
async function planOf(text: string): Promise<readonly Plan[]> {
  return world.database.kysely.connection().execute(async (db) => {
    await sql`set plan_cache_mode = force_generic_plan`.execute(db);
    for (const way of ["seqscan", "bitmapscan"]) await sql.raw(`set enable_${way} = off`).execute(db);
    await sql.raw(`prepare placed as ${text}`).execute(db);
    try {
      const values = nullsFor(text).map(String).join(", ");
      const { rows } = await sql
        .raw<{ "QUERY PLAN": [{ Plan: Plan }] }>(`explain (format json) execute placed(${values})`)
        .execute(db);
      return nodesOf(rows[0]?.["QUERY PLAN"][0].Plan ?? expect.unreachable());
    } finally {
      await sql.raw("deallocate placed; reset all").execute(db);
    }
  });
}

test("[DB28] the test finds all places", () => {
  const keys = new Set(places.map(({ key }) => key));
  expect(keys).toEqual(new Set(["org", "cluster", "project", "app", "instance", "cloudCredential", "job"]));
});

test("[DB30] a place or a list answers with the columns that it names, also after a newer version has added some", async () => {
  const columnsOf = async ({ text }: { readonly text: string }) =>
    (await world.database.pool.query(text, nullsFor(text))).fields.map(({ name }) => name);
  const lists = exported.flatMap((module) => Object.values(module)).filter(isList);
  const statements = [
    ...places.map((place) => placeStatements(place).short.session),
    ...lists.map((list) => listStatements(choiceOf(list, {}).query).first.session),
  ];
  expect(lists.length).toBeGreaterThan(3);
  const all = () => Promise.all(statements.map(columnsOf));
  const before = await all();
  const tables = new Set(["users", "sessions", ...places.map(({ table }) => table)]);
  for (const table of tables) await world.database.pool.query(`alter table ${table} add column added_later text`);
  expect(await all()).toEqual(before);
});

describe.each(cases)("the place %s", (_, place) => {
  const { short } = placeStatements(place);

  test.each(["session", "cli_token"] as const)(
    "[DB28] a place and what is joined to it are found by indexes, for a %s",
    async (kind) => {
      const tables = (await planOf(short[kind].text)).filter((node) => node["Relation Name"]);
      expect(tables.length).toBeGreaterThan(2);
      expect(tables.filter((node) => node["Index Cond"] === undefined)).toEqual([]);
    },
  );

  test("[DB28] the address of a place contains a unique key, so that it finds one row", async () => {
    const columns = [...(place.address?.where ?? "p.id = $3").matchAll(/p\.(\w+) = \$/g)].map(([, column]) => column);
    const { rows } = await sql`
      select from pg_index where indrelid = ${place.table}::regclass and indisunique and indpred is null and (
        select array_agg(attname::text) from pg_attribute where attrelid = indrelid and attnum = any(indkey)
      ) <@ ${columns}::text[]
    `.execute(world.database.kysely);
    expect(rows.length).toBeGreaterThan(0);
  });

  test("[DB28] a place reads no document past the shared connection that may be long", async () => {
    const { text } = short.session;
    const { fields } = await world.database.pool.query(text, nullsFor(text));
    const columns = fields
      .filter(({ tableID }) => tableID > 0)
      .map(({ tableID, columnID }) => `${tableID}.${columnID}`);
    expect(columns.length).toBeGreaterThan(5);
    const { rows } = await sql<{ column: string }>`
      select distinct attrelid::regclass || '.' || attname as "column"
      from pg_attribute join pg_type on pg_type.oid = atttypid
      where attrelid || '.' || attnum = any(${columns}) and (typcategory = 'A' or typname in ('json', 'jsonb', 'bytea'))
    `.execute(world.database.kysely);
    expect(rows.map(({ column }) => column).filter((column) => !SHORT_DOCUMENTS.includes(column))).toEqual([]);
  });
});
