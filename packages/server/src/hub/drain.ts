import { setTimeout as pause } from "node:timers/promises";
import type { SessionRegistry } from "./registry.ts";
import type { Session } from "./session.ts";

/** How much of a hub's load the others are asked to take in a second. */
const LEAVING_A_SECOND = 500;
const BATCHES = 10;
/** For the last of them to be on their way. */
const GRACE_MS = 100;

export interface DrainStep {
  readonly afterMs: number;
  readonly withinMs: number;
  readonly sessions: readonly Session[];
}

/** Spreads the leaving of all sessions: in batches, each at moments of its operators' own choice until the end. */
export function drainSteps(sessions: readonly Session[], longestMs: number): DrainStep[] {
  const spreadMs = Math.min((sessions.length / LEAVING_A_SECOND) * 1000, longestMs);
  const size = Math.max(1, Math.ceil(sessions.length / BATCHES));
  const count = Math.ceil(sessions.length / size);
  return Array.from({ length: count }, (_, index) => {
    const afterMs = (spreadMs / count) * index;
    return { afterMs, withinMs: spreadMs - afterMs, sessions: sessions.slice(index * size, (index + 1) * size) };
  });
}

/** Comes back when all have left, or had the time to. */
export async function drain(registry: SessionRegistry, longestMs: number): Promise<void> {
  const sessions = [...registry.all()].filter(({ state }) => state === "live" || state === "inventory");
  const startedAtMs = performance.now();
  const until = (afterMs: number) => pause(Math.max(0, startedAtMs + afterMs - performance.now()));
  const steps = drainSteps(sessions, longestMs);
  for (const { afterMs, withinMs, sessions: batch } of steps) {
    await until(afterMs);
    for (const session of batch) {
      if (session.state === "ended") continue;
      session.send({ type: "drain", session: session.sessionId, within_seconds: withinMs / 1000 });
    }
  }
  const spreadMs = steps[0]?.withinMs ?? 0;
  while (registry.size > 0 && performance.now() < startedAtMs + spreadMs + GRACE_MS) await pause(10);
}
