import type { Clock } from "./clock.ts";
import {
  askedFor,
  type Credentials,
  fixedToken,
  type GetCredential,
  refreshTokenOf,
  SessionCredentials,
  type SessionEnd,
  type SessionTokens,
} from "./credentials.ts";
import { BinnacleError, type FailureOf, Refused, Unauthenticated, UnexpectedAnswer } from "./errors.ts";
import { type ExecOptions, type ExecSession, openExec, type SocketConstructor } from "./exec.ts";
import type { Operations } from "./generated/types.ts";
import {
  type Answer,
  bodyOf,
  type CallName,
  describeOperation,
  type Input,
  type ItemOf,
  type ListName,
  type OperationName,
  type StreamName,
  targetOf,
} from "./operation.ts";
import { DEFAULT_RETRY, type RetryPolicy } from "./retry.ts";
import { type FollowOptions, follow, type StreamItem } from "./stream.ts";
import { type Answered, type Attempt, exchange, readAnswer, type TransportPorts } from "./transport.ts";

export interface ClientOptions {
  /** Of the control plane, such as `https://binnacle.example.com`; `/api/v1` is added where it is missing. */
  readonly url: string;
  /** A CLI token, or an access token that is not renewed. */
  readonly token?: string;
  /** The session of a login that was kept; `{}` in a browser, which keeps the refresh token itself. */
  readonly session?: SessionTokens;
  /** Is asked for a credential before each request, and for another one when it was refused. */
  readonly getCredential?: GetCredential;
  /** Told whenever the session changes: by a login, a refresh, or its end (null), with why it has ended. */
  readonly onSession?: (session: SessionTokens | null, end?: SessionEnd) => void;
  /** Told of every request that was sent, for logs. It holds nothing that is secret. */
  readonly onAttempt?: (attempt: Attempt) => void;
  /** How this program calls itself. Browsers name themselves. */
  readonly userAgent?: string;
  /** Of a whole call, further attempts included; 60 s unless given. */
  readonly timeoutMs?: number;
  /** Of one attempt; 30 s unless given. */
  readonly attemptTimeoutMs?: number;
  readonly retry?: Partial<RetryPolicy>;
  readonly fetch?: typeof globalThis.fetch;
  /** For `exec`; the global one unless given. */
  readonly WebSocket?: SocketConstructor;
  /** Whether a browser sends cookies to another origin; `same-origin` unless given. */
  readonly credentials?: "omit" | "same-origin" | "include";
  readonly clock?: Clock;
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
  readonly attemptTimeoutMs?: number | undefined;
  /** Made by the client unless given. Give one to go on with a call that an earlier run of the program began. */
  readonly idempotencyKey?: string | undefined;
  /** The `etag` of a read: the call fails with `PreconditionFailed` where the resource has changed since. */
  readonly ifMatch?: string | undefined;
}

/** An answer with what came beside it. */
export interface Reply<T> {
  readonly data: T;
  readonly status: number;
  readonly etag: string | null;
  readonly requestId: string | null;
}

export type Attempted<N extends CallName> =
  | { readonly ok: true; readonly data: Answer<N> }
  | { readonly ok: false; readonly error: FailureOf<N> };

/** Options that only some operations honour are refused for others. */
type OptionsOf<N extends OperationName> = Operations[N] extends { versioned: true }
  ? CallOptions
  : Omit<CallOptions, "ifMatch">;

/** The input may be left out where nothing in it is required. */
type Args<N extends OperationName, O> =
  Record<never, never> extends Input<N> ? [input?: Input<N>, options?: O] : [input: Input<N>, options?: O];

/** For callers that are generic in the operation, where TypeScript cannot tell whether the input may be left out. */
type PlainOptions = Omit<CallOptions, "ifMatch">;

export interface Client {
  /** Calls an operation by its id and gives its answer, or throws a `BinnacleError`. */
  call<N extends CallName>(name: N, input: Input<N>, options?: PlainOptions): Promise<Answer<N>>;
  call<N extends CallName>(name: N, ...args: Args<N, OptionsOf<N>>): Promise<Answer<N>>;
  /** The same, with the status, the `ETag` and the request's id. */
  send<N extends CallName>(name: N, ...args: Args<N, OptionsOf<N>>): Promise<Reply<Answer<N>>>;
  /** The same, with the failure as a value of a type of its own. */
  attempt<N extends CallName>(name: N, ...args: Args<N, OptionsOf<N>>): Promise<Attempted<N>>;
  /** Every item of a list, read a page at a time as they are asked for. */
  pages<N extends ListName>(
    name: N,
    input: Input<N>,
    options?: PlainOptions,
  ): AsyncGenerator<ItemOf<N>, void, undefined>;
  pages<N extends ListName>(name: N, ...args: Args<N, OptionsOf<N>>): AsyncGenerator<ItemOf<N>, void, undefined>;
  /** Follows a stream, and opens it again when it is interrupted. Leaving the loop closes it. */
  stream<N extends StreamName>(
    name: N,
    ...args: Args<N, FollowOptions>
  ): AsyncGenerator<StreamItem<N>, void, undefined>;
  /** Runs a command in a container of a component, or throws why it cannot. */
  exec(input: Input<"execComponent">, options: ExecOptions): Promise<ExecSession>;
  /** Signs in; the client keeps the session and renews it. */
  login(credentials: { username: string; password: string }, options?: CallOptions): Promise<void>;
  /**
   * Asks once for what a device login was approved for. Returns its CLI token, or null for a session, which the client keeps
   * and renews. Throws while nobody has decided.
   */
  claimDevice(deviceCode: string, options?: CallOptions): Promise<string | null>;
  /** Ends the session, here and on the server. */
  logout(options?: CallOptions): Promise<void>;
  /** The session as it is now, to be kept for another run; null without one. It is secret. */
  readonly session: SessionTokens | null;
}

