import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import type { Queries } from "../../packages/server/src/database/transaction.ts";
import { logLines } from "../../packages/server/src/provisioning/provisioning.store.ts";
import { loadState } from "../../packages/server/src/tofu/infrastructure-state.store.ts";
import { readState } from "../../packages/server/src/tofu/tofu-output.ts";
import { type Random, randomOf } from "../fuzz/random.ts";
import { childEnvironment } from "../world/child-environment.ts";
import { type FreshDatabase, freshDatabase } from "../world/database.ts";
import { descendantsOf } from "../world/descendants.ts";
import { isAlive } from "../world/server-process.ts";
import { type LocalCloud, localCloud } from "./local-provider.ts";
import { addJob, bootMachines, newCluster, recordOf, tofuForTests, vault, wantedAddresses } from "./stage.ts";

/** `npm run test:crash` has 200 kills. */
const KILLS = Number(process.env["BINNACLE_CRASH_KILLS"] ?? 6);
const SEED = Number(process.env["BINNACLE_CRASH_SEED"] ?? 20_261_116);
const LIVES_AT_ONCE = 3;
const LEASE_MS = 2_000;
/** Of making or removing a resource, twice; a life of a cluster takes some seconds, so kills hit every step of it. */
const SECONDS = 0.15;
const LONGEST_WAIT_MS = 10_000;
const LONGEST_RESUME_MS = 30_000;
const SOON = { timeout: 30_000, interval: 20 };

const PROGRAM = fileURLToPath(new URL("./worker.process.ts", import.meta.url));
const tofu = tofuForTests();

let fresh: FreshDatabase;
let db: Queries;
let cloud: LocalCloud;
let worker: ChildProcess | null = null;
beforeAll(async () => {
  fresh = await freshDatabase();
  db = fresh.database.kysely;
  cloud = await localCloud();
});
/** A worker that lived on would take the jobs of the next test. */
afterEach(async () => {
  if (!worker || worker.exitCode !== null || worker.signalCode !== null) return;
  const exit = once(worker, "exit");
  worker.kill("SIGKILL");
  await exit;
});
afterAll(() => fresh?.drop());

async function startWorkerProcess(): Promise<ChildProcess> {
  const args = [PROGRAM, fresh.url, cloud.folder, String(SECONDS), tofu ?? "", String(LEASE_MS)];
  worker = spawn(process.execPath, args, { env: childEnvironment(), stdio: ["ignore", "pipe", "inherit"] });
  if (!worker.stdout) throw new Error("The worker has no output.");
  await once(worker.stdout, "data");
  return worker;
}

/** Resolves when the job has succeeded. It fails where the job has, and where the queue has given it up. */
async function finished(jobId: string): Promise<void> {
  for (;;) {
    await bootMachines(db, jobId);
    const record = await recordOf(db, jobId);
    if (!record || record.status === "succeeded") return;
    const queued = db.selectFrom("jobs").select("id").where("lane", "=", record.cluster_id);
    const [open] = await queued.where("status", "in", ["pending", "running"]).execute();
    const now = await recordOf(db, jobId);
    if (record.status === "failed" || (!open && now?.status === "running" && now.waits_until === null)) {
      const log = (await logLines(db, jobId)).slice(-20).join("\n");
      throw new Error(`${record.action} is ${record.status}: ${record.error_code} ${record.error_message}\n${log}`);
    }
    await delay(50);
  }
}

const recordsIn = (statuses: readonly ("pending" | "running" | "succeeded")[]) =>
  db.selectFrom("provisioning_jobs").select(["id", "progress_pct"]).where("status", "in", statuses).execute();

/** Waits for a condition, or for as long as nothing could be expected to happen any more. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  const startedAt = performance.now();
  while (performance.now() - startedAt < LONGEST_WAIT_MS && !(await holds())) await delay(20);
}

/**
 * Waits for a random moment of a run, in the terms of the run: how far it has come. On a slow machine as on a fast one kills hit
 * every step. Half of the time a job ends first, so that not all runs are killed.
 */
async function randomMoment(random: Random): Promise<void> {
  if (random.chance(0.5)) {
    const before = (await recordsIn(["succeeded"])).length;
    const clustersBefore = (await db.selectFrom("clusters").select("id").execute()).length;
    await until(async () => {
      const clusters = await db.selectFrom("clusters").select("id").execute();
      return (await recordsIn(["succeeded"])).length !== before || clusters.length < clustersBefore;
    });
  }
  const percent = random.below(100);
  await until(async () => (await recordsIn(["running"])).some(({ progress_pct }) => progress_pct >= percent));
  await delay(random.below(300));
}

/** The cloud has exactly what is wanted, and the state knows each by its id. */
async function expectExactly(clusterId: string, agentCount: number) {
  const files = await cloud.list(clusterId);
  expect(files.map(({ address }) => address)).toEqual(wantedAddresses(agentCount));
  const state = readState((await loadState(db, vault, clusterId)) ?? "");
  expect(files.filter(({ id }) => !state?.knows("terraform_data", id))).toEqual([]);
  return files;
}

