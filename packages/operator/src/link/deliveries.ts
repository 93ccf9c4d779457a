import { type HubFrames, safeText } from "@binnacle/contract";
import type { DesiredStore, Refusal } from "../desired/desired-state.ts";
import type { OutgoingFrameOf } from "./frames.ts";
import type { LinkLog } from "./ports.ts";

export interface DeliveryPorts {
  readonly store: Pick<DesiredStore, "apply" | "remove">;
  readonly work: KeyedWork;
  readonly log: LinkLog;
  readonly answer: (frame: OutgoingFrameOf<"ack" | "nack">) => void;
}

type Delivered = HubFrames["apply"] | HubFrames["remove"];
type Named = Pick<Delivered, "id" | "key" | "generation">;

/** Stores a resource and acknowledges it. The store ignores frames that come twice or late. */
export function deliver(frame: Delivered, { store, work, log, answer }: DeliveryPorts): void {
  const isTaken = work.run(frame.key, async () => {
    const refusal = await carryOut(frame, store).catch((err: unknown): Refusal => {
      log.warn({ err, key: frame.key, generation: frame.generation }, "a resource could not be stored");
      return { code: "unable", message: "The cluster could not store it." };
    });
    if (refusal) answer(nack(frame, refusal));
    else answer({ type: "ack", ref: frame.id, key: frame.key, generation: frame.generation });
  });
  if (!isTaken) answer(nack(frame, { code: "unable", message: "The operator has too many resources to store." }));
}

export function nack({ id, key, generation }: Named, { code, message }: Refusal): OutgoingFrameOf<"nack"> {
  return { type: "nack", ref: id, key, generation, code, message: safeText(message) };
}

async function carryOut(frame: Delivered, store: DeliveryPorts["store"]): Promise<Refusal | null> {
  return frame.type === "apply" ? store.apply(frame) : store.remove(frame);
}

export interface KeyedWork {
  /** False where there is too much to do already; the task is not run then. */
  run(key: string, task: () => Promise<void>): boolean;
  /** Comes back when nothing runs or waits. */
  idle(): Promise<void>;
}

/** Tasks of one key run one after the other in the order they came, those of several keys at once. A task never throws. */
export function createKeyedWork({ atOnce, capacity }: { atOnce: number; capacity: number }): KeyedWork {
  const waiting = new Map<string, (() => Promise<void>)[]>();
  const running = new Set<string>();
  const idlers: (() => void)[] = [];
  let size = 0;

  function start(): void {
    for (const [key, tasks] of waiting) {
      if (running.size >= atOnce) return;
      if (running.has(key)) continue;
      const task = tasks.shift();
      if (tasks.length === 0) waiting.delete(key);
      if (!task) continue;
      running.add(key);
      void task().finally(() => {
        running.delete(key);
        size -= 1;
        start();
        if (size === 0) for (const wake of idlers.splice(0)) wake();
      });
    }
  }

  return {
    run(key, task) {
      if (size >= capacity) return false;
      size += 1;
      const tasks = waiting.get(key);
      if (tasks) tasks.push(task);
      else waiting.set(key, [task]);
      start();
      return true;
    },
    async idle() {
      if (size === 0) return;
      await new Promise<void>((resolve) => idlers.push(resolve));
    },
  };
}
