import type { Log } from "../outage.ts";

/**
 * Carries hints between the replicas of Binnacle. A hint may be lost, duplicated or late, so what it announces is
 * always in the database already, and every receiver also polls. A lost hint costs latency, never correctness.
 */
export interface Bus {
  /**
   * Sends the message as JSON to every subscriber of the topic, including this process, after this call has returned.
   * It is best effort and never throws.
   */
  publish(topic: string, message: object): void;
  /**
   * Calls the handler with each message once the subscription has reached the other end. Messages come from other
   * processes, so the handler must validate them. An error of a handler is logged and does not affect the others.
   */
  subscribe(topic: string, handler: (message: unknown) => void): () => void;
  /** Returns whether messages are currently sent, for callers that would wait for an answer. */
  isUp(): boolean;
  /** Nothing is sent or delivered afterwards. */
  close(): Promise<void>;
}

type Handler = Parameters<Bus["subscribe"]>[1];

/** The handlers of this process by topic. All adapters share it. */
export class Subscriptions {
  readonly #handlers = new Map<string, Set<Handler>>();
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  get topics(): string[] {
    return [...this.#handlers.keys()];
  }

  /** `first` is true where the topic had no handler. Handlers are wrapped, so that one added twice is called twice. */
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

/** Returns null and logs an error for a message that JSON cannot express. */
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
