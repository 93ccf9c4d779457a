import { safeText } from "@binnacle/contract";
import type { LogLevel } from "@binnacle/process";
import pino, { type DestinationStream, type Logger } from "pino";

/** Names under which a secret could come along in something that is logged. */
const SECRET_NAMES = new Set(["token", "password", "authorization", "secret", "secrets", "values", "body", "data"]);

const DEEPEST = 8;

export function createLog(level: LogLevel, destination: DestinationStream = pino.destination({ dest: 1 })): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }), log: (fields) => withoutSecrets(fields) },
      serializers: { err: safeError },
    },
    destination,
  );
}

function withoutSecrets(fields: Record<string, unknown>, depth = 0): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, shown(name, value, depth)]));
}

function shown(name: string, value: unknown, depth: number): unknown {
  if (SECRET_NAMES.has(name)) return "(secret)";
  // Errors have a serializer of their own.
  if (typeof value !== "object" || value === null || value instanceof Error) return value;
  if (depth >= DEEPEST) return "(too deep)";
  if (Array.isArray(value)) return value.map((item) => shown("", item, depth + 1));
  return withoutSecrets(value as Record<string, unknown>, depth + 1);
}

interface LoggedError {
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  readonly code: string | undefined;
  readonly status: number | undefined;
  readonly cause: LoggedError | undefined;
}

/** Of an error only what is known to be safe: libraries hang requests, headers and answers onto theirs. */
function safeError(error: unknown): LoggedError | string {
  if (!(error instanceof Error)) return safeText(String(error));
  const { name, code, status } = error as Error & { code?: string; status?: number };
  const message = safeText(error.message);
  const stack = error.stack?.replace(error.message, () => message);
  const cause = error.cause instanceof Error ? (safeError(error.cause) as LoggedError) : undefined;
  return { name, message, stack, code, status, cause };
}
