import type { Clock } from "../kube/work-queue.ts";

export interface Watchdog {
  /** Something came from the other side. */
  heard(): void;
  stop(): void;
}

/** Notices that nothing was heard for so long. It looks when it might be so, not whenever something is heard. */
export function startWatchdog(clock: Clock, silentMs: number, onSilence: () => void): Watchdog {
  let heardAtMs = clock.now();
  let cancel = clock.after(silentMs, look);

  function look(): void {
    const leftMs = heardAtMs + silentMs - clock.now();
    if (leftMs <= 0) onSilence();
    else cancel = clock.after(leftMs, look);
  }

  return {
    heard() {
      heardAtMs = clock.now();
    },
    stop: () => cancel(),
  };
}