const API_BASE = "/api/v1";
const ITEMS_PER_PAGE = 100;
const UPGRADE_REQUIRED = 426;

type AnyInput = Readonly<Record<string, unknown>>;

interface ListAnswer<T> {
  readonly data: readonly T[];
  readonly has_more?: boolean;
  readonly next_cursor?: string | null;
}

export function makeClient(options: ClientOptions & { readonly clock: Clock }): Client {
  const { clock } = options;
  const retry: RetryPolicy = { ...DEFAULT_RETRY, ...options.retry };
  const common: Record<string, string> = options.userAgent ? { "user-agent": options.userAgent } : {};
  const sessions = new SessionCredentials(options.session ?? null, {
    onChange: options.onSession,
    async refresh(refreshToken) {
      const headers: Record<string, string> = refreshToken ? { cookie: `refresh_token=${refreshToken}` } : {};
      const { body } = await answered("refreshAccessToken", {}, {}, headers);
      return accessTokenOf("refreshAccessToken", body);
    },
  });
  const ports: TransportPorts = {
    // Called as a method of something else, a browser's own `fetch` refuses.
    fetch: options.fetch ?? ((...args) => globalThis.fetch(...args)),
    clock,
    base: baseOf(options.url),
    credentials: credentialsOf(options, sessions),
    fetchCredentials: options.credentials ?? "same-origin",
    onAttempt: options.onAttempt,
  };

  function exchangeOf<T>(
    name: OperationName,
    input: AnyInput,
    given: CallOptions,
    headers: Record<string, string>,
    read: (response: Response) => Promise<T>,
    attempts = retry.attempts,
  ): Promise<T> {
    const operation = describeOperation(name);
    const key = operation.creates ? { "idempotency-key": given.idempotencyKey ?? clock.uniqueKey() } : {};
    const match = given.ifMatch === undefined ? {} : { "if-match": given.ifMatch };
    return exchange(ports, {
      operation,
      target: targetOf(operation, input),
      body: bodyOf(operation, input["body"]),
      headers: { ...common, ...key, ...match, ...headers },
      signal: given.signal,
      timeoutMs: given.timeoutMs ?? options.timeoutMs ?? 60_000,
      attemptTimeoutMs: given.attemptTimeoutMs ?? options.attemptTimeoutMs ?? 30_000,
      retry: { ...retry, attempts },
      staysOpen: headers["accept"] === "text/event-stream",
      read,
    });
  }

  function answered(name: OperationName, input: AnyInput, given: CallOptions, headers: Record<string, string> = {}) {
    const operation = describeOperation(name);
    return exchangeOf(name, input, given, headers, (response) => readAnswer(operation, response));
  }

  async function send<N extends CallName>(
    name: N,
    input: object = {},
    given: CallOptions = {},
  ): Promise<Reply<Answer<N>>> {
    const { takesCookie } = describeOperation(name);
    const refreshToken = takesCookie ? sessions.session?.refreshToken : undefined;
    const headers: Record<string, string> = refreshToken ? { cookie: `refresh_token=${refreshToken}` } : {};
    return replyOf(await answered(name, input as AnyInput, given, headers));
  }

  async function* pages<N extends ListName>(name: N, input: object = {}, given: CallOptions = {}) {
    const { isPaged } = describeOperation(name);
    let before = new Set<string>();
    let page = Number((input as { page?: number }).page ?? 1);
    let follow: { readonly page?: number } | { readonly cursor: string } = isPaged ? { page } : {};
    for (;;) {
      const asked = { ...(isPaged ? { items_per_page: ITEMS_PER_PAGE } : {}), ...input, ...follow };
      const { data } = (await send(name, asked, given)) as Reply<unknown> as Reply<ListAnswer<ItemOf<N>>>;
      // What is created meanwhile moves the last items of a page to the next one.
      for (const item of data.data) if (!before.has(identity(item))) yield item;
      // A list without pages that ends early has a cursor alone.
      if (!(data.has_more ?? data.next_cursor) || data.data.length === 0) return;
      before = new Set(data.data.map(identity));
      // A page may end early. A server from before contract 3 has no cursors, and whole pages.
      follow = data.next_cursor ? { cursor: data.next_cursor } : { page: ++page };
    }
  }

  function keepSession(operation: string, body: unknown, headers: Headers): void {
    const refreshToken = refreshTokenOf(headers);
    sessions.set({ accessToken: accessTokenOf(operation, body), ...(refreshToken ? { refreshToken } : {}) });
  }

  return {
    send: (name, ...[input, given]) => send(name, input, given),
    call: async <N extends CallName>(name: N, input?: Input<N>, given?: CallOptions) =>
      (await send(name, input, given)).data,
    async attempt<N extends CallName>(name: N, ...[input, given]: Args<N, OptionsOf<N>>): Promise<Attempted<N>> {
      try {
        return { ok: true, data: (await send(name, input, given)).data };
      } catch (error) {
        if (error instanceof BinnacleError) return { ok: false, error: error as FailureOf<N> };
        throw error;
      }
    },
    pages,
    stream<N extends StreamName>(name: N, ...[input, given = {}]: Args<N, FollowOptions>) {
      const opening = {
        clock,
        open: (asked: object, headers: Record<string, string>, signal: AbortSignal, isFirst: boolean) =>
          exchangeOf(
            name,
            asked as AnyInput,
            { signal },
            { ...headers, accept: "text/event-stream" },
            (response) => Promise.resolve(streamOf(name, response)),
            isFirst ? retry.attempts : 1,
          ),
      };
      return follow<N>(opening, describeOperation(name), (input ?? {}) as Input<N>, given);
    },
    async exec(input, given) {
      const WebSocket = options.WebSocket ?? (globalThis.WebSocket as unknown as SocketConstructor | undefined);
      if (!WebSocket) throw new TypeError("There is no WebSocket here; browsers and Node.js 22 have one.");
      // A WebSocket does not show why it was refused, so the request is sent without one first. This also renews the token.
      await answered("execComponent", input, { signal: given.signal }).then(
        () => {
          throw new UnexpectedAnswer("The server knows no commands in containers.", { operation: "execComponent" });
        },
        (error: unknown) => {
          if (!(error instanceof Refused && error.status === UPGRADE_REQUIRED)) throw error;
        },
      );
      const token = await ports.credentials.current();
      if (token === null) throw new Unauthenticated("User not authenticated.", { operation: "execComponent" });
      const url = ports.base + targetOf(describeOperation("execComponent"), input as AnyInput);
      return openExec({ clock, WebSocket, url, token }, given);
    },
    async login({ username, password }, given = {}) {
      const { body, headers } = await answered("login", { body: { username, password } }, given);
      keepSession("login", body, headers);
    },
    async claimDevice(device_code, given = {}) {
      const { body, headers } = await answered("claimDeviceToken", { body: { device_code } }, given);
      const { token } = (body ?? {}) as { token?: unknown };
      if (typeof token === "string") return token;
      keepSession("claimDeviceToken", body, headers);
      return null;
    },
    async logout(given = {}) {
      await send("logout", {}, given);
      sessions.end("signed_out");
    },
    get session() {
      return sessions.session;
    },
  };
}

