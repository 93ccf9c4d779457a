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
const DISK_FULL = "53100";
const INTERNAL_ERROR = "XX000";
const RETRYABLE = new Set(["40001", "40P01"]);
const TOO_SLOW = "57014";
const FULL = "53300";
/**
 * Connection exceptions, a server that is shutting down, starting or full, a former primary that is read-only, a lock that others
 * did not release in time, and a transaction whose program did not go on in time.
 */
const UNREACHABLE = /^(08|57P0[1-3]|53300|25006|55P03|25P03)/;
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

/** What the driver says of itself, without a code. */
const LOST_CONNECTION =
  /^(Connection terminated|Client (has encountered a connection error|was closed)|timeout exceeded when trying|timeout expired)/;

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

/** The disk of the database is full, or its quota, for which PostgreSQL has no code. */
export function isOutOfRoom(error: unknown): boolean {
  const { code, message = "" } = asDatabaseError(error);
  return code === DISK_FULL || (code === INTERNAL_ERROR && /: Disk quota exceeded$/.test(message));
}

/** PostgreSQL takes no more connections. */
export function isFull(error: unknown): boolean {
  return asDatabaseError(error).code === FULL;
}

/** A statement took longer than it may, and was ended. */
export function isTooSlow(error: unknown): boolean {
  return asDatabaseError(error).code === TOO_SLOW;
}

/** The database stores nothing for now, whatever it is given. Whoever can wait tries again until it does. */
export const isOutage = (error: unknown): boolean => isUnreachable(error) || isOutOfRoom(error);

/** Nothing was changed, and another attempt may pass. */
export function isUnreachable(error: unknown): boolean {
  const { code = "", message = "" } = asDatabaseError(error);
  return UNREACHABLE.test(code) || UNREACHABLE_SOCKET.has(code) || LOST_CONNECTION.test(message);
}
