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
