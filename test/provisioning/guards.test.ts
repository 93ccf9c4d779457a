import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { createMemoryBus } from "../../packages/server/src/bus/bus.adapter.ts";
import { KUBERNETES } from "../../packages/server/src/cloud/kubernetes-release.ts";
import type { CloudProvider } from "../../packages/server/src/cloud/provider.ts";
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

const SOON = { timeout: 50_000, interval: 30 };
const program = tofuForTests();

let fresh: FreshDatabase;
let db: Queries;
let cloud: LocalCloud;
const workers: Worker[] = [];
const bus = createMemoryBus(silent);
beforeAll(async () => {
  fresh = await freshDatabase();
  db = fresh.database.kysely;
  cloud = await localCloud();
});
afterAll(() => fresh?.drop());
afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.stop(0);
});

const connected = async () => true;

function start(operators: HandlerOptions["operators"] = {}, changed: Partial<CloudProvider> = {}): Worker {
  const handler = handlerFor({
    db,
    bus,
    provider: { ...localProvider({ folder: cloud.folder }), ...changed },
    settings: settingsFor(program),
    operators,
  });
  const handlers = { provisioning: handler, "provisioning-guarded": handler };
  const worker = startWorker({ db, bus, log: silent, handlers, pollMs: 50 });
  workers.push(worker);
  return worker;
}

async function ended(jobId: string) {
  return vi.waitFor(async () => {
    await bootMachines(db, jobId);
    const record = await recordOf(db, jobId);
    if (record?.status === "running" || record?.status === "pending") throw new Error(`The job is ${record.status}.`);
    return record;
  }, SOON);
}

async function created(agentCount: number): Promise<string> {
  const cluster = await newCluster(db, agentCount);
  const worker = start();
  expect(await ended(await addJob(db, cluster, "create", agentCount + 1))).toMatchObject({ status: "succeeded" });
  await worker.stop(5_000);
  return cluster;
}

const logOf = async (jobId: string) => (await logLines(db, jobId)).join("\n");
const addressesOf = async (cluster: string) => (await cloud.list(cluster)).map(({ address }) => address);
const idOf = async (cluster: string, address: string) =>
  (await cloud.list(cluster)).find((one) => one.address === address)?.id;

describe.skipIf(!program)("the control plane", () => {
  test("[PN149] a plan that makes the control plane anew is refused before anything is changed, and a dry run shows it", async () => {
    const cluster = await created(1);
    // As after somebody has removed everything in the cloud.
    await db.deleteFrom("infrastructure_states").where("cluster_id", "=", cluster).execute();
    const folder = join(cloud.folder, cluster);
    for (const id of await readdir(folder)) await rm(join(folder, id));
    const drainNodes = vi.fn(async () => undefined);
    start({ isConnected: connected, drainNodes });
    const preview = await addJob(db, cluster, "scale", 3, true);
    const refused = {
      status: "failed",
      error_code: "control_plane_protected",
      error_message: expect.stringContaining("terraform_data.control_plane, it would make it anew"),
    };
    expect(await ended(preview)).toMatchObject({ ...refused, plan: { summary: { add: 4 } } });
    const job = await addJob(db, cluster, "scale", 3, false, { force: true });
    expect(await ended(job)).toMatchObject({ ...refused, plan: null });
    expect(await cloud.list(cluster)).toEqual([]);
    expect(drainNodes).not.toHaveBeenCalled();
  });

  test("[PN149] a second machine that says that it is the control plane is not removed", async () => {
    const cluster = await created(0);
    await cloud.add(cluster, "copy-1", "terraform_data.control_plane");
    start();
    const job = await addJob(db, cluster, "scale", 2);
    expect(await ended(job)).toMatchObject({
      error_code: "control_plane_protected",
      error_message: expect.stringContaining("copy-1"),
    });
    expect(await addressesOf(cluster)).toHaveLength(3);
  });
});

describe.skipIf(!program)("volumes of machines", () => {
  const VOLUME = { node: "agent-2", name: "pvc-1", claim: "shop/data" };

  test("[PN150] a node with local volumes stays, and nothing is drained, unless the job has `force`", async () => {
    const cluster = await created(2);
    const before = await cloud.list(cluster);
    const drainNodes = vi.fn(async () => undefined);
    const localVolumes = vi.fn(async () => ({ named: [VOLUME], total: 1 }));
    start({ isConnected: connected, drainNodes, localVolumes });
    const preview = await addJob(db, cluster, "scale", 2, true);
    const lost = { action: "delete", id: "pvc-1", claim: "shop/data", node: "agent-2" };
    expect(await ended(preview)).toMatchObject({ status: "succeeded", plan: { volumes: [lost] } });
    expect(await logOf(preview)).toContain("shop/data on agent-2. It takes `force`.");
    const job = await addJob(db, cluster, "scale", 2);
    expect(await ended(job)).toMatchObject({
      status: "failed",
      error_code: "local_volumes",
      error_message: expect.stringContaining("shop/data on agent-2"),
    });
    expect([await cloud.list(cluster), drainNodes.mock.calls]).toEqual([before, []]);
    expect(localVolumes).toHaveBeenLastCalledWith(cluster, ["agent-2"]);
    const forced = await addJob(db, cluster, "scale", 2, false, { force: true });
    expect(await ended(forced)).toMatchObject({ status: "succeeded", plan: { volumes: [lost] } });
    expect(await logOf(forced)).toContain("shop/data on agent-2. The job was asked for with `force`.");
    expect(drainNodes).toHaveBeenCalledOnce();
    expect(await addressesOf(cluster)).toEqual(wantedAddresses(1));
  });

  test("[PN150] where the operator does not say whether nodes have local volumes, they stay", async () => {
    const cluster = await created(1);
    const localVolumes = async () => {
      throw new Error("The cluster's operator is too old to answer this.");
    };
    start({ isConnected: connected, localVolumes });
    const job = await addJob(db, cluster, "scale", 1);
    expect(await ended(job)).toMatchObject({
      error_code: "local_volumes",
      error_message: expect.stringMatching(/^It is not known whether agent-1 .* too old/),
    });
    expect(await addressesOf(cluster)).toEqual(wantedAddresses(1));
  });
});

