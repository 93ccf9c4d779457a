import type { Clock } from "../kube/work-queue.ts";

const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 30_000;

/** How long to wait after so many failures in a row. */
export const retryMsAfter = (failures: number): number =>
  Math.min(FIRST_RETRY_MS * 2 ** Math.min(Math.max(failures - 1, 0), 20), LONGEST_RETRY_MS);

/** Comes back after a time, or when the signal is given. */
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  const { changed, wake } = createWakeable();
  const cancel = clock.after(ms, wake);
  return changed(signal).finally(cancel);
}

/** Something that others wait for. */
export interface Wakeable {
  /** Comes back at the next change, or when the signal is given. */
  changed(signal: AbortSignal): Promise<void>;
}

export function createWakeable(): Wakeable & { wake(): void } {
  const waiting = new Set<() => void>();
  return {
    wake() {
      for (const resume of [...waiting]) resume();
    },
    changed(signal) {
      return new Promise((resolve) => {
        if (signal.aborted) return resolve();
        const resume = () => {
          signal.removeEventListener("abort", resume);
          waiting.delete(resume);
          resolve();
        };
        waiting.add(resume);
        signal.addEventListener("abort", resume, { once: true });
      });
    },
  };
}
