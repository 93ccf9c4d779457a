import { accessSync, constants } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import type { ProvisioningAction } from "../../packages/contract/src/index.ts";
import { createMemoryBus } from "../../packages/server/src/bus/bus.adapter.ts";
import type { Bus } from "../../packages/server/src/bus/bus.ts";
import type { KubernetesRelease } from "../../packages/server/src/cloud/kubernetes-release.ts";
import type { CloudProvider } from "../../packages/server/src/cloud/provider.ts";
import { inTransaction, type Queries } from "../../packages/server/src/database/transaction.ts";
import { newId } from "../../packages/server/src/id.adapter.ts";
import type { JobHandler } from "../../packages/server/src/jobs/running-job.runner.ts";
import { settleWait } from "../../packages/server/src/provisioning/bootstrap-wait.store.ts";
import {
  type ProvisionerPorts,
  type ProvisionerSettings,
  provisioningHandler,
} from "../../packages/server/src/provisioning/provisioning.runner.ts";
import { requeue, startProvisioning } from "../../packages/server/src/provisioning/provisioning.store.ts";
import { createStateBackend } from "../../packages/server/src/tofu/state-backend.adapter.ts";
import { createVault } from "../../packages/server/src/vault/vault.ts";

export const vault = createVault([{ id: "test", key: Buffer.alloc(32, 5) }]);
export const SECRET_KEY = "wJalrXUtnFEMIbPxRfiCYEXAMPLEKEY";
export const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/** OpenTofu or Terraform for tests: BINNACLE_TOFU, the cache, the search path. Null where there is none. */
export function tofuForTests(): string | null {
  const onPath = (process.env["PATH"] ?? "")
    .split(delimiter)
    .flatMap((folder) => ["tofu", "terraform"].map((name) => join(folder, name)))
    .sort((a, b) => Number(b.endsWith("tofu")) - Number(a.endsWith("tofu")));
  const candidates = [process.env["BINNACLE_TOFU"], join(homedir(), ".cache/binnacle/kube/bin/tofu"), ...onPath];
  const found = candidates.find((path) => path !== undefined && isProgram(path)) ?? null;
  if (!found)
    process.stderr.write("\nSKIPPED: tests of the provisioner, because there is no tofu and no terraform.\n\n");
  return found;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export const settingsFor = (program: string | null): ProvisionerSettings => ({
  program,
  searchPath: process.env["PATH"] ?? "",
  network: {},
  cliConfigFile: null,
  pluginCacheFolder: null,
  timeoutMinutes: 60,
  bootstrapMinutes: 20,
  graceMs: 30_000,
  publicUrl: "https://binnacle.example.com",
  adminRanges: [],
});

export interface HandlerOptions {
  readonly db: Queries;
  readonly provider: CloudProvider | null;
  readonly settings: ProvisionerSettings;
  readonly bus?: Bus;
  readonly operators?: Partial<ProvisionerPorts["operators"]>;
  readonly random?: () => number;
}

export const handlerFor = ({ db, provider, settings, bus, operators, random }: HandlerOptions): JobHandler =>
  provisioningHandler(
    {
      db,
      bus: bus ?? createMemoryBus(silent),
      clock: () => new Date(),
      log: silent,
      vault,
      operators: {
        isConnected: async () => false,
        drainNodes: async () => undefined,
        removeCloudObjects: async () => undefined,
        describeDisks: async () => [],
        localVolumes: async () => ({ named: [], total: 0 }),
        ...operators,
      },
      clouds: provider ? { aws: provider } : {},
      backend: createStateBackend(),
      random: random ?? Math.random,
    },
    settings,
  );

/** A cluster with a credential in an organization of its own, and no job. */
export async function newCluster(db: Queries, agentCount: number): Promise<string> {
  const [org_id, credential_id, id] = [newId(), newId(), newId()];
  const times = { created_at: new Date(), updated_at: new Date() };
  const place = { table: "cloud_credentials", row: credential_id, column: "sealed_secret" };
  await db
    .insertInto("orgs")
    .values({ id: org_id, name: org_id, slug: org_id, settings: "{}", ...times })
    .execute();
  await db
    .insertInto("cloud_credentials")
    .values({
      id: credential_id,
      org_id,
      name: "cloud",
      provider: "aws",
      region: "eu-central-1",
      settings: JSON.stringify({ access_key_id: "AKIAIOSFODNN7EXAMPLE" }),
      sealed_secret: vault.seal(SECRET_KEY, place),
      ...times,
    })
    .execute();
  const machines = { region: "eu-central-1", instance_type: "t3.large", disk_size_gb: 50, agent_count: agentCount };
  await db
    .insertInto("clusters")
    .values({ id, org_id, name: "cloudy", provider: "aws", credential_id, ...machines, ...times })
    .execute();
  return id;
}

/** Records and enqueues a job as the routes do; returns the id of its record. */
export async function addJob(
  db: Queries,
  clusterId: string,
  action: ProvisioningAction,
  desiredNodeCount: number | null,
  isDryRun = false,
  more: {
    readonly node?: string;
    readonly force?: boolean;
    readonly planJobId?: string;
    readonly release?: KubernetesRelease;
  } = {},
): Promise<string> {
  return inTransaction(db, async (tx) => {
    const cluster = await tx
      .selectFrom("clusters")
      .select(["id", "org_id", "credential_id"])
      .where("id", "=", clusterId)
      .executeTakeFirstOrThrow();
    const now = new Date();
    if (action === "destroy" && !isDryRun) {
      await tx.updateTable("clusters").set({ deletion_requested_at: now }).where("id", "=", clusterId).execute();
    }
    const createdBy = newId();
    return (await startProvisioning(tx, { cluster, action, desiredNodeCount, createdBy, now, isDryRun, ...more })).id;
  });
}

export const retryJob = (db: Queries, jobId: string) =>
  inTransaction(db, (tx) => requeue(tx, jobId, newId(), new Date()));

export const recordOf = (db: Queries, jobId: string) =>
  db.selectFrom("provisioning_jobs").selectAll().where("id", "=", jobId).executeTakeFirst();

/** If the job waits, its machines become nodes and its operator connects, as on a cloud where everything goes well. */
export async function bootMachines(db: Queries, jobId: string): Promise<void> {
  const { cluster_id, waits_until } = (await recordOf(db, jobId)) ?? {};
  if (!cluster_id || !waits_until) return;
  const cluster = db.updateTable("clusters").where("id", "=", cluster_id);
  await db.updateTable("node_boots").set({ status: "completed" }).where("cluster_id", "=", cluster_id).execute();
  await cluster.set({ first_connected_at: new Date() }).execute();
  await settleWait(db, jobId, 20, new Date());
  // No operator is there: a later job must not wait for its return.
  await cluster.set({ first_connected_at: null }).execute();
}

/** The addresses that a cluster with so many agents consists of, sorted. */
export const wantedAddresses = (agentCount: number): string[] =>
  [
    ...Array.from({ length: agentCount }, (_, index) => `terraform_data.agent["agent-${index + 1}"]`),
    "terraform_data.control_plane",
    "terraform_data.network",
  ].sort((a, b) => a.localeCompare(b));
