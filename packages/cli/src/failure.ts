import {
  BinnacleError,
  Conflict,
  Forbidden,
  Invalid,
  NotFound,
  PreconditionFailed,
  RateLimited,
  Refused,
  ServerFault,
  TimedOut,
  Unauthenticated,
  UnexpectedAnswer,
  Unreachable,
} from "@binnacle/client";
import { CliError, EXIT, type ExitCode, printable } from "./host.ts";

/** Where a field of the request stands in the file that it came from. */
export type PositionOf = (path: readonly (string | number)[]) => string | null;

export interface Told {
  readonly lines: readonly string[];
  readonly exitCode: ExitCode;
}

/** The cluster behind the server, or the server itself, could not be reached. */
const AWAY = new Set([502, 503, 504]);

export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof CliError) return error.exitCode;
  if (error instanceof Invalid) return EXIT.usage;
  if (error instanceof NotFound) return EXIT.notFound;
  if (error instanceof Conflict || error instanceof PreconditionFailed) return EXIT.conflict;
  if (error instanceof Unauthenticated || error instanceof Forbidden) return EXIT.refused;
  if (error instanceof RateLimited || error instanceof Refused) return EXIT.refused;
  if (error instanceof TimedOut) return EXIT.timedOut;
  if (error instanceof Unreachable || error instanceof UnexpectedAnswer) return EXIT.unreachable;
  if (error instanceof ServerFault && AWAY.has(error.status ?? 0)) return EXIT.unreachable;
  return EXIT.failed;
}

/** An error in the API's words, with the place in the file and the next command where they are known. */
export function told(error: unknown, positionOf: PositionOf = () => null): Told {
  const lines = error instanceof Invalid ? fieldLines(error, positionOf) : [messageOf(error)];
  const fix = fixFor(error);
  const id =
    error instanceof BinnacleError && error.requestId && (error.status ?? 0) >= 500
      ? [`request: ${error.requestId}`]
      : [];
  const doubt =
    error instanceof BinnacleError && error.mayHaveHappened
      ? ["The server may have carried it out all the same: look before you repeat it."]
      : [];
  return {
    lines: [
      `error: ${lines[0] ?? "unknown"}`,
      ...lines.slice(1).map((line) => `       ${line}`),
      ...doubt,
      ...id,
      ...(fix ? [`fix: ${fix}`] : []),
    ].map((line) => printable(line, { lines: true })),
    exitCode: exitCodeOf(error),
  };
}

function messageOf(error: unknown): string {
  if (error instanceof Unreachable) return `The control plane cannot be reached: ${error.message}`;
  if (error instanceof UnexpectedAnswer) return `${error.message} Is this the address of a control plane?`;
  return error instanceof Error ? error.message : String(error);
}

function fieldLines(error: Invalid, positionOf: PositionOf): string[] {
  const lines = error.items.map(({ loc, msg }) => {
    const path = loc.slice(1);
    const at = loc[0] === "body" ? positionOf(path) : null;
    return `${at ? `${at}: ` : ""}${fieldName(path) || String(loc[0])}: ${msg}`;
  });
  return lines.length > 0 ? lines : [error.message];
}

/** `components[0].workload_spec.image` */
const fieldName = (path: readonly (string | number)[]): string =>
  path.reduce<string>((text, key) => (typeof key === "number" ? `${text}[${key}]` : text ? `${text}.${key}` : key), "");

const FIX_OF_CODE: Readonly<Record<string, string>> = {
  blocked_sync: "binnacle apps redeploy <app> --force",
  app_paused: "binnacle apps resume <app>",
  recreate_required: "binnacle apps deploy -f <file> --recreate, which loses the data in its volumes",
  stateful_downgrade: "add --allow-downgrade, if the older version can read the data",
  ambiguous_template: "add --org <organization>",
  email_unverified: "binnacle users verify-email <user>, as a superuser",
};

function fixFor(error: unknown): string | null {
  if (error instanceof CliError) return error.fix;
  if (error instanceof Unauthenticated) return "binnacle login";
  if (error instanceof RateLimited && error.retryAfterSeconds) return `try again in ${error.retryAfterSeconds} s`;
  if (error instanceof PreconditionFailed) return "run the command again: somebody has changed it meanwhile";
  if (error instanceof BinnacleError && error.code) return FIX_OF_CODE[error.code] ?? null;
  if (error instanceof Unreachable) return "binnacle context list shows the addresses in use";
  return null;
}

const SECRET_KEY = /pass|secret|token|private_key|access_key|device_code|values?$|install_command/i;
const HIDDEN = "***";

/** A request's body with nothing in it that may be secret: values of charts and variables are among that. */
export function masked(value: unknown, isSecret = false): unknown {
  if (Array.isArray(value)) return value.map((item) => masked(item, isSecret));
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, masked(item, isSecret || SECRET_KEY.test(key))]),
    );
  }
  return isSecret && value !== null && typeof value !== "boolean" ? HIDDEN : value;
}

/** The lines of `--debug` about a request. */
export function requestLines(method: string, url: string, headers: Headers, body: unknown): string[] {
  const lines = [`> ${method} ${url}`];
  for (const [name, value] of headers) {
    lines.push(`>   ${name}: ${/^(authorization|cookie)$/.test(name) ? HIDDEN : value}`);
  }
  if (typeof body === "string" && body) lines.push(`>   ${bodyText(url, headers.get("content-type") ?? "", body)}`);
  else if (body) lines.push(">   (a form with files)");
  return lines.map((line) => printable(line));
}

function bodyText(url: string, type: string, body: string): string {
  if (type.startsWith("application/json")) {
    const isSecret = /\/secrets(?:\?|$)/.test(url);
    try {
      return JSON.stringify(masked(JSON.parse(body), isSecret));
    } catch {
      return HIDDEN;
    }
  }
  return [...new URLSearchParams(body).keys()].map((key) => `${key}=${HIDDEN}`).join("&");
}
