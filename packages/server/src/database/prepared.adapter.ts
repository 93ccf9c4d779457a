import { CompiledQuery, type QueryResult } from "kysely";
import pg from "pg";
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

type Query = (statement: unknown, ...rest: unknown[]) => Promise<pg.QueryResult>;

/** Kysely gives a connection the text of a statement and its values. This one adds the name, where there is one. */
export class NamingClient extends pg.Client {
  override query: Query = (statement, ...rest) => {
    const name = typeof statement === "string" ? names.get(statement) : undefined;
    const [values, ...others] = rest;
    const given = name ? [{ name, text: statement, values }, ...others] : [statement, ...rest];
    return Reflect.apply(super.query, this, given);
  };
}
