import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { connect } from "../packages/server/src/database/connection.adapter.ts";
import { startEmbeddedPostgres } from "../packages/server/src/database/embedded/embedded.adapter.ts";
import { migrate } from "../packages/server/src/database/migrate.ts";
import { localCloud } from "../test/provisioning/local-provider.ts";
import { addJob, bootMachines, newCluster, tofuForTests } from "../test/provisioning/stage.ts";
import { descendantsOf } from "../test/world/descendants.ts";
import { printTable } from "./table.ts";

/** Provisioning jobs at once on one worker: what the worker itself holds beside its OpenTofu processes. */

const JOBS = Number(process.env["BENCH_JOBS"] ?? 20);
const AGENTS = 5;
const SECONDS = 1;
const WORKER = fileURLToPath(new URL("../test/provisioning/worker.process.ts", import.meta.url));

const tofu = tofuForTests();
if (!tofu) process.exit(1);

const folder = await mkdtemp(join(tmpdir(), "binnacle-bench-"));
await chmod(folder, 0o755);
const embedded = await startEmbeddedPostgres({ dataDir: folder, log: () => undefined });
const { host, port, user, database } = embedded.connection;
const url = `postgres:///${database}?host=${encodeURIComponent(host)}&port=${port}&user=${user}`;
const { kysely: db, close } = connect({ url }, { poolSize: 5, onError: () => undefined });

const megabytes = (pid: number, field: "VmHWM" | "VmRSS"): number => {
  try {
    const kilobytes = new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return Math.round(Number(kilobytes ?? 0) / 1024);
  } catch {
    return 0;
  }
};

async function measure(parallel: number): Promise<string[]> {
  const cloud = await localCloud();
  const args = [WORKER, url, cloud.folder, String(SECONDS), tofu ?? "", "10000", String(parallel)];
  const worker = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const pid = worker.pid ?? 0;
  if (worker.stdout) await once(worker.stdout, "data");
  const idle = megabytes(pid, "VmRSS");
  const startedAt = performance.now();
  const jobs: string[] = [];
  for (let index = 0; index < JOBS; index++) {
    jobs.push(await addJob(db, await newCluster(db, AGENTS), "create", AGENTS + 1));
  }
  let [programs, programMb] = [0, 0];
  for (let ended = 0; ended < JOBS; ) {
    await delay(100);
    const running = descendantsOf(pid).filter(({ command }) => command.startsWith(tofu ?? ""));
    programs = Math.max(programs, running.length);
    programMb = Math.max(
      programMb,
      running.reduce((sum, process) => sum + megabytes(process.pid, "VmRSS"), 0),
    );
    for (const job of jobs) await bootMachines(db, job);
    const rows = await db.selectFrom("provisioning_jobs").select("status").where("id", "in", jobs).execute();
    if (rows.some(({ status }) => status === "failed")) throw new Error("A job has failed.");
    ended = rows.filter(({ status }) => status === "succeeded").length;
  }
  const seconds = (performance.now() - startedAt) / 1000;
  const peak = megabytes(pid, "VmHWM");
  const exited = once(worker, "exit");
  worker.kill("SIGTERM");
  await exited;
  return [parallel, programs, idle, peak, programMb, seconds.toFixed(1)].map(String);
}

try {
  await migrate(db);
  const rows = [];
  for (const parallel of [4, JOBS]) rows.push(await measure(parallel));
  printTable(["at once", "programs seen", "idle MB", "worker's peak MB", "programs MB", "seconds"], rows);
  process.stdout.write(`${JOBS} jobs of ${AGENTS + 2} resources; load ${loadavg()[0]?.toFixed(1)}\n`);
} finally {
  await close();
  await embedded.stop();
  await rm(folder, { recursive: true, force: true });
}