function credentialsOf(options: ClientOptions, sessions: SessionCredentials): Credentials {
  const { token, session, getCredential } = options;
  if ([token, session, getCredential].filter((it) => it !== undefined).length > 1) {
    throw new TypeError("Give the client one of token, session and getCredential.");
  }
  if (getCredential) return askedFor(getCredential);
  return token === undefined ? sessions : fixedToken(token);
}

/** A name and password in the address would show up in logs and messages. */
function baseOf(url: string): string {
  if (!URL.canParse(url)) throw new TypeError("The url of the control plane is not a URL.");
  const { protocol, username, password, origin, pathname, search, hash } = new URL(url);
  if (protocol !== "https:" && protocol !== "http:")
    throw new TypeError("The url must begin with https:// or http://.");
  if (username || password || search || hash) {
    throw new TypeError("The url must not hold a user, a password, a query or a fragment.");
  }
  const path = pathname.replace(/\/+$/, "");
  return origin + (path.endsWith(API_BASE) ? path : path + API_BASE);
}

function accessTokenOf(operation: string, body: unknown): string {
  const { access_token: token } = (body ?? {}) as { access_token?: unknown };
  if (typeof token === "string") return token;
  throw new UnexpectedAnswer("The answer holds no access token.", { operation });
}

function streamOf(operation: string, response: Response): Response {
  if (response.headers.get("content-type")?.startsWith("text/event-stream")) return response;
  response.body?.cancel().catch(() => undefined);
  throw new UnexpectedAnswer("The answer is not a stream of events.", { operation, status: response.status });
}

const replyOf = <T>({ status, headers, body }: Answered): Reply<T> => ({
  data: body as T,
  status,
  etag: headers.get("etag"),
  requestId: headers.get("x-request-id"),
});

function identity(item: unknown): string {
  const { id } = (item ?? {}) as { id?: unknown };
  return typeof id === "string" ? id : JSON.stringify(item);
}
