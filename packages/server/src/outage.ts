import type { BaseLogger } from "pino";

export type Log = Pick<BaseLogger, "debug" | "info" | "warn" | "error">;

/** Reports the begin and the end of an outage of something that is retried. */
export interface Outage {
  readonly failed: (error: unknown) => void;
  readonly recovered: () => void;
}

const LONGEST_PAUSE_MS = 5_000;

/** The pause grows with the failures in a row, and stays short enough to notice the end of an outage soon. */
export function pauseMsAfter(failures: number, random = Math.random): number {
  return Math.min(100 * 2 ** Math.min(failures, 10), LONGEST_PAUSE_MS) * (0.5 + random() / 2);
}

/** Logs once per outage, because a line for each attempt would flood the log. */
export function watchOutage(log: Log, name: string): Outage {
  let down = false;
  return {
    failed(error) {
      if (down) return;
      down = true;
      log.warn({ err: error }, `${name} failed; it is retried until it works`);
    },
    recovered() {
      if (!down) return;
      down = false;
      log.info(`${name} works again`);
    },
  };
}
