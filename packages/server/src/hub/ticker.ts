const TICK_MS = 1_000;
const SWEEP_MS = 10_000;

interface Options {
  readonly tickMs?: number | undefined;
  readonly sweepMs?: number | undefined;
  /** Short, and of the memory alone. */
  tick(): void;
  /** One at a time. Does not fail. */
  sweep(): Promise<void>;
}

export interface Ticker {
  /** Comes back when the sweep under way is over. */
  stop(): Promise<void>;
}

/** The only timers that there are for sessions, however many there are. */
export function startTicker({ tickMs = TICK_MS, sweepMs = SWEEP_MS, tick, sweep }: Options): Ticker {
  let underWay: Promise<void> | null = null;
  const ticks = setInterval(tick, tickMs);
  const sweeps = setInterval(() => {
    underWay ??= sweep().finally(() => {
      underWay = null;
    });
  }, sweepMs);
  return {
    async stop() {
      clearInterval(ticks);
      clearInterval(sweeps);
      await underWay;
    },
  };
}
