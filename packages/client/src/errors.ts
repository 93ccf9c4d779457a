import type { CodedConflict, DeviceRefusal, Operations, ValidationItem } from "./generated/types.ts";
import type { OperationName } from "./operation.ts";

/** Why an operation was refused, for programs. A newer server may know more. */
export type ErrorCode = CodedConflict["detail"]["code"] | DeviceRefusal["error"];

export interface ErrorFacts {
  readonly operation: string;
  readonly status?: number | undefined;
  /** Finds the request in the server's logs. */
  readonly requestId?: string | undefined;
  readonly code?: string | undefined;
  readonly body?: unknown;
  readonly retryAfterSeconds?: number | undefined;
  /** How often the request was sent. */
  readonly attempts?: number;
  readonly mayHaveHappened?: boolean;
  readonly cause?: unknown;
}

/** All that a call can fail with, except the reason of its own `AbortSignal` and mistakes in its arguments. */
export abstract class BinnacleError extends Error {
  abstract readonly kind: string;
  readonly operation: string;
  readonly status: number | null;
  readonly requestId: string | null;
  readonly code: ErrorCode | (string & {}) | null;
  /** The answer's body, where there is one. */
  readonly body: unknown;
  /** When it is worth another try, if the server says so. */
  readonly retryAfterSeconds: number | null;
  readonly attempts: number;
  /** Whether the request, or an earlier attempt of it, may have been carried out although it failed here. */
  readonly mayHaveHappened: boolean;

  constructor(message: string, facts: ErrorFacts) {
    super(message, facts.cause === undefined ? {} : { cause: facts.cause });
    this.operation = facts.operation;
    this.status = facts.status ?? null;
    this.requestId = facts.requestId ?? null;
    this.code = facts.code ?? null;
    this.body = facts.body ?? null;
    this.retryAfterSeconds = facts.retryAfterSeconds ?? null;
    this.attempts = facts.attempts ?? 1;
    this.mayHaveHappened = facts.mayHaveHappened ?? false;
  }
}

// A minified bundle shortens the names of classes, so each says its own.

/** 401: the credential is missing, expired or revoked, and could not be renewed. */
export class Unauthenticated extends BinnacleError {
  override readonly name = "Unauthenticated";
  readonly kind = "unauthenticated";
}

/** 403 */
export class Forbidden extends BinnacleError {
  override readonly name = "Forbidden";
  readonly kind = "forbidden";
}

/** 404: not there, or not for this caller to see. */
export class NotFound extends BinnacleError {
  override readonly name = "NotFound";
  readonly kind = "not_found";
}

/** 409: in conflict with what there is; `code` says why, where the API has a code for it. */
export class Conflict extends BinnacleError {
  override readonly name = "Conflict";
  readonly kind = "conflict";
}

/** 412: the resource has changed since the `ETag` in `ifMatch` was read. */
export class PreconditionFailed extends BinnacleError {
  override readonly name = "PreconditionFailed";
  readonly kind = "precondition_failed";
}

/** 422: every invalid field of the request. */
export class Invalid extends BinnacleError {
  override readonly name = "Invalid";
  readonly kind = "invalid";
  readonly items: readonly ValidationItem[];

  constructor(message: string, facts: ErrorFacts) {
    super(message, facts);
    this.items = itemsOf(facts.body);
  }
}

/** 429 */
export class RateLimited extends BinnacleError {
  override readonly name = "RateLimited";
  readonly kind = "rate_limited";
}

/** Any other 4xx. */
export class Refused extends BinnacleError {
  override readonly name = "Refused";
  readonly kind = "refused";
}

/** 5xx: the server or a cluster behind it failed; `status` says which. */
export class ServerFault extends BinnacleError {
  override readonly name = "ServerFault";
  readonly kind = "server_fault";
}

/** No answer came: the connection could not be made, or broke off. */
export class Unreachable extends BinnacleError {
  override readonly name = "Unreachable";
  readonly kind = "unreachable";
}

/** The answer is not one of this API: a redirect, a page of a proxy, or text that is not JSON. */
export class UnexpectedAnswer extends BinnacleError {
  override readonly name = "UnexpectedAnswer";
  readonly kind = "unexpected_answer";
}

/** The call's own deadline passed. */
export class TimedOut extends BinnacleError {
  override readonly name = "TimedOut";
  readonly kind = "timed_out";
}

const CLASS_OF = {
  401: Unauthenticated,
  403: Forbidden,
  404: NotFound,
  409: Conflict,
  412: PreconditionFailed,
  422: Invalid,
  429: RateLimited,
} as const;

type ByStatus<S extends number> = S extends keyof typeof CLASS_OF
  ? InstanceType<(typeof CLASS_OF)[S]>
  : `${S}` extends `5${string}`
    ? ServerFault
    : Refused;

/** What an operation can fail with: its documented statuses, and what can go wrong on the way to it. */
export type FailureOf<N extends OperationName> =
  | ByStatus<Operations[N]["failures"]>
  | Unreachable
  | TimedOut
  | UnexpectedAnswer;

/** The error of an answer that is not a success, in the API's own words. */
export function errorOf(status: number, body: unknown, facts: Omit<ErrorFacts, "status" | "body">): BinnacleError {
  const detail = fieldOf(body, "detail");
  const code = fieldOf(detail, "code") ?? fieldOf(body, "error");
  const all: ErrorFacts = { ...facts, status, body, ...(typeof code === "string" ? { code } : {}) };
  const message = wordsOf(detail) ?? (typeof code === "string" ? code : `The server answered with status ${status}.`);
  if (status in CLASS_OF) return new CLASS_OF[status as keyof typeof CLASS_OF](message, all);
  return status >= 500 ? new ServerFault(message, all) : new Refused(message, all);
}

function wordsOf(detail: unknown): string | null {
  if (typeof detail === "string") return detail;
  if (Array.isArray(detail)) {
    const lines = itemsOf({ detail }).map(({ loc, msg }) => `${loc.slice(1).join(".") || loc[0]}: ${msg}`);
    return lines.length > 0 ? lines.join("; ") : null;
  }
  const message = fieldOf(detail, "message");
  return typeof message === "string" ? message : null;
}

const itemsOf = (body: unknown): readonly ValidationItem[] => {
  const detail = fieldOf(body, "detail");
  return Array.isArray(detail) ? detail.filter((it) => Array.isArray(fieldOf(it, "loc"))) : [];
};

export const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;

/** The same error, with what the attempts before it have shown. */
export function afterAttempts(error: BinnacleError, attempts: number, mayHaveHappened: boolean): BinnacleError {
  return Object.assign(error, { attempts, mayHaveHappened });
}
