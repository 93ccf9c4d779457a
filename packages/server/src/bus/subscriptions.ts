import type { Log } from "../outage.ts";
import type { Bus } from "./bus.ts";

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