describe.skipIf(!program)("a job that is bound to a plan", () => {
  test("[PN171] a change of size is made where its plan is the same, and not where something else has changed since", async () => {
    const cluster = await created(2);
    const drainNodes = vi.fn(async () => undefined);
    start({ isConnected: connected, drainNodes });
    const seen = await addJob(db, cluster, "scale", 2, true);
    expect(await ended(seen)).toMatchObject({ status: "succeeded", plan_digest: expect.any(String) });
    // It says that it is the machine that stays, and so would be removed.
    await cloud.add(cluster, "copy-1", 'terraform_data.agent["agent-1"]');
    const before = await cloud.list(cluster);
    const stale = await addJob(db, cluster, "scale", 2, false, { planJobId: seen });
    expect(await ended(stale)).toMatchObject({
      error_code: "plan_changed",
      error_message: expect.stringContaining("would now remove terraform_data copy-1. Nothing was changed."),
      plan: null,
    });
    expect([await cloud.list(cluster), drainNodes.mock.calls]).toEqual([before, []]);
    await rm(join(cloud.folder, cluster, "copy-1"));
    const same = await addJob(db, cluster, "scale", 2, false, { planJobId: seen });
    expect(await ended(same)).toMatchObject({ status: "succeeded", plan_confirmed_at: expect.any(Date) });
    expect(await logOf(same)).toContain(`is the one that the job ${seen} has planned`);
    expect(await addressesOf(cluster)).toEqual(wantedAddresses(1));
    // It has nothing of its plan left to do, and is not compared with it again.
    await retryJob(db, same);
    expect(await ended(same)).toMatchObject({ status: "succeeded", attempts: 2 });
  });

  test("[PN171] a deletion is made where its plan is the same, and taken back where a machine has come since", async () => {
    const cluster = await created(1);
    const worker = start();
    const seen = await addJob(db, cluster, "destroy", null, true);
    expect(await ended(seen)).toMatchObject({ status: "succeeded" });
    expect(await ended(await addJob(db, cluster, "scale", 3))).toMatchObject({ status: "succeeded" });
    const stale = await addJob(db, cluster, "destroy", null, false, { planJobId: seen });
    expect(await ended(stale)).toMatchObject({
      status: "failed",
      error_code: "plan_changed",
      error_message: expect.stringContaining('would now remove terraform_data.agent["agent-2"]'),
    });
    expect(await addressesOf(cluster)).toEqual(wantedAddresses(2));
    const fresh = await addJob(db, cluster, "destroy", null, true);
    expect(await ended(fresh)).toMatchObject({ status: "succeeded" });
    expect(await ended(await addJob(db, cluster, "destroy", null, false, { planJobId: fresh }))).toBeUndefined();
    expect(await cloud.list(cluster)).toEqual([]);
    await worker.stop(5_000);
  });
});

