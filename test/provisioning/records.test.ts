import { chmod, mkdtemp, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { createMemoryBus } from "../../packages/server/src/bus/bus.adapter.ts";
import { knownCluster } from "../../packages/server/src/clusters/cluster.store.ts";
import { statusOf } from "../../packages/server/src/clusters/status.ts";
import type { Queries } from "../../packages/server/src/database/transaction.ts";
import { EVENTS_TOPIC, type Event } from "../../packages/server/src/events/event.ts";
import { newId } from "../../packages/server/src/id.adapter.ts";
import { claim } from "../../packages/server/src/jobs/job.store.ts";
import { startWorker, type Worker } from "../../packages/server/src/jobs/worker.runner.ts";
import { CLUSTER_ABANDONED } from "../../packages/server/src/projects/project.ts";
import { failAbandoned } from "../../packages/server/src/provisioning/provisioning.runner.ts";
import { logLines } from "../../packages/server/src/provisioning/provisioning.store.ts";
import { openRunLog } from "../../packages/server/src/provisioning/provisioning-log.runner.ts";
import { beginRun } from "../../packages/server/src/provisioning/provisioning-run.store.ts";
import { makeWorkFolder } from "../../packages/server/src/provisioning/work-folder.adapter.ts";
import { loadState } from "../../packages/server/src/tofu/infrastructure-state.store.ts";
import { type FreshDatabase, freshDatabase } from "../world/database.ts";
import { startWorld } from "../world/world.ts";
import { type LocalCloud, localCloud, localProvider } from "./local-provider.ts";
import { addJob, handlerFor, newCluster, recordOf, SECRET_KEY, settingsFor, silent, vault } from "./stage.ts";

const SOON = { timeout: 50_000, interval: 20 };
const bus = createMemoryBus(silent);
const clock = () => new Date();

let fresh: FreshDatabase;
let db: Queries;
let cloud: LocalCloud;
let worker: Worker | null = null;
beforeAll(async () => {
  fresh = await freshDatabase();
  db = fresh.database.kysely;
  cloud = await localCloud();
});
afterAll(() => fresh?.drop());
afterEach(async () => {
  await worker?.stop(0);
  worker = null;
});

function start(program: string | null, hasProvider = true, searchPath = process.env["PATH"] ?? "") {
  const provider = hasProvider ? localProvider({ folder: cloud.folder }) : null;
  const handler = handlerFor({ db, bus, provider, settings: { ...settingsFor(program), searchPath } });
  worker = startWorker({ db, bus, log: silent, handlers: { provisioning: handler }, pollMs: 50 });
}

const failed = (jobId: string) =>
  vi.waitFor(async () => {
    const record = await recordOf(db, jobId);
    expect(record).toMatchObject({ status: "failed" });
    return record;
  }, SOON);

/** A program in the place of OpenTofu. */
async function programOf(script: string): Promise<string> {
  const path = join(await mkdtemp(join(tmpdir(), "program-")), "tofu");
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
  return path;
}

describe("a job that cannot be run", () => {
  test("[PN36] a job fails at once where the provider is not known, also one that was queued long ago", async () => {
    const cluster = await newCluster(db, 0);
    const job = await addJob(db, cluster, "create", 1);
    await db
      .updateTable("jobs")
      .set({ run_at: new Date(0) })
      .where("lane", "=", cluster)
      .execute();
    start("tofu", false);
    expect(await failed(job)).toMatchObject({ error_code: "unsupported", attempts: 1 });
    expect(statusOf(await knownCluster(db, cluster), new Date())).toBe("error");
  });

  test("[PN36] a job fails at once where OpenTofu is not installed, and says what to install", async () => {
    const job = await addJob(db, await newCluster(db, 0), "create", 1);
    start(null, true, "/nowhere");
    expect(await failed(job)).toMatchObject({
      error_code: "unsupported",
      error_message: expect.stringContaining("Install `tofu`"),
    });
  });

  test("[PN36] a job fails at once where the credential has no secret", async () => {
    const cluster = await newCluster(db, 0);
    await db.updateTable("cloud_credentials").set({ sealed_secret: null }).execute();
    start("/bin/true");
    expect(await failed(await addJob(db, cluster, "create", 1))).toMatchObject({ error_code: "bad_credentials" });
  });
});

test("[PN48] a cluster of which nothing was ever made can be deleted with a wrong credential and without OpenTofu", async () => {
  const cluster = await newCluster(db, 0);
  await db.updateTable("cloud_credentials").set({ sealed_secret: null }).execute();
  start(null, true, "/nowhere");
  await failed(await addJob(db, cluster, "create", 1));
  await addJob(db, cluster, "scale", 2, true).then(failed);
  await addJob(db, cluster, "destroy", null);
  await vi.waitFor(async () => {
    expect(await db.selectFrom("clusters").select("id").where("id", "=", cluster).execute()).toEqual([]);
  }, SOON);
});

test("[CL110] the destroy of an abandoned cluster removes its record, although it still has projects", async () => {
  const cluster = await newCluster(db, 0);
  const { org_id } = await knownCluster(db, cluster);
  const times = { created_at: clock(), updated_at: clock() };
  await db
    .insertInto("projects")
    .values({
      id: newId(),
      org_id,
      cluster_id: cluster,
      name: "shop",
      namespace: "shop",
      ...CLUSTER_ABANDONED,
      ...times,
    })
    .execute();
  await db.updateTable("clusters").set({ abandoned_at: clock() }).where("id", "=", cluster).execute();
  start(null, true, "/nowhere");
  await addJob(db, cluster, "destroy", null);
  await vi.waitFor(async () => {
    expect(await db.selectFrom("clusters").select("id").where("id", "=", cluster).execute()).toEqual([]);
  }, SOON);
});

test("[PN48] a destroy asks the cloud once a plan was made, because something may exist", async () => {
  const cluster = await newCluster(db, 0);
  const create = await addJob(db, cluster, "create", 1);
  start(null, true, "/nowhere");
  await failed(create);
  await db.updateTable("provisioning_jobs").set({ plan: "{}" }).where("id", "=", create).execute();
  expect(await failed(await addJob(db, cluster, "destroy", null))).toMatchObject({ error_code: "unsupported" });
});

test("[PN36] a control plane whose worker is on fails a job of an unknown provider by itself", async () => {
  const world = await startWorld({ provisions: true });
  const cluster = await newCluster(world.database.kysely, 0);
  await world.database.kysely.updateTable("clusters").set({ provider: "metal" }).where("id", "=", cluster).execute();
  const job = await addJob(world.database.kysely, cluster, "create", 1);
  await vi.waitFor(async () => {
    expect(await recordOf(world.database.kysely, job)).toMatchObject({ status: "failed", error_code: "unsupported" });
  }, SOON);
  await world.stop();
});

describe("the program", () => {
  test("[PN37] OpenTofu gets no secret on its command line and a minimal environment, in a folder that only this user enters", async () => {
    const out = await mkdtemp(join(tmpdir(), "seen-"));
    const program = await programOf(
      `echo "$@" > ${out}/args; env > ${out}/env; pwd > ${out}/pwd; stat -c %a . binnacle.auto.tfvars.json > ${out}/modes
       cp binnacle.auto.tfvars.json ${out}/variables; echo "it broke with $LOCAL_SECRET" >&2; exit 1`,
    );
    for (const name of ["AWS_PROFILE", "DATABASE_URL", "BINNACLE_SECRET_KEY"]) vi.stubEnv(name, "inherited");
    const cluster = await newCluster(db, 1);
    const job = await addJob(db, cluster, "create", 2);
    start(program);
    const record = await failed(job);
    vi.unstubAllEnvs();
    const seen = async (name: string) => (await readFile(join(out, name), "utf8")).trim();
    const variables = JSON.parse(await seen("variables")) as { node_tokens: Record<string, string> };
    const env = await seen("env");
    const password = /^TF_HTTP_PASSWORD=(.*)$/m.exec(env)?.[1] ?? "";
    expect(password).toMatch(/^[0-9a-f]{64}$/);
    for (const secret of [SECRET_KEY, password, ...Object.values(variables.node_tokens)]) {
      expect(await seen("args")).not.toContain(secret);
    }
    expect(env).not.toContain("inherited");
    expect(env).toContain(`HOME=${await seen("pwd")}`);
    expect(await seen("modes")).toBe("700\n600");
    expect(record).toMatchObject({
      error_code: "init_failed",
      error_message: expect.stringMatching(/it broke with \*{4}$/),
    });
    // The folder is removed with all that is in it.
    await expect(stat(await seen("pwd"))).rejects.toThrow("ENOENT");
  });

  test("[PN37] the folder of a run is left only where its worker was killed, and the next run removes it", async () => {
    const module = localProvider({ folder: cloud.folder }).module;
    // In a container the next worker has the process id of the one that was killed.
    for (const pid of [4_194_303, process.pid]) {
      const abandoned = await mkdtemp(join(tmpdir(), `binnacle-provisioning-${pid}-`));
      await makeWorkFolder(module).then(({ remove }) => remove());
      await expect(stat(abandoned)).rejects.toThrow("ENOENT");
    }
    const folder = await makeWorkFolder(module);
    expect(await readdir(folder.path)).toContain("main.tf");
    const other = await makeWorkFolder(module);
    expect(await readdir(folder.path)).toContain("main.tf");
    await Promise.all([folder.remove(), other.remove()]);
  });

  test("[PN43] a state that OpenTofu left in its folder, because the backend did not take it, is stored from there", async () => {
    const state = JSON.stringify({ version: 4, serial: 9, lineage: "l", resources: [] });
    const program = await programOf(`printf '%s' '${state}' > errored.tfstate; exit 1`);
    const cluster = await newCluster(db, 0);
    const job = await addJob(db, cluster, "create", 1);
    start(program);
    await failed(job);
    expect(await loadState(db, vault, cluster)).toBe(state);
  });

  test("[PN44] OpenTofu never runs twice at once for one cluster, however many workers and jobs there are", async () => {
    const place = await mkdtemp(join(tmpdir(), "alone-"));
    const program = await programOf(
      `mkdir ${place}/running || { echo beside >&2; exit 1; }; sleep 0.1; rmdir ${place}/running; echo alone >&2; exit 1`,
    );
    const cluster = await newCluster(db, 1);
    const jobs: string[] = [];
    for (let index = 0; index < 6; index++) jobs.push(await addJob(db, cluster, "scale", 2));
    start(program);
    const first = worker;
    start(program);
    for (const job of jobs) expect(await failed(job)).toMatchObject({ error_message: expect.stringMatching(/alone$/) });
    await first?.stop(0);
  });

  test("[PN38] an OpenTofu that is killed from outside is run again", async () => {
    const mark = join(await mkdtemp(join(tmpdir(), "mark-")), "killed");
    const program = await programOf(`[ -e ${mark} ] && { echo done >&2; exit 1; }; touch ${mark}; kill -9 $$`);
    const job = await addJob(db, await newCluster(db, 0), "create", 1);
    start(program);
    expect(await failed(job)).toMatchObject({ attempts: 2, error_message: expect.stringMatching(/done$/) });
  });
});

/** A job that this test holds in the queue. */
async function heldJob() {
  const cluster = await newCluster(db, 0);
  const jobId = await addJob(db, cluster, "create", 1);
  await db.updateTable("jobs").set({ kind: cluster }).where("lane", "=", cluster).execute();
  const [held] = await claim(db, { workerId: cluster, maxAttemptsByKind: { [cluster]: 5 }, leaseMs: 60_000, limit: 1 });
  if (!held) throw new Error("The job was not claimed.");
  await db.updateTable("jobs").set({ kind: "provisioning" }).where("lane", "=", cluster).execute();
  const hold = { id: held.id, fence: held.fence };
  await beginRun(db, hold, jobId, clock());
  return { cluster, jobId, hold };
}

describe("the log", () => {
  const quiet = { mask: (text: string) => text, onCancel: () => undefined, onLost: () => undefined };

  test("[PN39] a log of 100,000 lines is stored and read back whole, in order", async () => {
    const { jobId, hold } = await heldJob();
    const log = openRunLog({ db, bus, clock }, { hold, jobId, ...quiet });
    const lines = Array.from({ length: 100_000 }, (_, index) => `line ${index}`);
    for (let at = 0; at < lines.length; at += 700) await log.write(lines.slice(at, at + 700));
    await log.close();
    expect(await logLines(db, jobId)).toEqual(lines);
  });

  test("[PN39] the log of a run waits while the database is away, and so does OpenTofu", async () => {
    const { jobId, hold } = await heldJob();
    const log = openRunLog({ db, bus, clock }, { hold, jobId, ...quiet });
    const refused = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
    const away = (() => Promise.reject(refused)) as () => never;
    const connect = vi.spyOn(fresh.database.pool, "connect").mockImplementation(away);
    const lines = Array.from({ length: 6_000 }, (_, index) => `line ${index}`);
    let hasRoom = false;
    const writing = log.write(lines).then(() => {
      hasRoom = true;
    });
    await vi.waitFor(() => expect(connect.mock.calls.length).toBeGreaterThan(2), SOON);
    expect(hasRoom).toBe(false);
    connect.mockRestore();
    await writing;
    await log.close();
    expect(await logLines(db, jobId)).toEqual(lines);
  });

  test("[PN39] the log of a run is refused once another worker has claimed the job", async () => {
    const { jobId, hold } = await heldJob();
    const onLost = vi.fn();
    const log = openRunLog({ db, bus, clock }, { hold, jobId, ...quiet, onLost });
    await log.write(["mine"]);
    await vi.waitFor(async () => expect(await logLines(db, jobId)).toEqual(["mine"]), SOON);
    await db
      .updateTable("jobs")
      .set({ fence: hold.fence + 1 })
      .where("id", "=", hold.id)
      .execute();
    await log.write(["not mine"]);
    await expect(log.close()).rejects.toThrow("Another worker");
    expect(onLost).toHaveBeenCalledOnce();
    expect(await logLines(db, jobId)).toEqual(["mine"]);
  });

  test("[PN29] the log of a run reports once that somebody wants the job to stop", async () => {
    const { jobId, hold } = await heldJob();
    const onCancel = vi.fn();
    const log = openRunLog({ db, bus, clock }, { hold, jobId, ...quiet, onCancel });
    await db
      .updateTable("provisioning_jobs")
      .set({ cancel_requested_at: new Date() })
      .where("id", "=", jobId)
      .execute();
    await vi.waitFor(() => expect(onCancel).toHaveBeenCalled(), SOON);
    await log.write(["more"]);
    await log.close();
    expect(onCancel).toHaveBeenCalledOnce();
  });
});

describe("a record", () => {
  test("[PN40] a job that has ended is not run again, whatever the queue says", async () => {
    const { jobId, hold } = await heldJob();
    for (const status of ["succeeded", "failed"] as const) {
      await db.updateTable("provisioning_jobs").set({ status }).where("id", "=", jobId).execute();
      expect(await beginRun(db, hold, jobId, clock())).toBeNull();
    }
    expect(await recordOf(db, jobId)).toMatchObject({ attempts: 1 });
  });

  test("[PN144] a job that waits for its machines is neither run again nor taken for abandoned", async () => {
    const { jobId, hold } = await heldJob();
    const waits_until = new Date(Date.now() + 60_000);
    await db.updateTable("provisioning_jobs").set({ waits_until }).where("id", "=", jobId).execute();
    expect(await beginRun(db, hold, jobId, clock())).toBeNull();
    const end = { status: "succeeded", lease_until: null, worker_id: null, finished_at: new Date() } as const;
    await db.updateTable("jobs").set(end).where("id", "=", hold.id).execute();
    await failAbandoned({ db, bus, clock });
    expect(await recordOf(db, jobId)).toMatchObject({ status: "running", attempts: 1 });
  });

  test("[PN40] a provisioning job whose queued job has ended without it fails, and no other does", async () => {
    const [abandoned, running] = [await heldJob(), await heldJob()];
    const waiting = await addJob(db, await newCluster(db, 0), "create", 1);
    const end = { status: "failed", lease_until: null, worker_id: null, finished_at: new Date() } as const;
    await db.updateTable("jobs").set(end).where("id", "=", abandoned.hold.id).execute();
    const events: Event[] = [];
    const unsubscribe = bus.subscribe(EVENTS_TOPIC, (message) => events.push(message as Event));
    await failAbandoned({ db, bus, clock });
    await vi.waitFor(() => expect(events.filter(({ cluster_id }) => cluster_id === abandoned.cluster)).toHaveLength(1));
    unsubscribe();
    expect(await recordOf(db, abandoned.jobId)).toMatchObject({ status: "failed", error_code: "failed" });
    expect(await recordOf(db, running.jobId)).toMatchObject({ status: "running" });
    expect(await recordOf(db, waiting)).toMatchObject({ status: "pending" });
    expect(events).toMatchObject([{ type: "cluster-status", status: "error" }]);
  });
});
