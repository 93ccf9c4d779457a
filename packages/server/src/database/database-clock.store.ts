import { sql } from "kysely";
import type { Clock } from "../clock.ts";
import type { Log } from "../outage.ts";
import type { Queries } from "./transaction.ts";

const MEASURED_EVERY_MS = 30_000;
/** Clocks that are kept by NTP differ by far less. */
const TOLERATED_MS = 2_000;

export interface DatabaseClock {
  readonly now: Clock;
  /** Compares the two clocks, now and then every 30 seconds. */
  start(db: Queries): Promise<void>;
  stop(): void;
}

/**
 * The clock of this machine, or that of the database where the two differ. Leases, deadlines and tokens of one process are judged
 * by the others: one whose clock is minutes ahead would take all sessions of the others for dead.
 */
export function createDatabaseClock(
  log: Log,
  local: () => number = Date.now,
  passed: () => number = () => performance.now(),
): DatabaseClock {
  let offsetMs = 0;
  let timer: NodeJS.Timeout | undefined;
  let measuredAt = { localMs: local(), passedMs: passed() };

  async function measure(db: Queries): Promise<void> {
    const askedMs = local();
    const { rows } = await sql<{ at: Date }>`select clock_timestamp() as at`.execute(db);
    const answeredMs = local();
    const differenceMs = (rows[0]?.at.getTime() ?? answeredMs) - (askedMs + answeredMs) / 2;
    // A slow answer says nothing: the database may have read its clock at any time in between.
    if (answeredMs - askedMs > TOLERATED_MS) return;
    measuredAt = { localMs: answeredMs, passedMs: passed() };
    const wasOff = offsetMs !== 0;
    offsetMs = Math.abs(differenceMs) > TOLERATED_MS ? differenceMs : 0;
    if (offsetMs !== 0 && !wasOff) {
      const seconds = Math.round(offsetMs / 1_000);
      const way = seconds < 0 ? "ahead of" : "behind";
      log.warn(
        { offset_seconds: seconds },
        `the clock of this machine is ${Math.abs(seconds)} seconds ${way} that of the database, which is used instead; set both by NTP`,
      );
    }
    if (offsetMs === 0 && wasOff) log.info({}, "the clock of this machine agrees with that of the database again");
  }

  /** A clock that is set between two comparisons differs from the time that has passed; what it says is wrong until the next. */
  function jumpMs(localMs: number): number {
    const differenceMs = localMs - measuredAt.localMs - (passed() - measuredAt.passedMs);
    return Math.abs(differenceMs) > TOLERATED_MS ? differenceMs : 0;
  }

  return {
    now() {
      const localMs = local();
      return new Date(localMs + offsetMs - jumpMs(localMs));
    },
    async start(db) {
      await measure(db);
      // A database that does not answer is reported by everything else.
      timer = setInterval(() => void measure(db).catch(() => undefined), MEASURED_EVERY_MS);
      timer.unref();
    },
    stop: () => clearInterval(timer),
  };
}
