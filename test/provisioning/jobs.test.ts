import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { createMemoryBus } from "../../packages/server/src/bus/bus.adapter.ts";
import { knownCluster } from "../../packages/server/src/clusters/cluster.store.ts";
import { messageOf, statusOf } from "../../packages/server/src/clusters/status.ts";
import { inTransaction, type Queries } from "../../packages/server/src/database/transaction.ts";
import { EVENTS_TOPIC, type Event } from "../../packages/server/src/events/event.ts";
import { startWorker, type Worker } from "../../packages/server/src/jobs/worker.runner.ts";
import { settleWaiting } from "../../packages/server/src/provisioning/bootstrap-wait.runner.ts";
import { logLines, stopJobs } from "../../packages/server/src/provisioning/provisioning.store.ts";
import { loadState } from "../../packages/server/src/tofu/infrastructure-state.store.ts";
import { type FreshDatabase, freshDatabase } from "../world/database.ts";
import { type LocalCloud, type LocalOptions, localCloud, localProvider } from "./local-provider.ts";
import {
  addJob,
  bootMachines,
  type HandlerOptions,
  handlerFor,
  newCluster,
  recordOf,
  retryJob,
  SECRET_KEY,
  settingsFor,
  silent,
  tofuForTests,
  vault,
  wantedAddresses,
} from "./stage.ts";

const SOON = { timeout: 50_000, interval: 30 };
const program = tofuForTests();

let fresh: FreshDatabase;
let db: Queries;
let cloud: LocalCloud;
const workers: Worker[] = [];
const bus = createMemoryBus(silent);
let events: Event[] = [];
bus.subscribe(EVENTS_TOPIC, (message) => events.push(message as Event));

beforeAll(async () => {
  fresh = await freshDatabase();
  db = fresh.database.kysely;
  cloud = await localCloud();
});
afterAll(() => fresh?.drop());
beforeEach(() => {
  events = [];
});
afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.stop(0);
});

interface Start extends Partial<Omit<HandlerOptions, "settings">> {
  readonly local?: Partial<LocalOptions>;
  readonly settings?: Partial<HandlerOptions["settings"]>;
}

