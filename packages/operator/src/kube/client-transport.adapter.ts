import type { Dispatcher } from "undici";
import { createAgents } from "./client-agents.adapter.ts";
import { createThrottle } from "./client-throttle.ts";
import type { Identity, KubeAccess, KubeAnswer, SentRequest } from "./kube-access.ts";
import { KubeError, kubeErrorOf, withoutValues } from "./kube-error.ts";
import { type Query, queryOf } from "./kube-path.ts";
import { realClock } from "./real-clock.adapter.ts";
import type { Clock } from "./work-queue.ts";

export interface KubeRequest {
  readonly method: string;
  readonly path: string;
  readonly query?: Query;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly contentType?: string | undefined;
  readonly accept?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
  /** The user in whose name it is asked; the API server checks whether we may. */
  readonly as?: string | undefined;
}

const CALL_TIMEOUT_MS = 30_000;

export interface Transport {
  /** One question, one answer, within the time allowed. */
  call<T = unknown>(request: KubeRequest): Promise<T>;
  /** The same for an answer that is read as it arrives. */
  read<T>(request: KubeRequest, take: (chunks: AsyncIterable<Uint8Array>) => Promise<T>): Promise<T>;
  /** An answer without an end; the signal ends it. */
  stream(request: KubeRequest & { readonly signal: AbortSignal }): Promise<AsyncIterable<Uint8Array>>;
  close(): Promise<void>;
}

export interface TransportTimes {
  readonly clock?: Clock;
  readonly random?: () => number;
  readonly callTimeoutMs?: number;
  /** Of a pause that the API server asks for. */
  readonly longestPauseMs?: number;
}

export function createTransport(access: KubeAccess, times: TransportTimes = {}): Transport {
  const { clock = realClock, random = Math.random, callTimeoutMs = CALL_TIMEOUT_MS, longestPauseMs } = times;
  const agents = createAgents(access);
  const throttle = createThrottle(clock, random, longestPauseMs);
  const { origin, pathname } = new URL(access.server);
  const prefix = pathname.replace(/\/+$/, "");

  async function carry(request: SentRequest, identity: Identity, kind: "calls" | "streams"): Promise<KubeAnswer> {
    if (access.connection) return access.connection.request(request);
    const method = request.method as Dispatcher.HttpMethod;
    const answer = await agents.of(identity)[kind].request({ ...request, method, origin });
    // A dropped connection is told to whoever reads; nobody else needs to hear of it, least of all the process.
    answer.body.on("error", () => undefined);
    return answer;
  }

  async function send(request: KubeRequest, kind: "calls" | "streams", isRefused = false): Promise<KubeAnswer> {
    const before = isRefused ? null : await access.identity();
    const identity = before ?? (await access.identity({ isRefused: true }));
    const { method, path, query = {}, body, contentType = "application/json", accept = "application/json" } = request;
    const sent = {
      method,
      path: `${prefix}${path}${queryOf(query)}`,
      headers: {
        accept,
        "user-agent": "binnacle-operator",
        ...(body === undefined ? {} : { "content-type": contentType }),
        ...(identity.token === null ? {} : { authorization: `Bearer ${identity.token}` }),
        ...(request.as === undefined ? {} : { "impersonate-user": request.as }),
      },
      body: body === undefined ? null : JSON.stringify(body),
      signal: request.signal ?? null,
    };
    const answer = await carry(sent, identity, kind);
    if (answer.statusCode !== 401 || isRefused) return answer;
    await answer.body.dump();
    return send(request, kind, true);
  }

  /** The answer of a request that succeeded; all else is thrown. */
  async function accepted(request: KubeRequest, kind: "calls" | "streams") {
    const answer = await send(request, kind);
    if (answer.statusCode < 300) return answer;
    const text = await answer.body.text();
    const retryAfter = Number(answer.headers["retry-after"] ?? Number.NaN);
    const error = kubeErrorOf(answer.statusCode, asJson(text), describe(request), retryAfter);
    throw isAboutSecrets(request) ? withoutValues(error, describe(request)) : error;
  }

  /** The parser's own words quote the text, so they are not passed on. */
  async function once<T>(request: KubeRequest, take: (answer: KubeAnswer) => Promise<T>): Promise<T> {
    const { timeoutMs = callTimeoutMs } = request;
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal = request.signal ? AbortSignal.any([timeout, request.signal]) : timeout;
    try {
      return await take(await accepted({ ...request, signal }, "calls"));
    } catch (error) {
      if (timeout.aborted) throw timedOut(request, timeoutMs, error);
      if (error instanceof SyntaxError) throw malformed(request);
      throw failureOf(error, request, access.server);
    }
  }

  const within = <T>(request: KubeRequest, take: (answer: KubeAnswer) => Promise<T>): Promise<T> =>
    throttle.during(request.signal, () => once(request, take));

  return {
    call: <T>(request: KubeRequest) =>
      within(request, async ({ headers, body }) => {
        const text = await body.text();
        return (String(headers["content-type"]).startsWith("application/json") ? JSON.parse(text) : text) as T;
      }),
    read: (request, take) => within(request, ({ body }) => take(body)),
    async stream(request) {
      const { body } = await throttle
        .during(request.signal, () => accepted(request, "streams"))
        .catch((error: unknown) => {
          throw failureOf(error, request, access.server);
        });
      return chunksOf(body, (error) => failureOf(error, request, access.server));
    },
    close: () => agents.close(),
  };
}

async function* chunksOf(body: AsyncIterable<Uint8Array>, explained: (error: unknown) => KubeError) {
  try {
    yield* body;
  } catch (error) {
    throw explained(error);
  }
}

function failureOf(error: unknown, request: KubeRequest, server: string): KubeError {
  if (error instanceof KubeError) return error;
  if (request.signal?.aborted) {
    const { reason } = request.signal;
    if (reason instanceof KubeError) return reason;
    return new KubeError({
      status: 0,
      reason: "Cancelled",
      message: `${describe(request)} was cancelled.`,
      cause: error,
    });
  }
  const message = `${describe(request)} got no answer from ${server}: ${explanationOf(error)}.`;
  return new KubeError({ status: 0, reason: "Unreachable", message, cause: error });
}

function timedOut(request: KubeRequest, timeoutMs: number, cause: unknown): KubeError {
  const message = `${describe(request)} was not answered within ${timeoutMs / 1000} s.`;
  return new KubeError({ status: 0, reason: "Timeout", message, cause });
}

/** Without the query, which may hold what is nobody's business. */
const describe = ({ method, path }: KubeRequest) => `${method} ${path}`;

const isAboutSecrets = ({ path, body }: KubeRequest) => body !== undefined && /\/secrets(\/|$)/.test(path);

/** Where several addresses were tried, the message is empty and the code alone tells something. */
function explanationOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as NodeJS.ErrnoException;
  return error.message || code || error.name;
}

const malformed = (request: KubeRequest) =>
  new KubeError({ status: 0, reason: "Malformed", message: `${describe(request)} was answered with broken JSON.` });

function asJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
