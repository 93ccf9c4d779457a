import { type ClientOptions, makeClient } from "./client.ts";
import type { Clock } from "./clock.ts";

/** A clock that stands still until a test, or `run`, turns it. */
export class ManualClock implements Clock {
  #now = Date.UTC(2026, 0, 1);
  #timers: { at: number; run: () => void }[] = [];
  #keys = 0;
  chance = 0.5;

  now = () => this.#now;
  random = () => this.chance;
  uniqueKey = () => `key-${++this.#keys}`;
  after = (ms: number, run: () => void) => {
    const timer = { at: this.#now + ms, run };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((it) => it !== timer);
    };
  };

  get pendingTimers() {
    return this.#timers.length;
  }

  advance(ms: number): void {
    const until = this.#now + ms;
    for (;;) {
      const due = this.#timers.filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0];
      if (!due) break;
      this.#timers = this.#timers.filter((it) => it !== due);
      this.#now = due.at;
      due.run();
    }
    this.#now = until;
  }

  /** The promise's outcome; whenever nothing else is left to do, time goes on to the next timer. */
  async run<T>(promise: Promise<T>): Promise<T> {
    let isSettled = false;
    const settled = () => {
      isSettled = true;
    };
    promise.then(settled, settled);
    for (;;) {
      await quiet();
      if (isSettled) return promise;
      const next = Math.min(...this.#timers.map(({ at }) => at));
      if (next === Number.POSITIVE_INFINITY) throw new Error("It waits for something that no timer brings.");
      this.advance(next - this.#now);
    }
  }
}

/** Lets everything happen that needs no time. */
export async function quiet(): Promise<void> {
  for (let turn = 0; turn < 12; turn++) await new Promise((resolve) => setImmediate(resolve));
}

export interface Sent {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  readonly body: unknown;
  readonly signal: AbortSignal;
}

export type Responder = (sent: Sent) => Response | Promise<Response>;

export const json = (status: number, body: unknown, headers: Record<string, string> = {}): Responder => {
  const content = body === null ? null : JSON.stringify(body);
  return () => new Response(content, { status, headers: { "content-type": "application/json", ...headers } });
};
export const fails =
  (code: string): Responder =>
  () => {
    throw new TypeError("fetch failed", { cause: Object.assign(new Error("no"), { code }) });
  };
/** Never answers, and leaves when it is told to. */
export const silent: Responder = ({ signal }) =>
  new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

/** A client whose requests are answered by the responders, one after the other; the last one stays. */
export function scripted(responders: readonly Responder[], options: Partial<ClientOptions> = {}) {
  const clock = new ManualClock();
  const sent: Sent[] = [];
  const fetch = async (url: string | URL | Request, init: RequestInit = {}) => {
    const request: Sent = {
      method: init.method ?? "GET",
      url: url instanceof Request ? url.url : String(url),
      headers: new Headers(init.headers),
      body: init.body,
      signal: init.signal as AbortSignal,
    };
    sent.push(request);
    const responder = responders[Math.min(sent.length, responders.length) - 1] as Responder;
    return responder(request);
  };
  const base = { url: "https://binnacle.test", fetch, clock };
  const credential = options.session || options.getCredential ? {} : { token: "bnc_secret" };
  return { client: makeClient({ ...base, ...credential, ...options, clock }), clock, sent };
}

/** The error that a promise ends with. */
export async function errorFrom(promise: Promise<unknown>): Promise<never> {
  try {
    await promise;
  } catch (error) {
    return error as never;
  }
  throw new Error("It did not fail.");
}

/** A body of a stream that a test writes by hand. */
export class HandStream {
  #controller!: ReadableStreamDefaultController<Uint8Array>;
  #pulls = 0;
  isCancelled = false;
  readonly body = new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        this.#controller = controller;
      },
      pull: () => {
        this.#pulls++;
      },
      cancel: () => {
        this.isCancelled = true;
      },
    },
    { highWaterMark: 0 },
  );

  /** Counts how often its reader has asked for more. */
  get pulls() {
    return this.#pulls;
  }
  readonly respond: Responder = () => new Response(this.body, { headers: { "content-type": "text/event-stream" } });
  write(text: string): void {
    this.#controller.enqueue(new TextEncoder().encode(text));
  }
  event(name: string, data: unknown, id?: string): void {
    this.write(`event: ${name}\n${id ? `id: ${id}\n` : ""}data: ${JSON.stringify(data)}\n\n`);
  }
  end(): void {
    this.#controller.close();
  }
  fail(): void {
    this.#controller.error(new TypeError("terminated"));
  }
}
