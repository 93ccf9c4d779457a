import { readdirSync, readFileSync } from "node:fs";

export interface Descendant {
  readonly pid: number;
  readonly command: string;
}

/** The processes that a process has started, and those that these have. */
export function descendantsOf(pid: number): Descendant[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
    const stat = readProcess(name, "stat");
    const parent = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1];
    if (parent) parents.set(Number(name), Number(parent));
  }
  const isBelow = (one: number): boolean => {
    const parent = parents.get(one);
    return parent !== undefined && (parent === pid || isBelow(parent));
  };
  return [...parents.keys()]
    .filter(isBelow)
    .map((one) => ({ pid: one, command: readProcess(String(one), "cmdline").replaceAll("\0", " ").trim() }));
}

/** Empty for a process that has ended meanwhile. */
function readProcess(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}
