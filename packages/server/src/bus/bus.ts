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
  /**
   * Calls the handler when messages to this process may have been lost, as after a broken connection: whatever they would
   * have announced has to be read again.
   */
  onMissed(handler: () => void): () => void;
  /** Resolves when messages are sent and received for the first time. */
  readonly connected: Promise<void>;
  /** Returns whether messages are currently sent and received. */
  isUp(): boolean;
  /** What was published before is sent; nothing is sent or delivered afterwards. */
  close(): Promise<void>;
}

/** A process that had to drop messages says so on this topic when it is able to, because nobody else can know. */
export const DROPPED_TOPIC = "bus-dropped";

/** Messages that wait for their way out of the process. One that takes none would fill the memory otherwise. */
export const MOST_WAITING_BYTES = 16 * 1024 * 1024;

type Handler = Parameters<Bus["subscribe"]>[1];

/** The handlers of this process by topic. All adapters share it. */
export class Subscriptions {
  readonly #handlers = new Map<string, Set<Handler>>();
  readonly #onMissed = new Set<() => void>();
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
    this.add(DROPPED_TOPIC, () => this.missed());
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
    const handlers = this.#handlers.get(topic);
    if (handlers === undefined) return;
    const message = parseMessage(text);
    if (message === null) {
      this.#log.warn({ topic }, "a message on the bus is not a JSON object; it is dropped");
      return;
    }
    for (const handler of [...handlers]) {
      try {
        handler(message);
      } catch (error) {
        this.#log.error({ err: error, topic }, "a handler of the bus failed");
      }
    }
  }

  onMissed(handler: () => void): () => void {
    const entry = () => handler();
    this.#onMissed.add(entry);
    return () => void this.#onMissed.delete(entry);
  }

  missed(): void {
    for (const handler of [...this.#onMissed]) {
      try {
        handler();
      } catch (error) {
        this.#log.error({ err: error }, "a handler of lost messages failed");
      }
    }
  }

  clear(): void {
    this.#handlers.clear();
    this.#onMissed.clear();
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
