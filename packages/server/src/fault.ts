import type { ConflictCode, ValidationItem } from "@binnacle/contract";

/**
 * What can go wrong, in the domain's words. `http/failure.ts` alone knows which status each kind is.
 * The message is for the caller to read: it never holds a secret or a name the caller may not see.
 */
export type FaultKind =
  | "bad_request"
  | "unauthenticated"
  | "forbidden"
  | "not_found"
  | "gone"
  | "conflict"
  | "precondition_failed"
  | "invalid"
  | "rate_limited"
  | "payload_too_large"
  | "unsupported_media_type"
  | "unavailable"
  | "bad_gateway"
  | "timed_out";

export class Fault extends Error {
  override readonly name = "Fault";
  readonly kind: FaultKind;
  /** What the answer's `detail` holds when it is more than the sentence. */
  readonly detail: string | object;
  readonly retryAfterSeconds: number | undefined;
  /** The whole answer, where a standard prescribes another form. */
  readonly body: object | undefined;

  constructor(
    kind: FaultKind,
    message: string,
    extra: { detail?: object; retryAfterSeconds?: number; body?: object; cause?: Error } = {},
  ) {
    super(message, extra.cause ? { cause: extra.cause } : {});
    this.kind = kind;
    this.detail = extra.detail ?? message;
    this.body = extra.body;
    this.retryAfterSeconds = extra.retryAfterSeconds;
  }
}

/** The same words whatever is wrong with the credential, so that nobody learns which. */
export const unauthenticated = (message = "User not authenticated.") => new Fault("unauthenticated", message);
export const forbidden = (message = "You are not allowed to do this.") => new Fault("forbidden", message);
export const notFound = (what: string) => new Fault("not_found", `${what} not found.`);
export const conflict = (message: string) => new Fault("conflict", message);

/** A refused app operation: a code for programs, a sentence for people, and what it is about. */
export const codedConflict = (code: ConflictCode, message: string, context: object = {}) =>
  new Fault("conflict", message, { detail: { code, message, ...context } });

export const invalid = (items: readonly ValidationItem[]) =>
  new Fault("invalid", "The request is not valid.", { detail: [...items] });

/** One field that is well-formed and still wrong. */
export const invalidValue = (loc: ValidationItem["loc"], msg: string) => invalid([{ loc, msg, type: "value_error" }]);

export const rateLimited = (retryAfterSeconds: number) =>
  new Fault("rate_limited", "Rate limit exceeded.", { retryAfterSeconds });
