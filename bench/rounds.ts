import { load, type Measured, type Target } from "./load.ts";
import { cpuSecondsOf, type Process } from "./process.ts";
import { printTable } from "./table.ts";

const CONNECTIONS = 16;
const ROUND_MS = Number(process.env["BENCH_ROUND_MS"] ?? 1_500);
const ROUNDS = Number(process.env["BENCH_ROUNDS"] ?? 7);
/** Long enough for the compiler to have seen the code of every target. */
const WARM_UP_MS = 4_000;

export interface Contender extends Omit<Target, "port"> {
  readonly process: Process;
}

export interface Round extends Measured {
  readonly cpuUsPerRequest: number;
}

/**
 * Rounds alternate between the contenders, so that a slow moment of the machine falls on all of them: a round is held
 * against the other's round beside it, and of the ratios the middle one counts.
 */
export async function measure<N extends string>(contenders: Record<N, Contender>): Promise<Record<N, Round[]>> {
  const entries = Object.entries<Contender>(contenders);
  const rounds = new Map<string, Round[]>(entries.map(([name]) => [name, []]));
  for (const [, contender] of entries) await run(contender, WARM_UP_MS);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, contender] of entries) rounds.get(name)?.push(await run(contender, ROUND_MS));
  }
  return Object.fromEntries(rounds) as Record<N, Round[]>;
}

async function run({ process: server, ...target }: Contender, durationMs: number): Promise<Round> {
  const before = await cpuSecondsOf(server);
  const measured = await load({ ...target, port: server.port }, { connections: CONNECTIONS, durationMs });
  const cpuSeconds = (await cpuSecondsOf(server)) - before;
  return { ...measured, cpuUsPerRequest: (cpuSeconds * 1e6) / measured.requests };
}

type Figure = "perSecond" | "p50Ms" | "p99Ms" | "cpuUsPerRequest";

export const middleOf = (rounds: readonly Round[], figure: Figure) => median(rounds.map((round) => round[figure]));

export function ratio(figure: Figure, ours: readonly Round[], theirs: readonly Round[]): number {
  return median(ours.map((round, index) => round[figure] / (theirs[index]?.[figure] ?? Number.NaN)));
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

export function printRounds(all: Record<string, readonly Round[]>): void {
  printTable(
    ["", "requests/s", "p50 ms", "p99 ms", "server CPU µs"],
    Object.entries(all).map(([name, rounds]) => [
      name,
      middleOf(rounds, "perSecond").toFixed(0),
      middleOf(rounds, "p50Ms").toFixed(2),
      middleOf(rounds, "p99Ms").toFixed(2),
      middleOf(rounds, "cpuUsPerRequest").toFixed(0),
    ]),
  );
}