function start({ local, settings, ...options }: Start = {}): Worker {
  const provider = localProvider({ folder: cloud.folder, ...local });
  const handler = handlerFor({ db, bus, provider, ...options, settings: { ...settingsFor(program), ...settings } });
  const worker = startWorker({ db, bus, log: silent, handlers: { provisioning: handler }, pollMs: 50 });
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

/** A cluster that a worker has created. */
async function created(agentCount: number) {
  const cluster = await newCluster(db, agentCount);
  const job = await addJob(db, cluster, "create", agentCount + 1);
  const worker = start();
  expect(await ended(job)).toMatchObject({ status: "succeeded" });
  await worker.stop(5_000);
  return { cluster, job, files: await cloud.list(cluster) };
}

const addressesOf = async (clusterId: string) => (await cloud.list(clusterId)).map(({ address }) => address);
const clusterStatus = async (id: string) => statusOf(await knownCluster(db, id), new Date());
const logOf = async (jobId: string) => (await logLines(db, jobId)).join("\n");

describe.skipIf(!program)("with OpenTofu", () => {
  test("[PN20] a creation makes exactly what is wanted, and its record shows the steps", async () => {
    const cluster = await newCluster(db, 2);
    const job = await addJob(db, cluster, "create", 3);
    expect(await clusterStatus(cluster)).toBe("provisioning");
    start();
    expect(await ended(job)).toMatchObject({
      status: "succeeded",
      phase: "done",
      progress_pct: 100,
      attempts: 1,
      error_code: null,
      started_at: expect.any(Date),
      finished_at: expect.any(Date),
      plan: {
        summary: { add: 4, change: 0, remove: 0 },
        changes: expect.arrayContaining([
          { action: "create", address: 'terraform_data.agent["agent-2"]', type: "terraform_data", id: null },
        ]),
        estimate: { monthly: 30, currency: "USD" },
      },
    });
    expect(await addressesOf(cluster)).toEqual(wantedAddresses(2));
    const log = await logOf(job);
    expect(log).toContain("terraform_data.network: Creation complete");
    expect(log).toContain("Apply complete! Resources: 4 added");
  });

  test("[PN21] a cluster gets an SSH key and a join token once, sealed, and each machine a token for secrets and one for reports", async () => {
    const { cluster } = await created(1);
    const secretsOf = () =>
      db
        .selectFrom("clusters")
        .select(["sealed_ssh_key", "ssh_public_key", "sealed_join_token"])
        .where("id", "=", cluster)
        .executeTakeFirstOrThrow();
    const secrets = await secretsOf();
    const opened = (column: "sealed_ssh_key" | "sealed_join_token") =>
      vault.open(secrets[column] ?? "", { table: "clusters", row: cluster, column });
    expect(opened("sealed_ssh_key")).toMatch(/^-----BEGIN OPENSSH PRIVATE KEY-----\n/);
    expect(secrets.ssh_public_key).toMatch(/^ssh-ed25519 /);
    expect(opened("sealed_join_token")).toMatch(/^[0-9a-f]{64}$/);
    const tokens = await db.selectFrom("node_tokens").selectAll().where("cluster_id", "=", cluster).execute();
    expect(tokens.map(({ node, purpose }) => `${node} ${purpose}`).sort()).toEqual([
      "agent-1 bootstrap",
      "agent-1 report",
      "control-plane bootstrap",
      "control-plane report",
    ]);
    for (const { token_hash, expires_at, used_at, purpose } of tokens) {
      expect([token_hash.length, used_at]).toEqual([64, null]);
      const minutes = purpose === "bootstrap" ? 120 : 60 + 20;
      expect(Math.abs(expires_at.getTime() - Date.now() - minutes * 60_000)).toBeLessThan(120_000);
    }
    const job = await addJob(db, cluster, "scale", 2);
    start();
    await ended(job);
    expect(await secretsOf()).toEqual(secrets);
  });

  test("[PN22] scaling changes no other machine, and a second plan is empty", async () => {
    const { cluster, files } = await created(2);
    start();
    const up = await addJob(db, cluster, "scale", 4);
    expect(await ended(up)).toMatchObject({ status: "succeeded", plan: { summary: { add: 1, change: 0, remove: 0 } } });
    expect(await addressesOf(cluster)).toEqual(wantedAddresses(3));
    expect(await cloud.list(cluster)).toEqual(expect.arrayContaining(files));
    const again = await addJob(db, cluster, "scale", 4);
    expect(await ended(again)).toMatchObject({ plan: { summary: { add: 0, change: 0, remove: 0 }, changes: [] } });
    const down = await addJob(db, cluster, "scale", 2);
    expect(await ended(down)).toMatchObject({ plan: { summary: { add: 0, change: 0, remove: 2 } } });
    expect(await addressesOf(cluster)).toEqual(wantedAddresses(1));
    expect(await knownCluster(db, cluster)).toMatchObject({ agent_count: 1 });
  });

  test("[PN23] machines are drained before they are removed, and stay where draining fails", async () => {
    const { cluster, files } = await created(3);
    const seen: unknown[] = [];
    const drainNodes = vi.fn(async (...[id, nodes]: [string, readonly string[], AbortSignal]): Promise<void> => {
      seen.push([id, nodes, (await cloud.list(cluster)).length]);
      throw new Error("A budget forbids it.");
    });
    start({ operators: { isConnected: async () => true, drainNodes } });
    const job = await addJob(db, cluster, "scale", 2);
    const failed = await ended(job);
    expect(failed).toMatchObject({ status: "failed", error_code: "failed" });
    expect(failed?.error_message).toContain("agent-2, agent-3 could not be drained");
    expect(await cloud.list(cluster)).toEqual(files);
    drainNodes.mockImplementation(async () => undefined);
    await retryJob(db, job);
    expect(await ended(job)).toMatchObject({ status: "succeeded", attempts: 2, error_message: null });
    expect(seen).toEqual([[cluster, ["agent-2", "agent-3"], 5]]);
    expect(await addressesOf(cluster)).toEqual(wantedAddresses(1));
  });

  test("[PN23] machines that a failed change of size has added are drained as well", async () => {
    const { cluster } = await created(1);
    const worker = start({ local: { fails: 'terraform_data.agent["agent-3"]' } });
    expect(await ended(await addJob(db, cluster, "scale", 4))).toMatchObject({ status: "failed" });
    expect(await addressesOf(cluster)).toContain('terraform_data.agent["agent-2"]');
    await worker.stop(5_000);
    const drained: string[] = [];
    const drainNodes = async (_: string, nodes: readonly string[]) => void drained.push(...nodes);
    start({ operators: { isConnected: async () => true, drainNodes } });
    expect(await ended(await addJob(db, cluster, "scale", 1))).toMatchObject({ status: "succeeded" });
    // The third was not made, and no node of that name is not an error.
    expect(drained).toEqual(["agent-1", "agent-2", "agent-3"]);
    expect(await addressesOf(cluster)).toEqual(wantedAddresses(0));
  });

  test("[PN23] a job waits for an operator that was connected, as after a restart of the hub", async () => {
    const { cluster } = await created(1);
    await db.updateTable("clusters").set({ first_connected_at: new Date() }).where("id", "=", cluster).execute();
    const isConnected = vi.fn(async () => true).mockResolvedValueOnce(false);
    const drainNodes = vi.fn(async () => undefined);
    start({ operators: { isConnected, drainNodes } });
    const job = await addJob(db, cluster, "scale", 1);
    expect(await ended(job)).toMatchObject({ status: "succeeded" });
    expect(drainNodes).toHaveBeenCalledOnce();
    expect(await logOf(job)).toContain("The operator is not connected. It has a minute to come back.");
  });

  test("[PN24] a dry run stores its plan and changes nothing", async () => {
    const { cluster, files } = await created(1);
    const drainNodes = vi.fn(async () => undefined);
    const removeCloudObjects = vi.fn(async () => undefined);
    await cloud.add(cluster, "orphan", "terraform_data.gone");
    start({ operators: { isConnected: async () => true, drainNodes, removeCloudObjects } });
    const before = await loadState(db, vault, cluster);
    const scale = await addJob(db, cluster, "scale", 1, true);
    expect(await ended(scale)).toMatchObject({ status: "succeeded", plan: { summary: { remove: 1 } } });
    const destroy = await addJob(db, cluster, "destroy", null, true);
    expect(await ended(destroy)).toMatchObject({ plan: { summary: { remove: 3 }, estimate: null } });
    expect(await cloud.list(cluster)).toEqual(
      expect.arrayContaining([...files, { id: "orphan", address: "terraform_data.gone" }]),
    );
    expect(await loadState(db, vault, cluster)).toBe(before);
    expect([drainNodes.mock.calls, removeCloudObjects.mock.calls]).toEqual([[], []]);
    expect(await knownCluster(db, cluster)).toMatchObject({ agent_count: 1 });
  });

  test("[PN25] a destroy asks the operator first, removes everything, and then the record goes", async () => {
    const { cluster } = await created(2);
    await cloud.add(cluster, "lb-1", "load balancer");
    const seen: number[] = [];
    const removeCloudObjects = vi.fn(async () => {
      seen.push((await cloud.list(cluster)).length);
      throw new Error("It did not answer.");
    });
    start({ operators: { isConnected: async () => true, removeCloudObjects } });
    events = [];
    const job = await addJob(db, cluster, "destroy", null);
    expect(await ended(job)).toBeUndefined();
    expect(seen).toEqual([5]);
    expect(await cloud.list(cluster)).toEqual([]);
    for (const table of ["provisioning_jobs", "infrastructure_states", "node_tokens"] as const) {
      expect(await db.selectFrom(table).selectAll().where("cluster_id", "=", cluster).execute()).toEqual([]);
    }
    const audit = await db.selectFrom("audit_log").selectAll().where("resource_id", "=", cluster).execute();
    expect(audit).toMatchObject([{ action: "cluster.destroy", via: "system", changes: { provisioning_job_id: job } }]);
    expect(events).toMatchObject([{ type: "activity", action: "cluster.destroy", cluster_id: cluster }]);
  });

  test("[PN26] a destroy that leaves resources fails and names them, and can be retried", async () => {
    const { cluster } = await created(0);
    await cloud.add(cluster, "vol-1", "volume");
    const worker = start({ local: { stuck: ["vol-1"] } });
    const job = await addJob(db, cluster, "destroy", null);
    expect(await ended(job)).toMatchObject({
      status: "failed",
      error_code: "leftovers",
      error_message: expect.stringContaining("volume vol-1"),
    });
    expect(await clusterStatus(cluster)).toBe("error");
    await worker.stop(5_000);
    start();
    await retryJob(db, job);
    expect(await ended(job)).toBeUndefined();
    expect(await cloud.list(cluster)).toEqual([]);
  });

  test("[PN27] resources that exist and no state knows are imported where they are wanted, and removed otherwise", async () => {
    const cluster = await newCluster(db, 1);
    await cloud.add(cluster, "net-1", "terraform_data.network");
    await cloud.add(cluster, "net-2", "terraform_data.network");
    await cloud.add(cluster, "old-1", 'terraform_data.agent["agent-9"]');
    await cloud.add(cluster, "lb-1", "load balancer");
    start();
    const job = await addJob(db, cluster, "create", 2);
    expect(await ended(job)).toMatchObject({ status: "succeeded" });
    expect(await addressesOf(cluster)).toEqual(["load balancer", ...wantedAddresses(1)].sort());
    expect(await cloud.list(cluster)).toContainEqual({ id: "net-1", address: "terraform_data.network" });
    expect(JSON.parse((await loadState(db, vault, cluster)) ?? "")).toMatchObject({ lineage: expect.any(String) });
    expect(await logOf(job)).toContain("terraform_data.network exists already as net-1: it is imported.");
  });

  test("[PN45] an id of the cloud is never evaluated as an expression", async () => {
    const cluster = await newCluster(db, 0);
    const hostile = ["net-$", "{40 + 2}\u001b[2J"].join("");
    await cloud.add(cluster, hostile, "terraform_data.network");
    start();
    const job = await addJob(db, cluster, "create", 1);
    expect(await ended(job)).toMatchObject({ status: "succeeded" });
    expect(await addressesOf(cluster)).toEqual(wantedAddresses(0));
    const log = await logOf(job);
    expect(log).toContain(["net-$", "{40 + 2} exists outside the state"].join(""));
    const shown = `${log}${JSON.stringify((await recordOf(db, job))?.plan)}`;
    expect(["net-42", "\u001b"].filter((trace) => shown.includes(trace))).toEqual([]);
  });

  test("[PN28] a failure is explained by the provider, masked, and a retry recreates nothing that exists", async () => {
    const cluster = await newCluster(db, 1);
    const fails = 'terraform_data.agent["agent-1"]';
    const worker = start({ local: { fails } });
    const job = await addJob(db, cluster, "create", 2);
    const failed = await ended(job);
    expect(failed).toMatchObject({ status: "failed", error_code: "no_capacity", attempts: 1 });
    expect(failed?.error_message).toContain("no room");
    expect(`${failed?.error_message} ${await logOf(job)}`).not.toContain(SECRET_KEY);
    expect(await logOf(job)).toContain(`no room for ${fails} ****`);
    expect(await clusterStatus(cluster)).toBe("error");
    const queued = await db.selectFrom("jobs").select(["status"]).where("lane", "=", cluster).execute();
    expect(queued).toEqual([{ status: "succeeded" }]);
    const files = await cloud.list(cluster);
    expect(files.map(({ address }) => address)).toEqual(["terraform_data.control_plane", "terraform_data.network"]);
    await worker.stop(5_000);
    start();
    await retryJob(db, job);
    expect(await ended(job)).toMatchObject({ status: "succeeded", attempts: 2, error_code: null });
    expect(await cloud.list(cluster)).toEqual(expect.arrayContaining(files));
    expect(await addressesOf(cluster)).toEqual(wantedAddresses(1));
  });

  test("[PN29] a job is cancelled while it runs: the state is saved, and a retry goes on", async () => {
    const cluster = await newCluster(db, 1);
    const worker = start({ local: { seconds: 1 } });
    const job = await addJob(db, cluster, "create", 2);
    await vi.waitFor(async () => expect(await logOf(job)).toContain("terraform_data.network: Creation complete"), SOON);
    const [network] = await cloud.list(cluster);
    await db.updateTable("provisioning_jobs").set({ cancel_requested_at: new Date() }).where("id", "=", job).execute();
    expect(await ended(job)).toMatchObject({ status: "failed", error_code: "cancelled" });
    expect(await loadState(db, vault, cluster)).toContain(network?.id);
    await worker.stop(5_000);
    start();
    await retryJob(db, job);
    expect(await ended(job)).toMatchObject({ status: "succeeded" });
    expect(await addressesOf(cluster)).toEqual(wantedAddresses(1));
    expect(await cloud.list(cluster)).toContainEqual(network);
  });

  test("[PN46] a resource that was being made when its job was cancelled is kept by the retry", async () => {
    const cluster = await newCluster(db, 0);
    const worker = start({ local: { seconds: 4 } });
    const job = await addJob(db, cluster, "create", 1);
    await vi.waitFor(async () => expect(await addressesOf(cluster)).toEqual(["terraform_data.network"]), SOON);
    const files = await cloud.list(cluster);
    await db.updateTable("provisioning_jobs").set({ cancel_requested_at: new Date() }).where("id", "=", job).execute();
    expect(await ended(job)).toMatchObject({ status: "failed", error_code: "cancelled" });
    expect(await loadState(db, vault, cluster)).toContain('"tainted"');
    await worker.stop(5_000);
    start();
    await retryJob(db, job);
    expect(await ended(job)).toMatchObject({
      status: "succeeded",
      plan: { changes: [{ action: "create", address: "terraform_data.control_plane" }] },
    });
    expect(await cloud.list(cluster)).toEqual(expect.arrayContaining(files));
    expect(await addressesOf(cluster)).toEqual(wantedAddresses(0));
  });

  test("[PN30] a worker that stops lets OpenTofu save its state, and the next one goes on with it", async () => {
    const cluster = await newCluster(db, 2);
    const worker = start({ local: { seconds: 1 } });
    const job = await addJob(db, cluster, "create", 3);
    await vi.waitFor(async () => expect(await logOf(job)).toContain("terraform_data.network: Creation complete"), SOON);
    const [network] = await cloud.list(cluster);
    await worker.stop(0);
    expect(await recordOf(db, job)).toMatchObject({ status: "running" });
    expect(await loadState(db, vault, cluster)).toContain(network?.id);
    const [queued] = await db.selectFrom("jobs").select(["status", "attempts"]).where("lane", "=", cluster).execute();
    expect(queued).toEqual({ status: "pending", attempts: 0 });
    start();
    expect(await ended(job)).toMatchObject({ status: "succeeded", attempts: 2 });
    expect(await addressesOf(cluster)).toEqual(wantedAddresses(2));
    expect(await cloud.list(cluster)).toContainEqual(network);
  });

  /** A creation whose machines were made and have not reported. */
  async function booting(agentCount: number) {
    const cluster = await newCluster(db, agentCount);
    const job = await addJob(db, cluster, "create", agentCount + 1);
    const worker = start();
    const waiting = await vi.waitFor(async () => {
      const record = await recordOf(db, job);
      expect(record?.waits_until).toBeInstanceOf(Date);
      return record;
    }, SOON);
    const bring = (node: string, status: "completed" | "failed", message: string | null = null) =>
      db
        .updateTable("node_boots")
        .set({ status, stage: "install", message })
        .where("cluster_id", "=", cluster)
        .where("node", "=", node)
        .execute();
    const settle = (now = new Date()) => settleWaiting({ db, bus, clock: () => now }, 20, cluster);
    return { cluster, job, worker, waiting, bring, settle, files: await cloud.list(cluster) };
  }

  test("[PN140] a creation waits in `bootstrap` for its machines and in `operator` for its operator, without a worker", async () => {
    const { cluster, job, waiting, bring, settle, worker } = await booting(1);
    expect(waiting).toMatchObject({ status: "running", phase: "bootstrap", progress_pct: 80 });
    await vi.waitFor(async () => {
      const queued = await db.selectFrom("jobs").select("status").where("lane", "=", cluster).execute();
      expect(queued).toEqual([{ status: "succeeded" }]);
    }, SOON);
    await worker.stop(5_000);
    expect(await clusterStatus(cluster)).toBe("provisioning");
    await bring("control-plane", "completed");
    await settle();
    expect(await recordOf(db, job)).toMatchObject({ phase: "bootstrap", progress_pct: 87 });
    expect(await clusterStatus(cluster)).toBe("provisioning");
    await bring("agent-1", "completed");
    await settle();
    expect(await recordOf(db, job)).toMatchObject({ status: "running", phase: "operator", progress_pct: 95 });
    expect(await clusterStatus(cluster)).toBe("awaiting_operator");
    await db.updateTable("clusters").set({ first_connected_at: new Date() }).where("id", "=", cluster).execute();
    await settle();
    const done = { status: "succeeded", phase: "done", progress_pct: 100, waits_until: null };
    expect(await recordOf(db, job)).toMatchObject({ ...done, finished_at: expect.any(Date) });
    expect(events.filter(({ type }) => type === "cluster-status")).toMatchObject([{ status: "awaiting_operator" }]);
    expect(await logOf(job)).toContain("Waiting for agent-1, control-plane to become nodes.");
  });

  test("[PN141] a job whose machines never report fails at its deadline, and [PN142] its retry replaces only these", async () => {
    const { cluster, job, waiting, bring, settle, files } = await booting(2);
    await bring("control-plane", "completed");
    await bring("agent-1", "completed");
    await settle();
    expect(await recordOf(db, job)).toMatchObject({ status: "running" });
    await settle(waiting?.waits_until ?? undefined);
    expect(await recordOf(db, job)).toMatchObject({
      status: "failed",
      error_code: "timed_out",
      error_message: expect.stringContaining("agent-2 has never reported"),
    });
    expect(await clusterStatus(cluster)).toBe("error");
    await retryJob(db, job);
    expect(await ended(job)).toMatchObject({ status: "succeeded", attempts: 2, error_code: null });
    const kept = files.filter(({ address }) => !address.includes("agent-2"));
    const after = await cloud.list(cluster);
    expect(after).toEqual(expect.arrayContaining(kept));
    expect(after.map(({ address }) => address)).toEqual(wantedAddresses(2));
    expect(after).not.toEqual(files);
    expect(await logOf(job)).toContain("The machine agent-2 has not become a node: it is replaced.");
  });

  test("[PN141] a machine that fails puts the cluster in error with the cause, and [PN142] a retry makes it anew with new tokens", async () => {
    const { cluster, job, bring, settle, files } = await booting(0);
    const tokensOf = () =>
      db.selectFrom("node_tokens").select("token_hash").where("cluster_id", "=", cluster).execute();
    const before = await tokensOf();
    await bring("control-plane", "failed", "k3s could not be downloaded: status 503");
    await settle();
    expect(await recordOf(db, job)).toMatchObject({
      status: "failed",
      phase: "bootstrap",
      error_code: "bootstrap_failed",
    });
    expect(messageOf(await knownCluster(db, cluster), new Date())).toContain("k3s could not be downloaded: status 503");
    await retryJob(db, job);
    expect(await ended(job)).toMatchObject({ status: "succeeded", plan: { changes: [{ action: "replace" }] } });
    const network = files.filter(({ address }) => address.includes("network"));
    expect(await cloud.list(cluster)).toEqual(expect.arrayContaining(network));
    const left = await tokensOf();
    expect(left.filter(({ token_hash }) => before.some((one) => one.token_hash === token_hash))).toEqual([]);
    expect(left).toHaveLength(2);
  });

  test("[PN144] a job that waits for its machines fails at once when its cluster is deleted, and the destroy begins", async () => {
    const { cluster, job } = await booting(0);
    await inTransaction(db, (tx) => stopJobs(tx, cluster, "The cluster was deleted.", new Date()));
    expect(await recordOf(db, job)).toMatchObject({ status: "failed", error_code: "cancelled", waits_until: null });
    expect(await ended(await addJob(db, cluster, "destroy", null))).toBeUndefined();
    expect(await cloud.list(cluster)).toEqual([]);
  });

  test("[PN31] a job that takes too long fails as timed out", async () => {
    const cluster = await newCluster(db, 0);
    start({ local: { seconds: 30 }, settings: { timeoutMinutes: 0.05 } });
    const job = await addJob(db, cluster, "create", 1);
    expect(await ended(job)).toMatchObject({ status: "failed", error_code: "timed_out" });
  });
});
