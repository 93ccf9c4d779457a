import type { Described } from "./operation.ts";
import { isRepeatable } from "./operation.ts";

export interface RetryPolicy {
  /** How often a request is sent at most. */
  readonly attempts: number;
  /** The first wait is at most this long; each further one may be twice as long. */
  readonly baseMs: number;
  readonly maxDelayMs: number;
  /** A server that asks for a longer wait is not waited for: the call fails and says how long it would be. */
  readonly maxRetryAfterMs: number;
}

export const DEFAULT_RETRY: RetryPolicy = { attempts: 4, baseMs: 250, maxDelayMs: 8_000, maxRetryAfterMs: 30_000 };

/** How one attempt ended without success. */
export type Failed =
  | {
      readonly kind: "answer";
      readonly status: number;
      readonly retryAfterSeconds: number | null;
      /** A failure in the API's own form. Anything else comes from a proxy in front of it. */
      readonly isOfApi: boolean;
    }
  /** Nothing was sent: there was no connection. */
  | { readonly kind: "not_sent" }
  /** The connection broke off, or its time passed, while the server may have been at work. */
  | { readonly kind: "cut" }
  /** A success that nobody can read: something else than the API has answered, and would do so again. */
  | { readonly kind: "unreadable" };

const PASSING = new Set([429, 502, 503, 504]);

/**
 * Whether the failure passes by itself. The API says so with `Retry-After`; its 502 or 504 without one is about a cluster,
 * and asking again would only make its user wait longer. A proxy means the moment in which a server restarts.
 */
function passes(failed: Failed): boolean {
  if (failed.kind !== "answer") return failed.kind !== "unreadable";
  return PASSING.has(failed.status) && (failed.retryAfterSeconds !== null || !failed.isOfApi);
}

/** Whether the server may have carried the request out. The API refuses with a 4xx before it changes anything. */
export function mayHaveHappened(failed: Failed, { method }: Described): boolean {
  if (method === "GET" || failed.kind === "not_sent") return false;
  return failed.kind !== "answer" || failed.status >= 500;
}

/** How long to wait before the request is sent again; null when it must not be, or is not worth it. */
export function retryDelay(
  failed: Failed,
  operation: Described,
  attempt: number,
  policy: RetryPolicy,
  random: number,
): number | null {
  if (attempt >= policy.attempts || !passes(failed)) return null;
  if (mayHaveHappened(failed, operation) && !isRepeatable(operation)) return null;
  const jitter = backoff(attempt, policy.baseMs, policy.maxDelayMs, random);
  if (failed.kind !== "answer" || failed.retryAfterSeconds === null) return jitter;
  const asked = failed.retryAfterSeconds * 1000;
  // Those who were refused together would otherwise all come back together.
  return asked > policy.maxRetryAfterMs ? null : asked + Math.round(random * policy.baseMs);
}

/** Full jitter: anything up to a bound that doubles with each attempt. */
export function backoff(attempt: number, baseMs: number, maxMs: number, random: number): number {
  return Math.round(random * Math.min(maxMs, baseMs * 2 ** Math.min(attempt - 1, 30)));
}

/** Seconds, or a date, as RFC 9110 has it. */
export function retryAfterOf(header: string | null, nowMs: number): number | null {
  if (header === null || header.trim() === "") return null;
  if (/^\s*\d+\s*$/.test(header)) return Number(header);
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, Math.ceil((at - nowMs) / 1000));
}

const NOT_SENT = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ENETUNREACH",
  "EHOSTUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** Node says why `fetch` failed; a browser does not, and anything may have happened. */
export function cutOf(error: unknown): { failed: Failed; reason: string | null } {
  const code = codeOf(error);
  return { failed: { kind: code !== null && NOT_SENT.has(code) ? "not_sent" : "cut" }, reason: code };
}

function codeOf(error: unknown): string | null {
  const { cause, code } = (error ?? {}) as { cause?: unknown; code?: unknown };
  if (typeof code === "string" && /^[A-Z][A-Z0-9_]*$/.test(code)) return code;
  return typeof cause === "object" && cause !== null ? codeOf(cause) : null;
}
