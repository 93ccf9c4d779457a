import { BinnacleError, Invalid, Unauthenticated } from "@binnacle/client";

/** An error in the form in which every page shows it. */
export interface FailureView {
  /** `missing` and `forbidden` replace the page; `offline` and `server` keep what is on screen and are tried again. */
  readonly kind: "missing" | "forbidden" | "invalid" | "conflict" | "offline" | "server" | "other";
  readonly title: string;
  readonly detail: string;
  readonly requestId: string | null;
  readonly fields: Problems;
}

/** Messages by the dotted path of the field that they are about. */
export type Problems = Readonly<Record<string, string>>;

const TITLES: Readonly<Record<string, readonly [FailureView["kind"], string]>> = {
  unauthenticated: ["other", "You are signed out"],
  forbidden: ["forbidden", "You may not do this"],
  not_found: ["missing", "Not found"],
  conflict: ["conflict", "In conflict with the present state"],
  precondition_failed: ["conflict", "Somebody else has changed this"],
  invalid: ["invalid", "Something needs to be corrected"],
  rate_limited: ["other", "Too many requests"],
  server_fault: ["server", "The server could not do this"],
  unreachable: ["offline", "The server cannot be reached"],
  timed_out: ["offline", "The server did not answer in time"],
  unexpected_answer: ["server", "The answer is not one of this API"],
};

export function failureView(error: unknown): FailureView {
  if (!(error instanceof BinnacleError)) {
    const detail = error instanceof Error ? error.message : String(error);
    return { kind: "other", title: "Something went wrong in the console", detail, requestId: null, fields: {} };
  }
  if (isOfAddress(error)) {
    const detail = "Nothing has this address.";
    return { kind: "missing", title: "Not found", detail, requestId: error.requestId, fields: {} };
  }
  const [kind, title] = TITLES[error.kind] ?? ["other", "The request failed"];
  // Nobody has asked for a refresh of the session, and another one does no harm.
  const isUnclear = error.mayHaveHappened && error.operation !== "refreshAccessToken";
  const detail = isUnclear ? `${error.message} It may have been carried out nevertheless.` : error.message;
  return { kind, title, detail, requestId: error.requestId, fields: fieldsOf(error) };
}

/** A malformed id comes out of the address of the page, where nobody can correct a field. */
const isOfAddress = (error: BinnacleError): boolean =>
  error instanceof Invalid && error.items.length > 0 && error.items.every(({ loc: [part] }) => part === "path");

function fieldsOf(error: BinnacleError): Problems {
  if (!(error instanceof Invalid)) return {};
  // The first part says where the field is (body, query, path), which a form does not know.
  return Object.fromEntries(error.items.map(({ loc, msg }) => [loc.slice(1).join("."), msg]));
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The field of a form that a path of the API is about: the path itself, or the list that it leads into. A map may have dotted keys. */
function placeOf(path: string, values: object): string | null {
  const place: string[] = [];
  let keys = path.split(".");
  let inner: unknown = values;
  while (isObject(inner)) {
    const map = inner;
    const found = keys.map((_, end) => keys.slice(0, end + 1)).findLast((part) => Object.hasOwn(map, part.join(".")));
    if (!found) break;
    place.push(...found);
    keys = keys.slice(found.length);
    inner = map[found.join(".")];
  }
  return place.length === 0 || isObject(inner) ? null : place.join(".");
}

/** The messages of a refused call by the fields of a form, and those that none of its fields is about. */
export function placeErrors(problems: Problems, values: object) {
  const fields: Record<string, string> = {};
  const rest: string[] = [];
  for (const [path, message] of Object.entries(problems)) {
    const place = placeOf(path, values);
    if (place === null) rest.push(path === "" ? message : `${path}: ${message}`);
    else fields[place] ??= message;
  }
  return { fields, rest };
}

/** The messages about the entries of a map, as those of a form that holds the map. */
export const prefixed = (map: string, problems: Problems): Problems =>
  Object.fromEntries(Object.entries(problems).map(([key, message]) => [`${map}.${key}`, message]));

/** The messages of a form that are about the entries of a map, by their keys. */
export const unprefixed = (map: string, problems: Problems): Problems =>
  Object.fromEntries(
    Object.entries(problems).flatMap(([path, message]) =>
      path.startsWith(`${map}.`) ? [[path.slice(map.length + 1), message]] : [],
    ),
  );

/** The state of a read, as the library tells it. */
interface Tried {
  readonly error: unknown;
  readonly failureCount?: number;
  readonly failureReason?: unknown;
}

/** One failure may be a server that restarts, and is not worth a message. */
const FAILURES_BEFORE_SHOWN = 2;

/** Why a read has failed; also while it is asked for again without an end, in which there is no `error` yet. Null if it has not. */
export const failureOf = ({ error, failureCount = 0, failureReason = null }: Tried): unknown =>
  error ?? (failureCount >= FAILURES_BEFORE_SHOWN ? failureReason : null);

/** How long to wait after so many earlier failures, until the server is asked again. */
export const retryDelayMs = (failures: number): number => Math.min(1_000 * 2 ** failures, 10_000);

/** The session has ended. What was read is kept for the person who signs in again. */
export const isSignedOut = (error: unknown): boolean => error instanceof Unauthenticated;

/** Whether another try may succeed without anybody doing something. */
export const isTransient = (error: unknown): boolean => {
  const { kind } = failureView(error);
  return kind === "offline" || kind === "server";
};
