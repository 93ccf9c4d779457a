import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { createAgentTokens } from "../../packages/server/src/clusters/agent-token.adapter.ts";
import type { Queries } from "../../packages/server/src/database/transaction.ts";
import { logLines } from "../../packages/server/src/provisioning/provisioning.store.ts";
import { loadState } from "../../packages/server/src/tofu/infrastructure-state.store.ts";
import { readState } from "../../packages/server/src/tofu/tofu-output.ts";
import { type FreshDatabase, freshDatabase } from "../world/database.ts";
import { descendantsOf } from "../world/descendants.ts";
import { isAlive, type ServerProcess, startServer } from "../world/server-process.ts";
import { type SimulatedOperator, simulateOperator } from "../world/simulated-operator.ts";
import { type LocalCloud, localCloud } from "./local-provider.ts";
import { addJob, bootMachines, newCluster, recordOf, tofuForTests, vault, wantedAddresses } from "./stage.ts";

const SOON = { timeout: 60_000, interval: 30 };
/** Of a resource before it exists, and again after that. */
const SLOW = "4";
const GRACE_MS = 30_000;
const SIGNING_KEY = "a signing key for tests of the provisioner";
const PRELOADED = fileURLToPath(new URL("./local-cloud.process.ts", import.meta.url));
const tofu = tofuForTests();

let fresh: FreshDatabase;
let db: Queries;
let cloud: LocalCloud;
let servers: ServerProcess[] = [];
let operator: SimulatedOperator | null = null;
beforeAll(async () => {
  fresh = await freshDatabase();
  db = fresh.database.kysely;
  cloud = await localCloud();
});
afterEach(async () => {
  await operator?.stop();
  operator = null;
  for (const server of servers) server.signal("SIGKILL");
  await Promise.all(servers.map(({ exited }) => exited));
  servers = [];
});
afterAll(() => fresh?.drop());

/** The server as it ships, with all roles; its cloud is a folder. */
async function serve(seconds: string): Promise<ServerProcess> {
  const server = await startServer(
    {
      DATABASE_URL: fresh.url,
      BINNACLE_SECRET_KEY: SIGNING_KEY,
      // The key of the vault that the test seals with.
      BINNACLE_VAULT_KEYS: `test:${Buffer.alloc(32, 5).toString("base64")}`,
      BINNACLE_TOFU: tofu ?? "",
      BINNACLE_TOFU_GRACE_MS: String(GRACE_MS),
      LOCAL_FOLDER: cloud.folder,
      LOCAL_SECONDS: seconds,
    },
    { nodeArguments: ["--import", PRELOADED] },
  );
  servers.push(server);
  return server;
}

const addressesOf = async (clusterId: string) => (await cloud.list(clusterId)).map(({ address }) => address);
const queuedOf = (clusterId: string) =>
  db.selectFrom("jobs").select(["status", "attempts"]).where("lane", "=", clusterId).where("status", "!=", "succeeded");
const succeeded = (jobId: string) =>
  vi.waitFor(async () => {
    await bootMachines(db, jobId);
    expect(await recordOf(db, jobId)).toMatchObject({ status: "succeeded" });
  }, SOON);

describe.skipIf(!tofu)("SIGTERM of a whole server", () => {
  test("[PN47] SIGTERM during an apply saves the state and leaves no process, and another server goes on with nothing twice", async () => {
    const server = await serve(SLOW);
    const cluster = await newCluster(db, 1);
    const job = await addJob(db, cluster, "create", 2);
    // The machine exists, and OpenTofu is still busy with it.
    await vi.waitFor(async () => expect(await addressesOf(cluster)).toContain("terraform_data.control_plane"), SOON);
    const started = descendantsOf(server.pid);
    expect(started.filter(({ command }) => command.startsWith(`${tofu} apply`))).toHaveLength(1);
    const stoppedAt = performance.now();
    server.signal("SIGTERM");
    expect(await server.exited).toBe(0);
    expect(performance.now() - stoppedAt).toBeLessThan(GRACE_MS);
    expect(started.filter(({ pid }) => isAlive(pid))).toEqual([]);

    const files = await cloud.list(cluster);
    const saved = readState((await loadState(db, vault, cluster)) ?? "");
    expect(files.filter(({ id }) => !saved?.knows("terraform_data", id))).toEqual([]);
    expect(await recordOf(db, job)).toMatchObject({ status: "running", error_code: null });
    expect(await queuedOf(cluster).execute()).toEqual([{ status: "pending", attempts: 0 }]);

    await serve("0.05");
    await succeeded(job);
    expect(await addressesOf(cluster)).toEqual(wantedAddresses(1));
    expect(await cloud.list(cluster)).toEqual(expect.arrayContaining(files));
    const states = await db
      .selectFrom("infrastructure_states")
      .select(["serial", "lineage"])
      .where("cluster_id", "=", cluster)
      .orderBy("serial", "desc")
      .execute();
    expect(new Set(states.map(({ lineage }) => lineage))).toEqual(new Set([saved?.lineage]));
    expect(states[0]?.serial).toBeGreaterThan(saved?.serial ?? 0);
  });

  test("[PN47] SIGTERM while an operator drains gives the job back, and the next server drains before it removes", async () => {
    const cluster = await newCluster(db, 1);
    const first = await serve("0.05");
    await succeeded(await addJob(db, cluster, "create", 2));
    const { token } = await (await createAgentTokens(SIGNING_KEY, () => new Date())).mint(cluster, 0);
    const drained: unknown[] = [];
    const infrastructure = (request: unknown) => {
      drained.push(request);
      return new Promise<never>(() => undefined);
    };
    operator = simulateOperator({ url: first.url, token, answers: { infrastructure } });
    const sessions = db.selectFrom("cluster_sessions").select("cluster_id").where("cluster_id", "=", cluster);
    await vi.waitFor(async () => expect(await sessions.execute()).toHaveLength(1), SOON);
    const job = await addJob(db, cluster, "scale", 1);
    await vi.waitFor(() => expect(drained).toHaveLength(1), SOON);
    first.signal("SIGTERM");
    expect(await first.exited).toBe(0);
    expect(await recordOf(db, job)).toMatchObject({ status: "running", error_message: null });
    expect(await addressesOf(cluster)).toEqual(wantedAddresses(1));

    await operator.stop();
    const second = await serve("0.05");
    operator = simulateOperator({ url: second.url, token });
    await succeeded(job);
    expect(await addressesOf(cluster)).toEqual(wantedAddresses(0));
    expect(await logLines(db, job)).not.toContainEqual(expect.stringContaining("cannot be drained"));
  });
});
