import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A control group of Linux that holds a process to a limit of memory, as a container's. */
export interface MemoryGroup {
  /** What a command begins with to run in it. */
  readonly within: readonly string[];
  /** How often the kernel has ended a process of it. */
  kills(): number;
  remove(): void;
}

const ROOT = "/sys/fs/cgroup";

/** Null where this machine has no control groups, or this process may not make any. */
export function createMemoryGroup(name: string, limitBytes: number): MemoryGroup | null {
  // Under version 1 each controller has a tree of its own.
  const isFirst = existsSync(join(ROOT, "memory"));
  const folder = join(ROOT, isFirst ? "memory" : "", name);
  try {
    mkdirSync(folder);
    writeFileSync(join(folder, isFirst ? "memory.limit_in_bytes" : "memory.max"), String(limitBytes));
  } catch {
    return null;
  }
  const events = join(folder, isFirst ? "memory.oom_control" : "memory.events");
  return {
    within: ["sh", "-c", 'echo $$ > "$0/cgroup.procs" && exec "$@"', folder],
    kills: () => Number(/oom_kill (\d+)/.exec(readFileSync(events, "utf8"))?.[1] ?? 0),
    remove: () => rmdirSync(folder),
  };
}
