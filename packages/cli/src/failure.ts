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
import { SECRET_KEY } from "./command-line.ts";
import CLOUD_PROVIDERS from "./generated/cloud-providers.json" with { type: "json" };
import { CliError, EXIT, type ExitCode, type Host, printable } from "./host.ts";
import type { PositionOf } from "./manifest.ts";

export interface ErrorReport {
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
export function errorReport(error: unknown, positionOf: PositionOf = () => null, env: Host["env"] = {}): ErrorReport {
  const lines = error instanceof Invalid ? fieldLines(error, positionOf) : [messageOf(error)];
  const fix = fixFor(error, env);
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

/** What a server says of a path that it does not have. */
const NO_ROUTE = "Not Found";

function messageOf(error: unknown): string {
  if (error instanceof NotFound && error.message === NO_ROUTE)
    return "There is no such path at this address. Is it that of a control plane?";
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
  app_suspended: "binnacle apps unsuspend <app>",
  project_suspended: "binnacle projects unsuspend <project>",
  cluster_suspended: "binnacle clusters unsuspend <cluster>",
  recreate_required: "binnacle apps deploy -f <file> --recreate, which loses the data in its volumes",
  stateful_downgrade: "add --allow-downgrade, if the older version can read the data",
  ambiguous_template: "add --org <organization>",
  email_unverified: "binnacle users verify-email <user>, as a superuser",
};

/** The environment goes before the context, so what is wrong with it cannot be mended in the context. */
function fixFor(error: unknown, { BINNACLE_TOKEN: token, BINNACLE_URL: url }: Host["env"]): string | null {
  if (error instanceof CliError) return error.fix;
  if (error instanceof Unauthenticated)
    return token ? "set BINNACLE_TOKEN to a token that is valid, or unset it to use your login" : "binnacle login";
  if (error instanceof RateLimited && error.retryAfterSeconds) return `try again in ${error.retryAfterSeconds} s`;
  if (error instanceof PreconditionFailed) return "run the command again: somebody has changed it meanwhile";
  if (error instanceof BinnacleError && error.code) return FIX_OF_CODE[error.code] ?? null;
  if (error instanceof NotFound && error.message === NO_ROUTE)
    return url ? `check BINNACLE_URL, which is ${url}` : "binnacle context list shows the addresses in use";
  if (error instanceof Unreachable)
    return url
      ? `check BINNACLE_URL, which is ${url}, and whether the control plane runs there`
      : "binnacle context list shows the addresses in use";
  return null;
}

const HIDDEN = "***";
const CLOUD_SECRETS = new Set(
  CLOUD_PROVIDERS.flatMap(({ fields }) => fields.filter(({ secret }) => secret).map(({ name }) => name)),
);

/** A request's body with nothing in it that may be secret: values of charts and variables are among that. */
export function masked(value: unknown, isSecret = false): unknown {
  if (Array.isArray(value)) return value.map((item) => masked(item, isSecret));
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [
        key,
        masked(item, isSecret || SECRET_KEY.test(key) || CLOUD_SECRETS.has(key)),
      ]),
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
