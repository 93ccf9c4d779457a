import type { LogLevel } from "@binnacle/process";
import pino, { type DestinationStream, type Logger } from "pino";

/** Names under which a secret could come along in something that is logged. */
const SECRET_NAMES = new Set([
  "password",
  "current_password",
  "token",
  "access_token",
  "refresh_token",
  "connection_token",
  "secret_access_key",
  "private_key",
  "device_code",
  "authorization",
  "cookie",
]);

export function createLog(level: LogLevel, destination: DestinationStream = bufferedOutput()): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: timeField,
      formatters: { level: (label) => ({ level: label }), log: withoutSecrets },
      serializers: { err: safeError },
    },
    destination,
  );
}

let stampedAtMs = 0;
let stamp = "";

/** Written once for all lines of a millisecond. */
function timeField(): string {
  const nowMs = Date.now();
  if (nowMs !== stampedAtMs) {
    stampedAtMs = nowMs;
    stamp = `,"time":"${new Date(nowMs).toISOString()}"`;
  }
  return stamp;
}

/** A write for each line would cost more than most requests. What a killed process still held, a tenth of a second, is lost. */
function bufferedOutput(): DestinationStream {
  return pino.destination({ dest: 1, sync: false, minLength: 16_000, periodicFlush: 100 });
}

/** By name, at any depth that something logged has. Pino's own redaction takes longer than all the rest of a line. */
function withoutSecrets(fields: Record<string, unknown>, depth = 0): Record<string, unknown> {
  let clean = fields;
  for (const name in fields) {
    const value = fields[name];
    const safe = SECRET_NAMES.has(name)
      ? "(secret)"
      : isNested(value) && depth < 8
        ? withoutSecrets(value, depth + 1)
        : value;
    if (safe === value) continue;
    if (clean === fields) clean = { ...fields };
    clean[name] = safe;
  }
  return clean;
}

/** Errors have a serializer of their own. */
function isNested(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !(value instanceof Error);
}

/** PostgreSQL's class of errors that quote the value they are about, as in `invalid input syntax for type uuid: "…"`. */
const DATA_EXCEPTION = /^22[0-9A-Z]{3}$/;

interface LoggedError {
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  readonly code: string | undefined;
  readonly constraint: string | undefined;
  readonly cause: LoggedError | undefined;
}

/** A database error carries the row it is about in `detail` and `where`: a log gets none of it. */
function safeError(error: Error & { code?: string; constraint?: string }): LoggedError {
  const { name, code, constraint, cause } = error;
  const message = DATA_EXCEPTION.test(code ?? "") ? "a value was refused by the database" : error.message;
  const stack = error.stack?.replace(error.message, () => message);
  return { name, message, stack, code, constraint, cause: cause instanceof Error ? safeError(cause) : undefined };
}
