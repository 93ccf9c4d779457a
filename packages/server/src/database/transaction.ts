import type { Kysely, Transaction } from "kysely";
import type { Tables } from "./tables.ts";

export type Tx = Transaction<Tables>;
export type Queries = Kysely<Tables>;

const ATTEMPTS = 5;

/**
 * Runs the work in one transaction, and again after a serialization failure or a deadlock. The work must have no
 * effects besides its queries.
 */
export async function inTransaction<T>(database: Queries, work: (tx: Tx) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await database.transaction().execute(work);
    } catch (error) {
      if (attempt === ATTEMPTS || !isRetryable(error)) throw error;
    }
  }
}

const UNIQUE_VIOLATION = "23505";
const FOREIGN_KEY_VIOLATION = "23503";
const RETRYABLE = new Set(["40001", "40P01"]);
/** Connection exceptions, a server that is shutting down, starting or full, and a former primary that is read-only. */
const UNREACHABLE = /^(08|57P0[1-3]|53300|25006)/;
const UNREACHABLE_SOCKET = new Set([
  "EAI_AGAIN",
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOENT",
  "ENOTFOUND",
  "EPIPE",
  "ETIMEDOUT",
]);

interface DatabaseError {
  readonly code?: string;
  readonly constraint?: string;
  readonly message?: string;
}

const asDatabaseError = (error: unknown): DatabaseError => (error instanceof Error ? (error as DatabaseError) : {});

export function isUniqueViolation(error: unknown, constraint: string): boolean {
  const { code, constraint: broken } = asDatabaseError(error);
  return code === UNIQUE_VIOLATION && broken === constraint;
}

export function isForeignKeyViolation(error: unknown, constraint: string): boolean {
  const { code, constraint: broken } = asDatabaseError(error);
  return code === FOREIGN_KEY_VIOLATION && broken === constraint;
}

/** A serialization failure or a deadlock, after which the transaction can run again. */
export function isRetryable(error: unknown): boolean {
  return RETRYABLE.has(asDatabaseError(error).code ?? "");
}

export function isUnreachable(error: unknown): boolean {
  const { code = "", message = "" } = asDatabaseError(error);
  return (
    UNREACHABLE.test(code) ||
    UNREACHABLE_SOCKET.has(code) ||
    /^Connection terminated|timeout exceeded when trying to connect/.test(message)
  );
}
