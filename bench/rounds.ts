import { load, type Measured, type Target } from "./load.ts";
import { cpuSecondsOf, type Process } from "./process.ts";
import { printTable } from "./table.ts";

const CONNECTIONS = 16;
const ROUND_MS = Number(process.env["BENCH_ROUND_MS"] ?? 3_000);
const ROUNDS = Number(process.env["BENCH_ROUNDS"] ?? 5);
/** Long enough for the compiler to have seen the code of every target. */
const WARM_UP_MS = 2 * ROUND_MS;

export interface Contender extends Omit<Target, "port"> {
  readonly process: Process;
}

export interface Series extends Measured {
  readonly cpuUsPerRequest: number;
}

/** Rounds alternate between the contenders, so that a busy moment of the machine falls on all; the middle one counts. */
export async function measure<N extends string>(contenders: Record<N, Contender>): Promise<Record<N, Series>> {
  const rounds = new Map<string, Series[]>();
  const entries = Object.entries<Contender>(contenders);
  for (const [, contender] of entries) await run(contender, WARM_UP_MS);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, contender] of entries) {
      rounds.set(name, [...(rounds.get(name) ?? []), await run(contender, ROUND_MS)]);
    }
  }
  return Object.fromEntries([...rounds].map(([name, series]) => [name, median(series)])) as Record<N, Series>;
}

async function run({ process: server, ...target }: Contender, durationMs: number): Promise<Series> {
  const before = await cpuSecondsOf(server);
  const measured = await load({ ...target, port: server.port }, { connections: CONNECTIONS, durationMs });
  const cpuSeconds = (await cpuSecondsOf(server)) - before;
  return { ...measured, cpuUsPerRequest: (cpuSeconds * 1e6) / measured.requests };
}

function median(series: readonly Series[]): Series {
  const sorted = [...series].sort((a, b) => a.perSecond - b.perSecond);
  const middle = sorted[Math.floor(sorted.length / 2)];
  if (!middle) throw new Error("nothing was measured");
  return middle;
}

export function printSeries(all: Record<string, Series>): void {
  printTable(
    ["", "requests/s", "p50 ms", "p99 ms", "server CPU µs"],
    Object.entries(all).map(([name, series]) => [
      name,
      series.perSecond.toFixed(0),
      series.p50Ms.toFixed(2),
      series.p99Ms.toFixed(2),
      series.cpuUsPerRequest.toFixed(0),
    ]),
  );
}

export const ratio = (a: number, b: number): string => (a / b).toFixed(2);