describe.skipIf(!program)("disks of the cloud", () => {
  async function withDisks() {
    const cluster = await created(0);
    for (const [id, address] of [
      ["vol-delete", "disk"],
      ["vol-retain", "disk shop/archive"],
      ["vol-nobody", "disk"],
      ["lb-1", "load balancer"],
    ] as const)
      await cloud.add(cluster, id, address);
    return cluster;
  }
  const describeDisks = async () => [
    { disk: "vol-delete", claim: "shop/data", deletable: true },
    { disk: "vol-retain", claim: "shop/archive", deletable: false },
  ];
  const volumes = expect.arrayContaining([
    expect.objectContaining({ action: "delete", id: "vol-delete", claim: "shop/data" }),
    expect.objectContaining({ action: "keep", id: "vol-retain", claim: "shop/archive" }),
    expect.objectContaining({ action: "keep", id: "vol-nobody" }),
  ]);

  test("[PN147] [PN148] a destroy keeps the disks that are retained or that nobody knows, and names them in plan, log and audit log", async () => {
    const cluster = await withDisks();
    start({ isConnected: connected, describeDisks });
    const preview = await addJob(db, cluster, "destroy", null, true);
    expect(await ended(preview)).toMatchObject({ status: "succeeded", plan: { volumes } });
    expect(await logOf(preview)).toContain("The disk vol-retain (shop/archive) is kept.");
    const job = await addJob(db, cluster, "destroy", null);
    expect(await ended(job)).toBeUndefined();
    expect((await cloud.list(cluster)).map(({ id }) => id).sort()).toEqual(["vol-nobody", "vol-retain"]);
    const audit = await db.selectFrom("audit_log").select("changes").where("resource_id", "=", cluster).execute();
    const kept_disks = expect.arrayContaining(["vol-retain (shop/archive)", "vol-nobody"]);
    expect(audit).toEqual([{ changes: { provisioning_job_id: job, kept_disks, kept_disk_count: 2 } }]);
  });

  test("[PN147] without an operator a destroy keeps every disk of Kubernetes, and removes everything else", async () => {
    const cluster = await withDisks();
    start();
    expect(await ended(await addJob(db, cluster, "destroy", null))).toBeUndefined();
    expect((await cloud.list(cluster)).map(({ id }) => id).sort()).toEqual(["vol-delete", "vol-nobody", "vol-retain"]);
  });
});

describe.skipIf(!program)("the replacement of a machine", () => {
  test("[PN151] a node gets another machine once, however often its job is run, and the others keep theirs", async () => {
    const cluster = await created(2);
    const address = 'terraform_data.agent["agent-1"]';
    const [old, others] = [
      await idOf(cluster, address),
      (await cloud.list(cluster)).filter((one) => one.address !== address),
    ];
    const drainNodes = vi.fn<(id: string, nodes: readonly string[]) => Promise<void>>(async () => undefined);
    start({ isConnected: connected, drainNodes });
    const job = await addJob(db, cluster, "replace", 3, false, { node: "agent-1" });
    expect(await ended(job)).toMatchObject({
      status: "succeeded",
      replaced_machine: old,
      plan: { changes: [{ action: "replace", address }] },
    });
    expect(drainNodes.mock.calls.map(([, nodes]) => nodes)).toEqual([["agent-1"]]);
    const replaced = await cloud.list(cluster);
    expect(replaced).toEqual(expect.arrayContaining(others));
    expect(replaced.map((one) => one.address)).toEqual(wantedAddresses(2));
    expect(await idOf(cluster, address)).not.toBe(old);
    // As after a worker that was killed before it could tell the end of its apply.
    await retryJob(db, job);
    expect(await ended(job)).toMatchObject({ status: "succeeded", attempts: 2, plan: { changes: [] } });
    expect(await cloud.list(cluster)).toEqual(replaced);
  });

  test("[PN154] [PN155] the control plane is made anew from its newest snapshot only, and its agents stay", async () => {
    const cluster = await created(1);
    const address = "terraform_data.control_plane";
    const [before, old] = [await cloud.list(cluster), await idOf(cluster, address)];
    start();
    const job = await addJob(db, cluster, "replace", 2, false, { node: "control-plane", force: true });
    expect(await ended(job)).toMatchObject({ status: "failed", error_code: "no_snapshot" });
    await db.updateTable("clusters").set({ snapshot_bucket: "b" }).where("id", "=", cluster).execute();
    await retryJob(db, job);
    expect(await ended(job)).toMatchObject({ status: "failed", error_code: "no_snapshot" });
    expect(await cloud.list(cluster)).toEqual(before);

    await mkdir(join(cloud.folder, `bucket-b-${cluster}`));
    await writeFile(join(cloud.folder, `bucket-b-${cluster}`, "etcd-snapshot-7.zip"), "");
    await retryJob(db, job);
    expect(await ended(job)).toMatchObject({ status: "succeeded", replaced_machine: old });
    expect(await logOf(job)).toContain("begins with the snapshot etcd-snapshot-7.zip of 2026-11-19");
    expect(await idOf(cluster, address)).not.toBe(old);
    const agents = before.filter((one) => one.address.includes("agent"));
    expect(await cloud.list(cluster)).toEqual(expect.arrayContaining(agents));
  });

  test("[PN156] new machines get the release of Kubernetes that their cluster was made with, and not a newer one", async () => {
    const { variables } = localProvider({ folder: cloud.folder });
    const given: string[] = [];
    const recorded: typeof variables = (wanted) => {
      given.push(wanted.kubernetes.version);
      return variables(wanted);
    };
    const cluster = await newCluster(db, 1);
    start({}, { variables: recorded });
    expect(await ended(await addJob(db, cluster, "create", 2))).toMatchObject({ status: "succeeded" });
    expect(new Set(given)).toEqual(new Set([KUBERNETES.version]));

    const release = JSON.stringify({ ...KUBERNETES, version: "v1.36.4+k3s1" });
    await db.updateTable("clusters").set({ kubernetes_release: release }).where("id", "=", cluster).execute();
    given.length = 0;
    expect(await ended(await addJob(db, cluster, "scale", 3))).toMatchObject({ status: "succeeded" });
    expect(new Set(given)).toEqual(new Set(["v1.36.4+k3s1"]));
  });
});
