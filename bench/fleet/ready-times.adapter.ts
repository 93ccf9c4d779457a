import { setTimeout as pause } from "node:timers/promises";
import type { Api } from "./api.adapter.ts";

const RECONNECT_MS = 500;
/** An event may arrive a moment after the change can be read. */
const LATE_MS = 2_000;
const LOOK_MS = 50;

/** When each generation of an app was first reported as running, from the event stream. */
export interface ReadyTimes {
  /** The time from commit to running, in milliseconds. Apps without an event are left out. */
  since(commits: readonly Commit[]): Promise<readonly number[]>;
  stop(): void;
}

/** A change of an app that was accepted, and when, by this process' clock. */
interface Commit {
  readonly id: string;
  readonly generation: number;
  readonly atMs: number;
}

interface AppEvent {
  readonly resource: { readonly id: string | null };
  readonly phase?: string;
  readonly observed_generation?: number | null;
}

/** Comes back once the stream is open, so that nothing is missed from then on. */
export async function followReadyTimes(api: Api): Promise<ReadyTimes> {
  const times = new Map<string, number>();
  const deleting = new AbortController();
  const opened = Promise.withResolvers<void>();

  function take(data: string): void {
    const { resource, phase, observed_generation } = JSON.parse(data) as AppEvent;
    const key = `${resource.id}/${observed_generation}`;
    if (phase === "running" && !times.has(key)) times.set(key, performance.now());
  }

  async function follow(): Promise<void> {
    const answer = await api.open("/events/stream?resource_type=app", deleting.signal);
    if (!answer.ok || !answer.body) throw new Error(`The stream of events was answered with ${answer.status}.`);
    opened.resolve();
    for await (const data of dataOf(answer.body)) take(data);
  }

  async function followAlways(): Promise<void> {
    while (!deleting.signal.aborted) {
      await follow().catch(opened.reject);
      if (!deleting.signal.aborted) await pause(RECONNECT_MS);
    }
  }
  void followAlways();
  await opened.promise;
  const reported = (commits: readonly Commit[]) =>
    commits.flatMap(({ id, generation, atMs }) => {
      const readyAt = times.get(`${id}/${generation}`);
      return readyAt === undefined ? [] : [Math.max(0, readyAt - atMs)];
    });
  return {
    async since(commits) {
      const until = performance.now() + LATE_MS;
      while (reported(commits).length < commits.length && performance.now() < until) await pause(LOOK_MS);
      return reported(commits);
    },
    stop: () => deleting.abort(),
  };
}

async function* dataOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line.startsWith("data:")) yield line.slice("data:".length);
  }
}