/** Creates, scales and destroys a cluster, and looks after each step. */
async function life(random: Random): Promise<void> {
  const [first, second] = [random.below(4), random.below(4)];
  const cluster = await newCluster(db, first);
  await finished(await addJob(db, cluster, "create", first + 1));
  const created = await expectExactly(cluster, first);
  await finished(await addJob(db, cluster, "scale", second + 1));
  const scaled = await expectExactly(cluster, second);
  const kept = new Set(wantedAddresses(Math.min(first, second)));
  expect(scaled.filter(({ address }) => kept.has(address))).toEqual(created.filter(({ address }) => kept.has(address)));
  await finished(await addJob(db, cluster, "destroy", null));
  expect(await cloud.list(cluster)).toEqual([]);
  expect(await db.selectFrom("clusters").select("id").where("id", "=", cluster).execute()).toEqual([]);
}

const runningJobs = () =>
  db.selectFrom("jobs").select(["id", "fence"]).where("status", "=", "running").orderBy("id").execute();

type Victim = "worker" | "program" | "both";

const VICTIMS: readonly Victim[] = ["worker", "worker", "worker", "program", "both"];

/** Returns how long it took until a job went on. */
async function killOnce(victim: Victim): Promise<number> {
  if (!worker?.pid) throw new Error("There is no worker.");
  const before = await runningJobs();
  const below = descendantsOf(worker.pid);
  const programs = below.filter(({ command }) => command.startsWith(tofu ?? ""));
  const killedAt = performance.now();
  if (victim !== "worker") for (const { pid } of programs) killQuietly(pid);
  if (victim === "program") return 0;
  const exit = once(worker, "exit");
  worker.kill("SIGKILL");
  await exit;
  // Nothing of the old run is left when the next one begins.
  await vi.waitFor(() => expect(below.filter(({ pid }) => isAlive(pid))).toEqual([]), {
    timeout: LEASE_MS,
    interval: 10,
  });
  await startWorkerProcess();
  if (before.length === 0) return 0;
  await vi.waitFor(async () => {
    const now = await db.selectFrom("jobs").select(["id", "fence", "status"]).execute();
    const goesOn = before.some(({ id, fence }) =>
      now.some((job) => job.id === id && (job.fence > fence || job.status !== "running")),
    );
    expect(goesOn).toBe(true);
  }, SOON);
  return performance.now() - killedAt;
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended meanwhile.
  }
}

describe.skipIf(!tofu)("kills", () => {
  test(`[PN41] after ${KILLS} kills of worker and OpenTofu at random moments exactly the wanted resources exist, and a job goes on within 30 s`, {
    timeout: 60_000 + KILLS * 30_000,
  }, async () => {
    const random = randomOf(SEED);
    let left = KILLS;
    let lives = 0;
    let longestMs = 0;
    await startWorkerProcess();
    const living = Array.from({ length: LIVES_AT_ONCE }, async (_, index) => {
      const ownRandom = randomOf(SEED + index + 1);
      do {
        await life(ownRandom);
        lives++;
      } while (left > 0);
    });
    const killing = (async () => {
      while (left > 0) {
        await randomMoment(random);
        longestMs = Math.max(longestMs, await killOnce(random.pick(VICTIMS)));
        left--;
        if (left % 10 === 0) process.stderr.write(`${KILLS - left} kills, ${lives} clusters\n`);
      }
    })();
    await Promise.all([killing, ...living]).finally(() => {
      left = 0;
    });
    process.stderr.write(
      `${KILLS} kills, seed ${SEED}: ${lives} clusters lived; a job went on after at most ${Math.round(longestMs)} ms\n`,
    );
    expect(longestMs).toBeLessThan(LONGEST_RESUME_MS);
    expect(await runningJobs()).toEqual([]);
  });

  test("[PN42] a worker without a job has no further process and does not listen on a port", async () => {
    const { pid = 0 } = await startWorkerProcess();
    const cluster = await newCluster(db, 0);
    const job = await addJob(db, cluster, "create", 1);
    await vi.waitFor(() => expect([descendantsOf(pid).length > 0, listening(pid)]).toEqual([true, 1]), SOON);
    await finished(job);
    await vi.waitFor(() => expect([descendantsOf(pid), listening(pid)]).toEqual([[], 0]), SOON);
  });
});

/** The number of TCP sockets on which a process listens. */
function listening(pid: number): number {
  const folder = `/proc/${pid}/fd`;
  const own = new Set(readdirSync(folder).map((fd) => linkOf(`${folder}/${fd}`)));
  const isListening = (fields: readonly string[]) => fields[3] === "0A" && own.has(`socket:[${fields[9]}]`);
  return readFileSync("/proc/net/tcp", "utf8")
    .split("\n")
    .filter((line) => isListening(line.trim().split(/\s+/))).length;
}

/** Empty for a descriptor that was closed meanwhile. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}
