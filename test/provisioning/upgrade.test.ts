import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { createMemoryBus } from "../../packages/server/src/bus/bus.adapter.ts";
import { KUBERNETES } from "../../packages/server/src/cloud/kubernetes-release.ts";
import { connectOperator } from "../../packages/server/src/clusters/clusters.fixture.ts";
import type { Queries } from "../../packages/server/src/database/transaction.ts";
import { startWorker, type Worker } from "../../packages/server/src/jobs/worker.runner.ts";
import { logLines } from "../../packages/server/src/provisioning/provisioning.store.ts";
import { type FreshDatabase, freshDatabase } from "../world/database.ts";
import { type LocalCloud, localCloud, localProvider } from "./local-provider.ts";
import {
  addJob,
  bootMachines,
  type HandlerOptions,
  handlerFor,
  newCluster,
  recordOf,
  retryJob,
  settingsFor,
  silent,
  tofuForTests,
  wantedAddresses,
} from "./stage.ts";

const SOON = { timeout: 60_000, interval: 30 };
const program = tofuForTests();
const TARGET = { ...KUBERNETES, version: "v1.38.2+k3s1" };

let fresh: FreshDatabase;
let db: Queries;
let cloud: LocalCloud;
const workers: Worker[] = [];
const bus = createMemoryBus(silent);
/** The release that each run has given to new machines. */
const given: string[] = [];
let takenAt = "";

beforeAll(async () => {
  fresh = await freshDatabase();
  db = fresh.database.kysely;
  cloud = await localCloud();
});
afterAll(() => fresh?.drop());
afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.stop(0);
});

function start(operators: HandlerOptions["operators"] = {}): Worker {
  const local = localProvider({ folder: cloud.folder });
  const variables: typeof local.variables = (wanted) => {
    given.push(wanted.kubernetes.version);
    return local.variables(wanted);
  };
  const newestSnapshot = async () => ({ name: "etcd-snapshot-1.zip", takenAt });
  const provider = { ...local, variables, newestSnapshot };
  const handler = handlerFor({ db, bus, provider, settings: settingsFor(program), operators });
  const handlers = { provisioning: handler, "provisioning-guarded": handler };
  const worker = startWorker({ db, bus, log: silent, handlers, pollMs: 50 });
  workers.push(worker);
  return worker;
}

async function ended(jobId: string) {
  return vi.waitFor(async () => {
    await bootMachines(db, jobId);
    const record = await recordOf(db, jobId);
    if (record?.status !== "succeeded" && record?.status !== "failed") throw new Error(`It is ${record?.status}.`);
    return record;
  }, SOON);
}

/** A cluster with two agents, snapshots and an operator. */
async function created(): Promise<string> {
  const cluster = await newCluster(db, 2);
  const worker = start();
  expect(await ended(await addJob(db, cluster, "create", 3))).toMatchObject({ status: "succeeded" });
  await worker.stop(5_000);
  await db.updateTable("clusters").set({ snapshot_bucket: "b" }).where("id", "=", cluster).execute();
  await connectOperator(db, cluster, new Date(), 600_000);
  given.length = 0;
  takenAt = new Date().toISOString();
  return cluster;
}

const upgrade = (cluster: string) =>
  addJob(db, cluster, "upgrade", 3, false, { node: "control-plane", release: TARGET });
const releaseOf = async (cluster: string) =>
  (await db.selectFrom("clusters").select("kubernetes_release").where("id", "=", cluster).executeTakeFirstOrThrow())
    .kubernetes_release?.version;
const idsOf = async (cluster: string) => (await cloud.list(cluster)).map(({ id }) => id);
const connected = async () => true;

