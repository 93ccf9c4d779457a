import { abortable, type Clock, linked, sleep } from "./clock.ts";
import type { Credentials } from "./credentials.ts";
import {
  afterAttempts,
  type BinnacleError,
  errorOf,
  fieldOf,
  TimedOut,
  UnexpectedAnswer,
  Unreachable,
} from "./errors.ts";
import type { Described, RequestBody } from "./operation.ts";
import { cutOf, type Failed, mayHaveHappened, type RetryPolicy, retryAfterOf, retryDelay } from "./retry.ts";

/** One request as it went over the wire. It holds no header and no body, so nothing in it is secret. */
export interface Attempt {
  readonly operation: string;
  readonly method: string;
  readonly url: string;
  /** From 1. */
  readonly attempt: number;
  readonly durationMs: number;
  /** Null where no answer came. */
  readonly status: number | null;
  readonly requestId: string | null;
}

export interface TransportPorts {
  readonly fetch: typeof globalThis.fetch;
  readonly clock: Clock;
  readonly base: string;
  readonly credentials: Credentials;
  readonly fetchCredentials: "omit" | "same-origin" | "include";
  readonly onAttempt: ((attempt: Attempt) => void) | undefined;
}

export interface Exchange<T> {
  readonly operation: Described;
  readonly target: string;
  readonly body: RequestBody | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal | undefined;
  /** For the whole call, waits and further attempts included. */
  readonly timeoutMs: number;
  readonly attemptTimeoutMs: number;
  readonly retry: RetryPolicy;
  /** Leaves the connection open for whoever reads the answer; the signal ends it. */
  readonly staysOpen?: boolean;
  /** Takes the answer, whatever its status, while the time of the attempt still runs. */
  read(response: Response): Promise<T>;
}

/** An answer that was read to its end. */
export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

type Outcome<T> = { readonly value: T } | { readonly error: BinnacleError; readonly failed: Failed };

const DEADLINE = Symbol("deadline");
const ATTEMPT_DEADLINE = Symbol("attempt deadline");

/** Sends a request until it is answered, it must not or need not be sent again, or its time has passed. */
export async function exchange<T>(ports: TransportPorts, call: Exchange<T>): Promise<T> {
  const { clock, credentials } = ports;
  const { operation } = call;
  call.signal?.throwIfAborted();
  const { controller, unlink } = linked(call.signal);
  const { signal } = controller;
  const deadlineAt = clock.now() + call.timeoutMs;
  const cancelDeadline = clock.after(call.timeoutMs, () => controller.abort(DEADLINE));
  let attempt = 0;
  let happened = false;
  let isOpen = false;
  let isUnderWay = false;
  try {
    let token = operation.isOpen ? null : await abortable(credentials.current(), signal);
    for (let failures = 0, wasRenewed = false; ; ) {
      attempt++;
      isUnderWay = true;
      const outcome = await attemptOnce(ports, call, token, attempt, signal);
      isUnderWay = false;
      if ("value" in outcome) {
        isOpen = call.staysOpen === true;
        return outcome.value;
      }
      const { error, failed } = outcome;
      happened ||= mayHaveHappened(failed, operation);
      if (error.status === 401 && !operation.isOpen && !wasRenewed) {
        wasRenewed = true;
        const renewed = await abortable(credentials.renewed(token), signal);
        if (renewed === null) throw afterAttempts(error, attempt, happened);
        token = renewed;
        continue;
      }
      failures++;
      const delay = retryDelay(failed, operation, failures, call.retry, clock.random());
      // A wait that ends after the deadline would only hide what is wrong behind a time-out.
      if (delay === null || delay >= deadlineAt - clock.now()) throw afterAttempts(error, attempt, happened);
      await sleep(clock, delay, signal);
    }
  } catch (error) {
    if (error !== DEADLINE) throw error;
    throw new TimedOut(`No answer within ${seconds(call.timeoutMs)}.`, {
      operation: operation.name,
      attempts: attempt,
      mayHaveHappened: happened || (isUnderWay && mayHaveHappened({ kind: "cut" }, operation)),
    });
  } finally {
    cancelDeadline();
    if (!isOpen) unlink();
  }
}

