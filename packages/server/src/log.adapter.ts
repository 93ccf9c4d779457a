import { SECRET_FIELDS } from "@binnacle/contract";
import type { LogLevel } from "@binnacle/process";
import pino, { type DestinationStream, type Logger } from "pino";
import type { Environment } from "./config.ts";

/** Names under which a secret could come along in something that is logged. */
const SECRET_NAMES = new Set([
  "password",
  "current_password",
  "token",
  "access_token",
  "refresh_token",
  "connection_token",
  ...SECRET_FIELDS,
  "private_key",
  "device_code",
  "authorization",
  "cookie",
]);

/** The part of a terminal that decides how lines are written to it. */
interface Terminal {
  readonly isTTY?: boolean;
  /** Node.js reads NO_COLOR and TERM here. */
  hasColors?(): boolean;
}

/** Opens the log of the process: lines for people on the terminal of a local start, and JSON everywhere else. */
export async function openLog(
  level: LogLevel,
  environment: Environment,
  terminal: Terminal = process.stdout,
): Promise<Logger> {
  if (environment !== "local" || !terminal.isTTY) return createLog(level);
  const format = await terminalFormat(terminal.hasColors?.() ?? false);
  // Lines and the texts that the start prints keep their order only if both are written at once.
  const output = pino.destination({ dest: 1, sync: true });
  return createLog(level, { write: (line) => void output.write(format(line)) });
}

/** Returns the function that makes a line for people from a line of JSON. The library is loaded only here. */
export async function terminalFormat(hasColors: boolean): Promise<(line: string) => string> {
  const { prettyFactory } = await import("pino-pretty");
  return prettyFactory({
    colorize: hasColors,
    translateTime: "SYS:HH:MM:ss.l",
    // The library would show some names, such as `name`, apart, and leave others out: fields are written here.
    hideObject: true,
    customPrettifiers: { time: (time) => `[${printable(shown(time))}]` },
    include: "level,time",
    messageFormat: (line, _key, _label, { colors }) => {
      const { level: _level, time: _time, msg, err, ...fields } = withText(line);
      const named = Object.entries(fields).map(([name, value]) => printable(`${name}=${shown(value)}`));
      const stack = err ? stackOf(err).split("\n") : [];
      const words = [printable(msg ?? ""), ...(named.length > 0 ? [colors.gray(named.join(" "))] : [])].join(" ");
      // Only a stack has further lines, and they are indented: no line that begins with a time is forged.
      return [words, ...stack.map(printable)].join("\n    ");
    },
  });
}

interface Line extends Readonly<Record<string, unknown>> {
  readonly time?: string;
  readonly msg?: string;
  readonly err?: Partial<LoggedError>;
  readonly method?: string;
  readonly route?: string | null;
  readonly status?: number;
  readonly ms?: number;
}

function withText(line: Line): Line {
  if (line.msg !== "request") return line;
  const { method, route, status, ms, ...rest } = line;
  return { ...rest, msg: `${method} ${route ?? "(unknown path)"} ${status} in ${ms} ms` };
}

const shown = (value: unknown): string =>
  typeof value === "string" && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);

function stackOf({ message, stack, code, cause }: Partial<LoggedError>): string {
  const own = `${stack ?? message ?? "an unknown error"}${code ? ` (${code})` : ""}`;
  return cause ? `${own}\ncaused by: ${stackOf(cause)}` : own;
}

/** Characters that move the cursor, change colours, end a line, are not seen or reverse the direction of text. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

const printable = (text: string): string =>
  text.replace(UNPRINTABLE, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);

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
