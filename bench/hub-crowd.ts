import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import type { Ask, Identity, State } from "./hub-operators.ts";

/** Operators in a few processes of their own, so that their work is not counted as the hub's. */
export interface Crowd {
  connect(url: string, identities: readonly Identity[]): void;
  live(): Promise<number>;
  /** Returns the keys that were stored since the last call, and when. */
  stored(): Promise<Map<string, number>>;
  stop(): Promise<void>;
}

const LONGEST_WAIT_MS = 180_000;

export function startCrowd(processes: number): Crowd {
  const script = new URL("./hub-operators.ts", import.meta.url);
  const children = Array.from({ length: processes }, () => fork(script));
  const stored = new Map<string, number>();

  async function observe(): Promise<number> {
    const states = await Promise.all(children.map((child) => ask(child)));
    for (const state of states) for (const [key, atMs] of state.stored) stored.set(key, atMs);
    return states.reduce((sum, { live }) => sum + live, 0);
  }

  return {
    connect(url, identities) {
      for (const [index, child] of children.entries()) {
        const own = identities.filter((_, place) => place % children.length === index);
        child.send({ connect: { url, identities: own } } satisfies Ask);
      }
    },
    live: observe,
    async stored() {
      await observe();
      const taken = new Map(stored);
      stored.clear();
      return taken;
    },
    async stop() {
      for (const child of children) child.disconnect();
      const running = children.filter(({ exitCode }) => exitCode === null);
      await Promise.all(running.map((child) => once(child, "exit")));
    },
  };
}

async function ask(child: ChildProcess): Promise<State> {
  const answer = once(child, "message");
  child.send("state" satisfies Ask);
  const [state] = await answer;
  return state as State;
}

/** Returns how long it took, or how many were missing when it took too long. */
export async function untilAllLive(crowd: Crowd, count: number): Promise<string> {
  const startedAt = performance.now();
  for (;;) {
    const live = await crowd.live();
    const tookMs = performance.now() - startedAt;
    if (live >= count) return `${(tookMs / 1_000).toFixed(1)} s`;
    if (tookMs > LONGEST_WAIT_MS) return `${live} of ${count} after ${LONGEST_WAIT_MS / 1_000} s`;
    await pause(100);
  }
}
