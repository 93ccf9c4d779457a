import { type Log, pauseMsAfter, watchOutage } from "../outage.ts";
import { announceDisconnected, type StatusPorts } from "./connection-status.store.ts";
import type { Fence } from "./ports.ts";
import { releaseSessions } from "./session.store.ts";

/** Sessions that end together are taken off the record together. */
const COALESCE_MS = 20;
/** After that the lease has run out, and the row is cleared away by whoever finds it. */
const MOST_TRIES = 5;

export interface Releaser {
  release(fence: Fence): void;
  /** Comes back when all have been given up, or could not be. */
  stop(): Promise<void>;
}

/** Takes ended sessions off the record, unless a newer one stands there already, and announces their clusters. */
export function startReleaser(ports: StatusPorts & { readonly log: Log }, settled: () => Promise<void>): Releaser {
  const outage = watchOutage(ports.log, "taking ended sessions off the record");
  let ended: Fence[] = [];
  let timer: NodeJS.Timeout | null = null;
  let work: Promise<void> = Promise.resolve();
  let failures = 0;

  function schedule(afterMs: number): void {
    timer ??= setTimeout(() => {
      timer = null;
      work = work.then(run);
    }, afterMs);
  }

  async function run(): Promise<void> {
    const batch = ended;
    ended = [];
    if (batch.length === 0) return;
    try {
      // What they have confirmed last counts while they are on record.
      await settled();
      await announceDisconnected(ports, await releaseSessions(ports.db, batch));
      failures = 0;
      outage.recovered();
    } catch (error) {
      outage.failed(error);
      failures += 1;
      if (failures > MOST_TRIES) return;
      ended = [...batch, ...ended];
      schedule(pauseMsAfter(failures));
    }
  }

  return {
    release(fence) {
      ended.push(fence);
      schedule(COALESCE_MS);
    },
    async stop() {
      if (timer !== null) clearTimeout(timer);
      timer = null;
      await work;
      await run();
      if (timer !== null) clearTimeout(timer);
    },
  };
}
