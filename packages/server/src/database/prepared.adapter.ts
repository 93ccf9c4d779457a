import { type Compilable, CompiledQuery, type QueryResult } from "kysely";
import pg from "pg";
import { BoundedQuery } from "./bounded-query.adapter.ts";
import type { Queries } from "./transaction.ts";

/** The names of the statements that a connection parses and plans once, by their texts. */
const names = new Map<string, string>();

/**
 * Runs a statement of which each connection keeps the plan, and which Kysely does not compile again. The text comes from our
 * own code, with parameters for all values: a connection keeps as many plans as there are texts.
 */
export function runPrepared<R>(db: Queries, text: string, values: readonly unknown[]): Promise<QueryResult<R>> {
  if (!names.has(text)) names.set(text, `prepared ${names.size}`);
  return db.executeQuery<R>(CompiledQuery.raw(text, [...values]));
}

/** The texts whose rows are read until they have so many characters. */
const bounds = new Map<string, number>();

/**
 * Runs a query of which a page may be too long for an answer: it ends once the rows have `enough` characters together. The
 * text has parameters for all values.
 */
export async function readBounded<R>(db: Queries, query: Compilable<R>, enough: number): Promise<R[]> {
  const compiled = query.compile();
  bounds.set(compiled.sql, enough);
  return (await db.executeQuery<R>(compiled)).rows;
}

type Query = (statement: unknown, ...rest: unknown[]) => Promise<pg.QueryResult>;

/**
 * Kysely gives a connection the text of a statement and its values. This one adds the name and the bound, where there is one.
 */
export class NamingClient extends pg.Client {
  override query: Query = (statement, ...rest) => {
    const text = typeof statement === "string" ? statement : "";
    const [values, ...others] = rest;
    const enough = bounds.get(text);
    if (enough !== undefined) return this.#readBounded(text, values as unknown[], enough);
    const name = names.get(text);
    const given = name ? [{ name, text, values }, ...others] : [statement, ...rest];
    return Reflect.apply(super.query, this, given);
  };

  #readBounded(text: string, values: unknown[], enough: number): Promise<pg.QueryResult> {
    return new Promise((resolve, reject) => {
      const done = (error: Error | null, result: pg.QueryResult) => (error ? reject(error) : resolve(result));
      Reflect.apply(super.query, this, [new BoundedQuery({ text, values }, enough), undefined, done]);
    });
  }
}
