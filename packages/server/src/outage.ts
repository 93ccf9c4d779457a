import type { BaseLogger } from "pino";

export type Log = Pick<BaseLogger, "debug" | "info" | "warn" | "error">;

/** What something that is tried again and again tells the log: when it began to fail and when it works again. */
export interface Outage {
  failed(error: unknown): void;
  recovered(): void;
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
