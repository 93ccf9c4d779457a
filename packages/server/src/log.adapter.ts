import pino, { type Logger } from "pino";
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

export function createLog(level: LogLevel): Logger {
  return pino({
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: { paths: SECRET_NAMES.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: "(secret)" },
    serializers: { err: safeError },
  });
}

/** A database error carries the row it is about in `detail` and `where`; only what never holds data is kept. */
function safeError(error: Error & { code?: string; constraint?: string }) {
  const { name, message, stack, code, constraint } = error;
  return { name, message, stack, code, constraint };
}
