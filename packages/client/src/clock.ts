/** Time and chance, as arguments: tests turn them by hand. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Runs once, later; returns how to call it off. */
  after(ms: number, run: () => void): () => void;
  /** From 0 up to, not including, 1. */
  random(): number;
  /** A text that nobody else has: names a request that may be sent more than once. */
  uniqueKey(): string;
}

/** Ends when the time has passed, or throws the signal's reason. */
export function sleep(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const leave = () => {
      cancel();
      reject(signal.reason);
    };
    const cancel = clock.after(ms, () => {
      signal.removeEventListener("abort", leave);
      resolve();
    });
    signal.addEventListener("abort", leave, { once: true });
  });
}

/** The promise's outcome, unless the signal comes first. A `fetch` of the user's own may not look at its signal. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = () => reject(signal.reason);
    if (signal.aborted) leave();
    else signal.addEventListener("abort", leave, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", leave));
  });
}

/** A controller that ends with the given signal, and how to part it from the signal again. */
export function linked(signal: AbortSignal | undefined): { controller: AbortController; unlink: () => void } {
  const controller = new AbortController();
  if (!signal) return { controller, unlink: () => undefined };
  const leave = () => controller.abort(signal.reason);
  if (signal.aborted) leave();
  else signal.addEventListener("abort", leave, { once: true });
  return { controller, unlink: () => signal.removeEventListener("abort", leave) };
}
