import { setTimeout as pause } from "node:timers/promises";

const POLL_MS = 500;
const SAID_EVERY_MS = 5_000;

/** Polls until nothing is missing, and returns how long that took. Names the missing items on a timeout. */
export async function until(
  missing: () => Promise<string | null>,
  { withinMs, print }: { readonly withinMs: number; readonly print: (line: string) => void },
): Promise<number> {
  const startedAt = performance.now();
  let sayAtMs = SAID_EVERY_MS;
  for (;;) {
    const lookedAt = performance.now();
    const reason = await missing();
    const tookMs = performance.now() - startedAt;
    if (reason === null) return tookMs;
    if (tookMs > withinMs) throw new Error(`After ${Math.round(tookMs / 1_000)} s, ${reason}.`);
    if (tookMs >= sayAtMs) {
      print(reason);
      sayAtMs = tookMs + SAID_EVERY_MS;
    }
    // A look at many clusters takes long; twice as long is left to what is looked at.
    await pause(Math.max(POLL_MS, 2 * (performance.now() - lookedAt)));
  }
}
