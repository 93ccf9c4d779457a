/** The pause of a loop that can be woken. */
export interface Sleeper {
  /** Ends early when woken; at once when woken since the last sleep, so that no call is missed between two. */
  sleep(ms: number): Promise<void>;
  /** Ends early only with `end`. */
  rest(ms: number): Promise<void>;
  readonly wake: () => void;
  /** Ends this and every later sleep and rest. */
  end(): void;
}

export function createSleeper(): Sleeper {
  let woken = false;
  let ended = false;
  let current: { readonly wakeable: boolean; wake(): void } | null = null;

  async function pause(ms: number, wakeable: boolean): Promise<void> {
    if (!ended && !(wakeable && woken)) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, ms);
      current = { wakeable, wake: resolve };
      await promise;
      clearTimeout(timer);
      current = null;
    }
    if (wakeable) woken = false;
  }

  return {
    sleep: (ms) => pause(ms, true),
    rest: (ms) => pause(ms, false),
    wake() {
      woken = true;
      if (current?.wakeable) current.wake();
    },
    end() {
      ended = true;
      current?.wake();
    },
  };
}
