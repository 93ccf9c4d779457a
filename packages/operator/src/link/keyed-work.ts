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
