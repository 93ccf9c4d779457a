import { readFileSync } from "node:fs";
import { loadavg } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { type Crowd, startCrowd, untilAllLive } from "./hub-crowd.ts";
import { startMeter } from "./hub-meter.ts";
import { type HubStage, withHubStage } from "./hub-stage.ts";
import { cpuSecondsOf } from "./process.ts";
import { printTable } from "./table.ts";

/**
 * One hub with thousands of operators, which speak with the operator's own link code from processes of their own. A
 * change is committed by SQL and hinted at over Redis, as from an API process of its own. `--operators 25000` takes as many
 * open files and some more.
 */
const { values: given } = parseArgs({ options: { operators: { type: "string", default: "5000" } } });
const OPERATORS = Number(given.operators);
const FILES = Number(/^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1]);
if (FILES < OPERATORS + 200) {
  throw new Error(
    `A hub with ${OPERATORS} operators has as many open files, and ${FILES} are allowed: raise ulimit -n.`,
  );
}
/** After a kill so many, of them or of a larger crowd, are to be back within the time of `CROWD_AIM`. */
const CROWD = 10_000;
const CROWD_AIM = "≤ 20 s";
const BACK_AIM = OPERATORS < CROWD ? "≤ 15 s" : OPERATORS === CROWD ? CROWD_AIM : "";
const PROCESSES = Number(process.env["BENCH_PROCESSES"] ?? 2);
const CHANGES_PER_SECOND = Number(process.env["BENCH_CHANGES"] ?? 500);
const SECONDS = Number(process.env["BENCH_SECONDS"] ?? 20);
const SETTLE_MS = Number(process.env["BENCH_SETTLE_MS"] ?? 20_000);
/** Long enough for a heartbeat. */
const IDLE_SECONDS = Number(process.env["BENCH_IDLE_SECONDS"] ?? 66);
const TAIL_MS = 5_000;

type Row = readonly [figure: string, aim: string, seen: string];

await withHubStage(OPERATORS + 1, async (stage) => {
  const [metered, ...identities] = stage.identities;
  const crowd = startCrowd(PROCESSES);
  const single = startCrowd(1);
  const meter = await startMeter(() => stage.hub().port);
  try {
    const rows: Row[] = [["operators", "", OPERATORS.toLocaleString("en")]];
    await pause(SETTLE_MS / 4);
    const before = await stage.residentKb();
    crowd.connect(stage.url(), identities);
    rows.push(["all connected after", "", await untilAllLive(crowd, OPERATORS)]);
    await pause(SETTLE_MS);
    const perOperator = ((await stage.residentKb()) - before) / OPERATORS;
    rows.push(["resident memory of an idle operator", "≤ 32 KiB", `${perOperator.toFixed(1)} KiB`]);

    single.connect(`ws://127.0.0.1:${meter.port}/hub/v1`, metered ? [metered] : []);
    await untilAllLive(single, 1);
    await pause(1_000);
    rows.push(...(await resync()));
    rows.push(...(await changes(stage, crowd)));
    rows.push(...(await comeBack(stage, crowd)));
    rows.push(["load of the machine, last minute", "", loadavg()[0]?.toFixed(2) ?? ""]);
    printTable(["figure", "aim", "seen"], rows);
  } finally {
    await Promise.all([crowd.stop(), single.stop(), meter.stop()]);
  }

  /** One operator loses its connection while nothing changes. */
  async function resync(): Promise<Row[]> {
    meter.read();
    meter.cut();
    await pause(100);
    await untilAllLive(single, 1);
    await pause(1_000);
    const { frameBytes, upgradeBytes } = meter.read();
    await pause(IDLE_SECONDS * 1_000);
    const idle = meter.read().frameBytes / IDLE_SECONDS;
    return [
      ["resync when nothing changed, in frames", "≤ 1 KB", `${frameBytes} B`],
      ["the HTTP upgrade before it", "", `${upgradeBytes} B`],
      ["idle on the wire", "≤ 20 B/s", `${idle.toFixed(1)} B/s`],
    ];
  }
});

/** At a steady pace, whether or not the answers keep up, spread over all clusters. */
async function changes(stage: HubStage, crowd: Crowd): Promise<Row[]> {
  const answeredAt = new Map<string, number>();
  const askedAt = new Map<string, number>();
  const clusters = stage.identities.slice(1);
  await crowd.stored();
  const cpuBefore = await cpuSecondsOf(stage.hub());
  const startedAt = performance.now();
  const answers: Promise<void>[] = [];
  for (let made = 0; made < CHANGES_PER_SECOND * SECONDS; made += 1) {
    const dueMs = startedAt + (made * 1_000) / CHANGES_PER_SECOND - performance.now();
    if (dueMs > 1) await pause(dueMs);
    answers.push(change(made));
  }
  await Promise.all(answers);
  const cpuShare = ((await cpuSecondsOf(stage.hub())) - cpuBefore) / SECONDS;
  await pause(TAIL_MS);
  const stored = await crowd.stored();

  async function change(number: number): Promise<void> {
    const name = `p${number}`;
    const cluster_id = clusters[(number * 7_919) % clusters.length]?.clusterId;
    askedAt.set(name, performance.timeOrigin + performance.now());
    // On a machine that is too slow for the pace a commit may find no connection; the table shows how many there were.
    const isCommitted = await stage.commit(cluster_id ?? "", name).then(
      () => true,
      () => false,
    );
    if (isCommitted) answeredAt.set(name, performance.timeOrigin + performance.now());
  }

  const since = (from: Map<string, number>) =>
    [...answeredAt.keys()].flatMap((name) => {
      const atMs = stored.get(`project/${name}`);
      return atMs === undefined ? [] : [Math.max(0, atMs - (from.get(name) ?? 0))];
    });
  const [fromAnswer, fromRequest] = [since(answeredAt), since(askedAt)];
  return [
    ["changes a second", "500", (answeredAt.size / SECONDS).toFixed(0)],
    ["changes that were not acknowledged", "0", String(answeredAt.size - fromAnswer.length)],
    ["commit → ack, p50", "", `${quantile(fromAnswer, 0.5)} ms`],
    ["commit → ack, p99", "≤ 250 ms", `${quantile(fromAnswer, 0.99)} ms`],
    ["change → ack, p99, with the wait for its commit", "", `${quantile(fromRequest, 0.99)} ms`],
    ["CPU of the hub, of one core", "", `${(cpuShare * 100).toFixed(0)} %`],
  ];
}

function quantile(values: readonly number[], q: number): string {
  const sorted = values.toSorted((a, b) => a - b);
  return (sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN).toFixed(0);
}

async function comeBack(stage: HubStage, crowd: Crowd): Promise<Row[]> {
  const killedAt = performance.now();
  const since = () => `${((performance.now() - killedAt) / 1_000).toFixed(1)} s`;
  await stage.kill();
  await stage.restart();
  const rows: Row[] = [["serving again after SIGKILL", "", since()]];
  const counts = [0.5, 0.9, 0.99].map((share) => Math.floor(OPERATORS * share));
  for (const count of [...counts, ...(OPERATORS > CROWD ? [CROWD] : [])].sort((a, b) => a - b)) {
    await untilAllLive(crowd, count);
    rows.push([`${count.toLocaleString("en")} back after SIGKILL`, count === CROWD ? CROWD_AIM : "", since()]);
  }
  await untilAllLive(crowd, OPERATORS);
  return [...rows, ["all back after SIGKILL", BACK_AIM, since()]];
}