describe.skipIf(!program)("an upgrade of Kubernetes", () => {
  test("[PN175] every machine is replaced, the control plane first and without a drain, then one agent after the other", async () => {
    const cluster = await created();
    const before = await cloud.list(cluster);
    const drainNodes = vi.fn<(id: string, nodes: readonly string[]) => Promise<void>>(async () => undefined);
    start({ isConnected: connected, drainNodes });
    const job = await upgrade(cluster);
    expect(await ended(job)).toMatchObject({ status: "succeeded", node: "agent-2", attempts: 3, progress_pct: 100 });
    expect(drainNodes.mock.calls.map(([, nodes]) => nodes)).toEqual([["agent-1"], ["agent-2"]]);
    const after = await cloud.list(cluster);
    expect(after.map(({ address }) => address)).toEqual(wantedAddresses(2));
    const kept = before.filter(({ id }) => after.some((one) => one.id === id)).map(({ address }) => address);
    expect(kept).toEqual(["terraform_data.network"]);
    expect(given).toEqual([TARGET.version, TARGET.version, TARGET.version]);
    expect(await releaseOf(cluster)).toBe(TARGET.version);
    const log = await logLines(db, job);
    const steps = log.filter((line) => / has v1\.38\.2/.test(line));
    expect(steps).toEqual([
      "control-plane has v1.38.2+k3s1. agent-1 is next.",
      "agent-1 has v1.38.2+k3s1. agent-2 is next.",
      "agent-2 has v1.38.2+k3s1.",
    ]);
  });

  test("[PN175] where an agent cannot be drained the job fails with the cause, and a retry goes on there", async () => {
    const cluster = await created();
    let isStuck = true;
    const drainNodes = async (_: string, nodes: readonly string[]) => {
      if (isStuck && nodes.includes("agent-2")) throw new Error("shop/web keeps its budget.");
    };
    start({ isConnected: connected, drainNodes });
    const job = await upgrade(cluster);
    expect(await ended(job)).toMatchObject({
      status: "failed",
      node: "agent-2",
      error_message: expect.stringContaining("shop/web keeps its budget."),
    });
    expect(await releaseOf(cluster)).toBe(TARGET.version);
    const before = await cloud.list(cluster);
    isStuck = false;
    await retryJob(db, job);
    expect(await ended(job)).toMatchObject({ status: "succeeded", node: "agent-2" });
    const left = await idsOf(cluster);
    const replaced = before.filter(({ id }) => !left.includes(id)).map(({ address }) => address);
    expect(replaced).toEqual(['terraform_data.agent["agent-2"]']);
  });

  test("[PN176] without a snapshot of the last minutes the job waits for the next one and changes nothing", async () => {
    const cluster = await created();
    const before = await cloud.list(cluster);
    takenAt = new Date(Date.now() - 50 * 60_000).toISOString();
    start({ isConnected: connected });
    const job = await upgrade(cluster);
    const queued = db.selectFrom("jobs").select("id").where("lane", "=", cluster).where("status", "=", "pending");
    await vi.waitFor(async () => {
      expect((await recordOf(db, job))?.retry_at).toBeInstanceOf(Date);
      expect(await queued.execute()).toHaveLength(1);
    }, SOON);
    expect(await recordOf(db, job)).toMatchObject({ status: "pending", node: "control-plane", error_code: null });
    expect((await logLines(db, job)).at(-1)).toMatch(/newest snapshot is of .* goes on by itself at /);
    const long = { snapshot_wait_since: new Date(Date.now() - 3 * 60 * 60_000) };
    await db.updateTable("provisioning_jobs").set(long).where("id", "=", job).execute();
    await db
      .updateTable("jobs")
      .set({ run_at: new Date(0) })
      .where("lane", "=", cluster)
      .where("status", "=", "pending")
      .execute();
    expect(await ended(job)).toMatchObject({ status: "failed", error_code: "no_snapshot" });
    expect(await cloud.list(cluster)).toEqual(before);
    expect(await releaseOf(cluster)).toBe(KUBERNETES.version);
  });

  test("[PN175] local volumes of the control plane keep it from being replaced, unless the job has `force`", async () => {
    const cluster = await created();
    const before = await cloud.list(cluster);
    const volume = { node: "control-plane", name: "pvc-1", claim: "shop/data" };
    start({ isConnected: connected, localVolumes: async () => ({ named: [volume], total: 1 }) });
    expect(await ended(await upgrade(cluster))).toMatchObject({ status: "failed", error_code: "local_volumes" });
    expect(await cloud.list(cluster)).toEqual(before);
  });
});
