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
  new Fault("invalid", "The request is not valid.", { detail: readableItems(items) });

const MOST_ITEMS = 100;
const MOST_ITEMS_BYTES = 63 * 1024;
const LONGEST_STEP = 256;
const LONGEST_MESSAGE = 1000;

/**
 * The first of the items, with long text cut off, so that no answer is larger than what people can read. A place that
 * is too far inside is given as the nearest one around it that has room.
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

/** With the comma after it. */
const bytesOf = (item: ValidationItem) => Buffer.byteLength(JSON.stringify(item)) + 1;

/** One field that is well-formed and still wrong. */
export const invalidValue = (loc: ValidationItem["loc"], msg: string) => invalid([{ loc, msg, type: "value_error" }]);

export const rateLimited = (retryAfterSeconds: number) =>
  new Fault("rate_limited", "Rate limit exceeded.", { retryAfterSeconds });
