import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** What a process takes of the machine: of memory that it shares, as PostgreSQL's processes do, its part. */
export async function takenBytes(pid: number): Promise<number> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, "utf8").catch(() => "");
  return Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0) * 1_024;
}

/** The processes of the PostgreSQL that runs on a folder. */
export async function databaseProcesses(pgdata: string): Promise<number[]> {
  const [first = ""] = (await readFile(join(pgdata, "postmaster.pid"), "utf8").catch(() => "")).split("\n");
  if (!/^\d+$/.test(first)) return [];
  const children = await readFile(`/proc/${first}/task/${first}/children`, "utf8").catch(() => "");
  return [first, ...children.split(" ").filter(Boolean)].map(Number);
}
