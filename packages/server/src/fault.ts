import type { ConflictCode, ValidationItem } from "@binnacle/contract";

/**
 * The kinds of failures in the domain. `http/failure.ts` alone maps them to statuses. The message is shown to the
 * caller: it never contains a secret or a name that the caller may not see.
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
  | "upgrade_required"
  | "rate_limited"
  | "payload_too_large"
  | "unsupported_media_type"
  | "misdirected"
  | "unavailable"
  | "bad_gateway"
  | "timed_out";

export class Fault extends Error {
  override readonly name = "Fault";
  readonly kind: FaultKind;
  /** The `detail` of the answer, if it is more than the message. */
  readonly detail: string | object;
  readonly retryAfterSeconds: number | undefined;
  /** The whole body, if a standard prescribes another form. */
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

/** The message is the same for every invalid credential, so that it reveals nothing. */
export const unauthenticated = (message = "User not authenticated.") => new Fault("unauthenticated", message);
export const forbidden = (message: string) => new Fault("forbidden", message);
export const notFound = (what: string) => new Fault("not_found", `${what} not found.`);
export const conflict = (message: string) => new Fault("conflict", message);

/** A refused operation, with a code for programs, a sentence for people and its context. */
export const codedConflict = (code: ConflictCode, message: string, context: object = {}) =>
  new Fault("conflict", message, { detail: { code, message, ...context } });

export const invalid = (items: readonly ValidationItem[]) =>
  new Fault("invalid", "The request is not valid.", { detail: readableItems(items) });

const MOST_ITEMS = 100;
const MOST_ITEMS_BYTES = 63 * 1024;
const LONGEST_STEP = 256;
const LONGEST_MESSAGE = 1000;

/**
 * Returns the first items with long text cut off, so that an answer stays readable. A location that is too deep is
 * replaced by the nearest one around it.
 */
export function readableItems(items: readonly ValidationItem[]): ValidationItem[] {
  const readable: ValidationItem[] = [];
  let room = MOST_ITEMS_BYTES;
  for (const { loc, msg, type } of items.slice(0, MOST_ITEMS)) {
    const steps = loc.map((step) => (typeof step === "string" ? cut(step, LONGEST_STEP) : step));
    let item = { loc: steps, msg: cut(msg, LONGEST_MESSAGE), type };
    if (readable.length === 0) {
      while (bytesOf(item) > room && item.loc.length > 1) item = { ...item, loc: item.loc.slice(0, -1) };
    }
    room -= bytesOf(item);
    if (room < 0) break;
    readable.push(item);
  }
  return readable;
}

const cut = (text: string, longest: number) =>
  text.length > longest ? `${text.slice(0, longest).toWellFormed()}…` : text;

/** The size of an item with the comma after it. */
const bytesOf = (item: ValidationItem) => Buffer.byteLength(JSON.stringify(item)) + 1;

/** A field that is well-formed but not valid. */
export const invalidValue = (loc: ValidationItem["loc"], msg: string) => invalid([{ loc, msg, type: "value_error" }]);

export const rateLimited = (retryAfterSeconds: number) =>
  new Fault("rate_limited", "Rate limit exceeded.", { retryAfterSeconds });
