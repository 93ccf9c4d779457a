import type { Kysely, Transaction } from "kysely";
import type { Tables } from "./tables.ts";
import { isRetryable } from "./violation.ts";

export type Tx = Transaction<Tables>;
export type Queries = Kysely<Tables>;

const ATTEMPTS = 5;

/** Runs the work in one transaction, and again when it lost a race; so the work must have no effect but its queries. */
export async function inTransaction<T>(database: Queries, work: (tx: Tx) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await database.transaction().execute(work);
    } catch (error) {
      if (attempt === ATTEMPTS || !isRetryable(error)) throw error;
    }
  }
}
