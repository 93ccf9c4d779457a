import type { BaseLogger } from "pino";

export type Log = Pick<BaseLogger, "debug" | "info" | "warn" | "error">;

/** What something that is tried again and again tells the log: when it began to fail and when it works again. */
export interface Outage {
  readonly failed: (error: unknown) => void;
  readonly recovered: () => void;
}

const LONGEST_PAUSE_MS = 5_000;

/** The pause after so many failures in a row: it grows, yet stays so short that the end of an outage is noticed soon. */
export function pauseMsAfter(failures: number, random = Math.random): number {
  return Math.min(100 * 2 ** Math.min(failures, 10), LONGEST_PAUSE_MS) * (0.5 + random() / 2);
}

/** Says it once per outage: a line for each try would bury the log just when somebody has to read it. */
export function watchOutage(log: Log, name: string): Outage {
  let down = false;
  return {
    failed(error) {
      if (down) return;
      down = true;
      log.warn({ err: error }, `${name} does not work; it is tried again until it does`);
    },
    recovered() {
      if (!down) return;
      down = false;
      log.info(`${name} works again`);
    },
  };
}
