import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { connectRedisBus } from "../packages/server/src/bus/bus.adapter.ts";
import type { Bus } from "../packages/server/src/bus/bus.ts";
import { connectPostgresBus } from "../packages/server/src/bus/postgres-bus.adapter.ts";
import { clientConfig } from "../packages/server/src/database/connection.adapter.ts";
import { startEmbeddedPostgres } from "../packages/server/src/database/embedded/embedded.adapter.ts";
import { startRedis } from "./hub-stage.ts";
import { cpuSecondsOf } from "./process.ts";
import { printTable } from "./table.ts";

/**
 * Hints between two processes over PostgreSQL and over Redis, in one run: how late they are, how many there can be, what they
 * cost the server that carries them, and what a log stream over the same bus would do to them.
 */

const SILENT = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
/** As long as a typical event. */
const FILLER = "x".repeat(400);
const FLOOD = 50_000;

interface Carrier {
  readonly name: string;
  open(): Bus;
  cpuSeconds(): Promise<number>;
}

const percentile = (sorted: readonly number[], share: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;

/** Sends so many hints a second, and returns how late each came at another process's end. */
async function delays(from: Bus, to: Bus, perSecond: number, seconds: number): Promise<number[]> {
  const seen: number[] = [];
  const stop = to.subscribe("bench", (message) => {
    const { sentAt } = message as { sentAt: number };
    seen.push(performance.now() - sentAt);
  });
  const total = perSecond * seconds;
  const startedAt = performance.now();
  for (let sent = 0; sent < total; ) {
    const due = Math.min(total, Math.ceil(((performance.now() - startedAt) * perSecond) / 1000));
    for (; sent < due; sent += 1) from.publish("bench", { sent, sentAt: performance.now(), filler: FILLER });
    await setTimeout(Math.min(10, 1000 / perSecond));
  }
  for (let waited = 0; seen.length < total && waited < 200; waited += 1) await setTimeout(50);
  stop();
  return seen.sort((one, other) => one - other);
}

/** Sends hints as fast as they are taken; at most a thousand are under way. */
async function flood(from: Bus, to: Bus): Promise<number> {
  let came = 0;
  const stop = to.subscribe("flood", () => {
    came += 1;
  });
  const startedAt = performance.now();
  for (let sent = 0; sent < FLOOD; sent += 100) {
    while (sent - came > 1_000) await setTimeout(1);
    for (let count = 0; count < 100; count += 1) from.publish("flood", { number: sent + count, filler: FILLER });
  }
  while (came < FLOOD) await setTimeout(1);
  stop();
  return FLOOD / ((performance.now() - startedAt) / 1000);
}

/** Ten megabytes a second in frames of log lines, as of some followed apps, until it is told to stop. */
function logs(from: Bus, to: Bus): () => void {
  let frame = 0;
  const stop = to.subscribe("logs", () => undefined);
  const timer = setInterval(() => from.publish("logs", { frame: frame++, lines: "x".repeat(64 * 1024) }), 6.4);
  return () => {
    clearInterval(timer);
    stop();
  };
}

async function measure({ name, open, cpuSeconds }: Carrier): Promise<string[]> {
  const [from, to] = [open(), open()];
  await Promise.all([from.connected, to.connected]);
  await delays(from, to, 100, 1);
  const ms = (values: readonly number[]) =>
    `${percentile(values, 0.5).toFixed(1)} and ${percentile(values, 0.99).toFixed(1)} ms`;
  const lone = await delays(from, to, 20, 15);
  const before = await cpuSeconds();
  const many = await delays(from, to, 500, 10);
  const cpu = ((await cpuSeconds()) - before) / 10;
  const perSecond = await flood(from, to);
  const stopLogs = logs(from, to);
  const besideLogs = await delays(from, to, 20, 10);
  stopLogs();
  await Promise.all([from.close(), to.close()]);
  return [
    name,
    ms(lone),
    ms(many),
    `${(100 * cpu).toFixed(1)} %`,
    Math.round(perSecond).toLocaleString("en"),
    ms(besideLogs),
  ];
}

/** A session of PostgreSQL is a process, and the first one is the parent of all others. */
async function cpuOfFamily(parent: number): Promise<number> {
  const family = readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
      return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]) === parent;
    } catch {
      return false;
    }
  });
  const each = await Promise.all(family.map((pid) => cpuSecondsOf({ pid: Number(pid) })));
  return each.reduce((sum, seconds) => sum + seconds, 0);
}

const folder = await mkdtemp(join(tmpdir(), "binnacle-bus-"));
await chmod(folder, 0o755);
const postgres = await startEmbeddedPostgres({ dataDir: folder, log: () => undefined });
const redis = await startRedis(folder);
const postmaster = Number((await readFile(join(folder, "postgres", "postmaster.pid"), "utf8")).split("\n")[0]);
const info = execFileSync("redis-cli", ["-u", redis.url, "info", "server"], { encoding: "utf8" });
const redisPid = Number(/process_id:(\d+)/.exec(info)?.[1]);
const carriers: Carrier[] = [
  {
    name: "PostgreSQL",
    open: () => connectPostgresBus(clientConfig(postgres.connection), SILENT),
    cpuSeconds: () => cpuOfFamily(postmaster),
  },
  {
    name: "Redis",
    open: () => connectRedisBus(redis.url, SILENT),
    cpuSeconds: () => cpuSecondsOf({ pid: redisPid }),
  },
];
const rows: string[][] = [];
for (const carrier of carriers) rows.push(await measure(carrier));
printTable(
  [
    "carrier",
    "20 hints a second, p50 and p99",
    "500 a second",
    "its CPU at 500",
    "most a second",
    "20 a second beside 10 MB/s of logs on the same bus",
  ],
  rows,
);
await redis.stop();
await postgres.stop();
await rm(folder, { recursive: true, force: true });