async function attemptOnce<T>(
  ports: TransportPorts,
  call: Exchange<T>,
  token: string | null,
  attempt: number,
  signal: AbortSignal,
): Promise<Outcome<T>> {
  const { clock } = ports;
  const { operation } = call;
  const { controller, unlink } = linked(signal);
  const cancelTimer = clock.after(call.attemptTimeoutMs, () => controller.abort(ATTEMPT_DEADLINE));
  const startedAt = clock.now();
  let response: Response | undefined;
  let staysOpen = false;
  try {
    const fetched = ports.fetch(ports.base + call.target, requestOf(ports, call, token, controller.signal));
    response = await abortable(fetched, controller.signal);
    if (response.ok) {
      const value = await abortable(call.read(response), controller.signal);
      staysOpen = call.staysOpen === true;
      return { value };
    }
    return await abortable(failureOf(response, operation, clock.now()), controller.signal);
  } catch (error) {
    // The caller has left, or the whole time has passed: there is nothing to decide about this attempt.
    if (signal.aborted) throw signal.reason;
    if (error instanceof UnexpectedAnswer) return { error, failed: { kind: "unreadable" } };
    return interrupted(operation, call, error, new URL(ports.base).host);
  } finally {
    cancelTimer();
    if (!staysOpen) unlink();
    ports.onAttempt?.({
      operation: operation.name,
      method: operation.method,
      url: ports.base + call.target,
      attempt,
      durationMs: clock.now() - startedAt,
      status: response && response.status > 0 ? response.status : null,
      requestId: response?.headers.get("x-request-id") ?? null,
    });
  }
}

function requestOf<T>(
  ports: TransportPorts,
  call: Exchange<T>,
  token: string | null,
  signal: AbortSignal,
): RequestInit {
  const headers: Record<string, string> = { accept: "application/json", ...call.headers };
  if (call.body?.type) headers["content-type"] = call.body.type;
  if (token !== null) headers["authorization"] = `Bearer ${token}`;
  return {
    method: call.operation.method,
    headers,
    signal,
    credentials: ports.fetchCredentials,
    // A redirect followed blindly would carry passwords and secrets to wherever it points.
    redirect: "manual",
    cache: "no-store",
    ...(call.body ? { body: call.body.content } : {}),
  };
}

function interrupted<T>(operation: Described, call: Exchange<T>, error: unknown, host: string): Outcome<T> {
  const facts = { operation: operation.name, cause: error };
  if (error === ATTEMPT_DEADLINE) {
    const message = `No answer within ${seconds(call.attemptTimeoutMs)}.`;
    return { error: new TimedOut(message, { operation: operation.name }), failed: { kind: "cut" } };
  }
  const { failed, reason } = cutOf(error);
  const why = reason ? ` (${reason})` : "";
  const message =
    failed.kind === "not_sent" ? `Cannot connect to ${host}${why}.` : `The connection to ${host} failed${why}.`;
  return { error: new Unreachable(message, facts), failed };
}

async function failureOf<T>(response: Response, operation: Described, nowMs: number): Promise<Outcome<T>> {
  const facts = { operation: operation.name, requestId: response.headers.get("x-request-id") ?? undefined };
  if (response.type === "opaqueredirect" || (response.status >= 300 && response.status < 400)) {
    response.body?.cancel().catch(() => undefined);
    const error = new UnexpectedAnswer(
      `The server redirects${redirectTarget(response)}. Use the address it redirects to.`,
      {
        ...facts,
        ...(response.status > 0 ? { status: response.status } : {}),
      },
    );
    return { error, failed: { kind: "answer", status: response.status, retryAfterSeconds: null, isOfApi: true } };
  }
  const body = parsed(await response.text());
  const retryAfterSeconds = retryAfterOf(response.headers.get("retry-after"), nowMs);
  const isOfApi = fieldOf(body, "detail") !== undefined || fieldOf(body, "error") !== undefined;
  return {
    error: errorOf(response.status, body, { ...facts, retryAfterSeconds: retryAfterSeconds ?? undefined }),
    failed: { kind: "answer", status: response.status, retryAfterSeconds, isOfApi },
  };
}

/** The rest of a redirect's address may hold anything. */
function redirectTarget(response: Response): string {
  const location = response.headers.get("location") ?? "";
  return URL.canParse(location) ? ` to ${new URL(location).origin}` : "";
}

/** Reads an answer to its end. A page that a proxy has put in front of the API is not taken for one. */
export async function readAnswer(operation: Described, response: Response): Promise<Answered> {
  const { status, headers } = response;
  const text = await response.text();
  const body = text === "" ? null : parsed(text);
  if (body === undefined) {
    throw new UnexpectedAnswer("The answer is not JSON.", {
      operation: operation.name,
      status,
      requestId: headers.get("x-request-id") ?? undefined,
    });
  }
  return { status, headers, body };
}

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const seconds = (ms: number) => `${Math.round(ms / 100) / 10} s`;
