import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { type FreshDatabase, freshDatabase } from "@binnacle/world/database";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createMemoryBus } from "../bus/bus.adapter.ts";
import { enqueue } from "./job.store.ts";
import { listeningLog, readJob, SOON } from "./jobs.fixture.ts";
import { startWorker } from "./worker.runner.ts";

const LEASE_MS = 1_000;
const POLL_MS = 100;
/** For the claim itself, on a machine that has other things to do. */
const SLACK_MS = 4_000;

let fresh: FreshDatabase;
let child: ChildProcess;
beforeAll(async () => {
  fresh = await freshDatabase();
});
afterAll(async () => {
  child?.kill("SIGKILL");
  await fresh.drop();
});

async function startedJob(process: ChildProcess): Promise<string> {
  if (!process.stdout) throw new Error("The child has no output.");
  const [id] = await once(createInterface(process.stdout), "line");
  return String(id);
}

test("[JB23] a job whose worker is killed resumes within a lease and a polling interval", async () => {
  const db = fresh.database.kysely;
  const id = await enqueue(db, { kind: "endless", payload: {} });
  const program = fileURLToPath(new URL("./worker.process.fixture.ts", import.meta.url));
  child = spawn(process.execPath, [program, fresh.url, String(LEASE_MS)], { stdio: ["ignore", "pipe", "inherit"] });
  expect(await startedJob(child)).toBe(id);

  const resumed = Promise.withResolvers<number>();
  const log = listeningLog();
  const worker = startWorker({
    db,
    bus: createMemoryBus(log),
    log,
    leaseMs: LEASE_MS,
    pollMs: POLL_MS,
    handlers: {
      endless: {
        async run(job) {
          resumed.resolve(performance.now());
          return { attempt: job.attempts };
        },
      },
    },
  });
  const claimedUntil = (await readJob(db, id)).lease_until?.getTime() ?? 0;
  await vi.waitFor(async () => {
    expect((await readJob(db, id)).lease_until?.getTime()).toBeGreaterThan(claimedUntil + LEASE_MS);
  }, SOON);
  expect(await readJob(db, id)).toMatchObject({ attempts: 1 });

  const killedAtMs = performance.now();
  child.kill("SIGKILL");
  expect((await resumed.promise) - killedAtMs).toBeLessThan(LEASE_MS + POLL_MS + SLACK_MS);
  await vi.waitFor(async () => {
    expect(await readJob(db, id)).toMatchObject({ status: "succeeded", result: { attempt: 2 }, fence: 2 });
  }, SOON);
  await worker.stop(0);
});
