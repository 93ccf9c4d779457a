import { KubeError } from "./kube-error.ts";
import type { Clock } from "./work-queue.ts";

/** Leases must be renewed meanwhile, so a server that asks for more is asked again after this time. */
const LONGEST_PAUSE_MS = 10_000;

/** Of one request. */
const MOST_TRIES = 4;

/** What waits does not come back all at once. */
const SPREAD_MS = 500;

/** Keeps back all requests of a client while the API server asks for it: the others would only be refused as well. */
export function createThrottle(clock: Clock, random: () => number, longestPauseMs = LONGEST_PAUSE_MS) {
  let untilMs = Number.NEGATIVE_INFINITY;

  async function pass(signal?: AbortSignal): Promise<void> {
    while (clock.now() < untilMs && !signal?.aborted) {
      const waitMs = untilMs - clock.now() + random() * SPREAD_MS;
      await new Promise<void>((resolve) => {
        const cancel = clock.after(waitMs, wake);
        signal?.addEventListener("abort", wake, { once: true });
        function wake(): void {
          cancel();
          signal?.removeEventListener("abort", wake);
          resolve();
        }
      });
    }
  }

  return {
    /** Sends a request once that is wanted, or it is cancelled. One that is refused was not carried out, so it is sent again. */
    async during<T>(signal: AbortSignal | undefined, send: () => Promise<T>): Promise<T> {
      for (let tries = 1; ; tries += 1) {
        await pass(signal);
        try {
          return await send();
        } catch (error) {
          const pauseMs = pauseAskedBy(error);
          if (pauseMs === null) throw error;
          untilMs = Math.max(untilMs, clock.now() + Math.min(pauseMs, longestPauseMs));
          if (tries === MOST_TRIES) throw error;
        }
      }
    },
  };
}

/** How long the API server wants no requests; null where it does not say so. */
export function pauseAskedBy(error: unknown): number | null {
  if (!(error instanceof KubeError) || error.status !== 429) return null;
  const { retryAfterSeconds, causes = [] } = error.details;
  // An eviction that a disruption budget forbids says nothing about the load of the server.
  if (retryAfterSeconds === undefined || causes.some(({ reason }) => reason === "DisruptionBudget")) return null;
  return retryAfterSeconds * 1_000;
}
