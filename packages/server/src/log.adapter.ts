import pino, { type DestinationStream, type Logger } from "pino";
import type { LogLevel } from "./config.ts";

/** Names under which a secret could come along in something that is logged. */
const SECRET_NAMES = [
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
];

export function createLog(level: LogLevel, destination: DestinationStream = pino.destination(1)): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: SECRET_NAMES.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: "(secret)" },
      serializers: { err: safeError },
    },
    destination,
  );
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
