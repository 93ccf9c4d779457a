import type { Log } from "../outage.ts";

/**
 * Carries hints between the replicas of Binnacle: "there may be something new, look for yourself". A hint may get lost,
 * arrive twice or arrive late, so what it announces is always in the database already, and whoever waits for it also
 * looks there from time to time. A lost hint costs latency, never correctness.
 */
export interface Bus {
  /**
   * Sends the message as JSON to every subscriber of the topic, this process included, after this call has returned.
   * Best effort, and it never throws: a message that cannot be sent is dropped.
   */
  publish(topic: string, message: object): void;
  /**
   * Calls the handler with each message from now on, give or take the time the news of the subscription travels. The
   * message comes from outside the process: the handler judges its shape. What a handler throws is logged and reaches
   * neither the publisher nor the other handlers.
   */
  subscribe(topic: string, handler: (message: unknown) => void): () => void;
  /** Whether what is published now goes out, as far as is known: for those who would wait for an answer. */
  isUp(): boolean;
  /** Nothing is sent or delivered afterwards. */
  close(): Promise<void>;
}

type Handler = Parameters<Bus["subscribe"]>[1];

/** The handlers of this process by topic, and the way from a received text to them: the same for every adapter. */
export class Subscriptions {
  readonly #handlers = new Map<string, Set<Handler>>();
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  get topics(): string[] {
    return [...this.#handlers.keys()];
  }

  /** True when the topic had no handler before. A handler added twice is called twice, hence the wrapping. */
  add(topic: string, handler: Handler): { readonly first: boolean; remove(): { readonly last: boolean } } {
    const handlers = this.#handlers.get(topic) ?? new Set();
    const first = handlers.size === 0;
    const entry: Handler = (message) => handler(message);
    this.#handlers.set(topic, handlers.add(entry));
    return {
      first,
      remove: () => {
        const last = handlers.delete(entry) && handlers.size === 0;
        if (last) this.#handlers.delete(topic);
        return { last };
      },
    };
  }

  deliver(topic: string, text: string): void {
    const message = parseMessage(text);
    if (message === null) {
      this.#log.warn({ topic }, "a message on the bus is not a JSON object; it is dropped");
      return;
    }
    for (const handler of [...(this.#handlers.get(topic) ?? [])]) {
      try {
        handler(message);
      } catch (error) {
        this.#log.error({ err: error, topic }, "a handler of the bus failed");
      }
    }
  }

  clear(): void {
    this.#handlers.clear();
  }
}

/** Null, and a line in the log, for what JSON cannot carry. */
export function writeMessage(log: Log, topic: string, message: object): string | null {
  try {
    return JSON.stringify(message);
  } catch (error) {
    log.error({ err: error, topic }, "a message for the bus cannot be written as JSON; it is dropped");
    return null;
  }
}

function parseMessage(text: string): object | null {
  try {
    const message: unknown = JSON.parse(text);
    return typeof message === "object" ? message : null;
  } catch {
    return null;
  }
}
