import { randomBytes } from "node:crypto";
import type { ProvisioningPhase, ProvisioningStatus } from "@binnacle/contract";
import type { Client, World } from "@binnacle/world";
import type { CloudProvider } from "../cloud/provider.ts";
import type { Queries } from "../database/transaction.ts";
import { EVENTS_TOPIC, type Event } from "../events/event.ts";
import { nodeTokenHash } from "../provisioning/node-token.ts";

export const uniqueName = (what: string) => `${what} ${randomBytes(6).toString("hex")}`;

export const AWS_KEYS = {
  provider: "aws",
  region: "eu-central-1",
  access_key_id: "AKIAIOSFODNN7EXAMPLE",
  secret_access_key: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
} as const;

export async function storedCredential(api: Client, org: string): Promise<string> {
  const { status, body } = await api.post(`/orgs/${org}/credentials`, { name: uniqueName("aws"), ...AWS_KEYS });
  if (status !== 201) throw new Error(`The credential was answered with ${status}: ${JSON.stringify(body)}`);
  return body.id;
}

/** A cloud that does nothing but answer checks. */
export const checkingCloud = (check: CloudProvider["check"]): CloudProvider =>
  ({ check }) as Pick<CloudProvider, "check"> as CloudProvider;

/** A cloud in which every credential suffices. */
export const WELCOMING_CLOUD = checkingCloud(async () => ({
  identity: "arn:aws:iam::123456789012:user/binnacle",
  permissions: [{ action: "ec2:RunInstances", allowed: true }],
  quotas: [{ name: "vCPU", limit: 64, used: 12 }],
}));

/** A bring-your-own cluster, as its creator gets it. */
export async function registeredCluster(api: Client, org: string) {
  return (await api.post(`/orgs/${org}/clusters`, { name: uniqueName("cluster") })).body;
}

/** A cluster in the making, as its creator gets it. */
export async function provisionedCluster(api: Client, org: string, credential?: string, fields: object = {}) {
  const credential_id = credential ?? (await storedCredential(api, org));
  const named = { name: uniqueName("cloud"), provider: "aws", credential_id, ...fields };
  const { status, body } = await api.post(`/orgs/${org}/clusters`, named);
  if (status !== 201) throw new Error(`The cluster was answered with ${status}: ${JSON.stringify(body)}`);
  return body;
}

/** Sets the job to the state that the worker would have reached. */
export async function bringJob(
  db: Queries,
  id: string,
  status: ProvisioningStatus,
  facts: { readonly error_message?: string; readonly phase?: ProvisioningPhase; readonly attempts?: number } = {},
): Promise<void> {
  await db
    .updateTable("provisioning_jobs")
    .set({ status, ...facts })
    .where("id", "=", id)
    .execute();
}

export const JOIN_TOKEN = "K10joining::server:of-a-test";
export const AGENT_JOIN_TOKEN = "join-token-of-the-agents-of-a-test";

/** A single-use token of a machine, as the worker stores it, and the body with which the machine presents it. */
export async function nodeTokenOf(
  { database: { kysely: db }, vault, clock }: World,
  clusterId: string,
  node: string,
  lifetimeMs = 60_000,
) {
  const token = randomBytes(32).toString("base64url");
  const place = { table: "clusters", row: clusterId };
  const sealed_join_token = vault.seal(JOIN_TOKEN, { ...place, column: "sealed_join_token" });
  const sealed_agent_token = vault.seal(AGENT_JOIN_TOKEN, { ...place, column: "sealed_agent_token" });
  const tokens = { sealed_join_token, sealed_agent_token };
  await db.updateTable("clusters").set(tokens).where("id", "=", clusterId).execute();
  const expires_at = new Date(clock.now().getTime() + lifetimeMs);
  await db
    .insertInto("node_tokens")
    .values({ token_hash: nodeTokenHash(token), cluster_id: clusterId, node, expires_at })
    .execute();
  return { cluster_id: clusterId, node, token };
}

/** A machine that a job has made and that boots: its token for reports, and what it presents with each report. */
export async function bootingNode(
  { database: { kysely: db }, clock }: World,
  { id: cluster_id, provisioning_job_id: job_id }: { readonly id: string; readonly provisioning_job_id: string },
  node: string,
  lifetimeMs = 60_000,
) {
  const token = randomBytes(32).toString("hex");
  const now = clock.now();
  const expires_at = new Date(now.getTime() + lifetimeMs);
  const hash = { token_hash: nodeTokenHash(token), cluster_id, node, job_id, purpose: "report" as const, expires_at };
  await db.insertInto("node_tokens").values(hash).execute();
  await db
    .insertInto("node_boots")
    .values({ cluster_id, node, job_id, status: "pending", updated_at: now })
    .onConflict((on) => on.doNothing())
    .execute();
  return { cluster_id, node, token };
}

/** The job has made its machines and waits for them. */
export async function waitForMachines(db: Queries, jobId: string, until: Date): Promise<void> {
  const fields = { status: "running", phase: "bootstrap", waits_until: until } as const;
  await db.updateTable("provisioning_jobs").set(fields).where("id", "=", jobId).execute();
}

/** The cluster's operator is connected to a hub, until its lease ends. */
export async function connectOperator(db: Queries, clusterId: string, now: Date, leaseMs = 60_000): Promise<void> {
  await db
    .insertInto("cluster_sessions")
    .values({
      cluster_id: clusterId,
      hub_id: "hub",
      epoch: 1,
      token_version: 1,
      lease_until: new Date(now.getTime() + leaseMs),
      started_at: now,
    })
    .execute();
  await db.updateTable("clusters").set({ first_connected_at: now }).where("id", "=", clusterId).execute();
}

/** The next announcement about the cluster's status; ask for it before the change is made. */
export function nextStatus({ bus }: World, isAbout: (event: Event) => boolean): Promise<Event> {
  const { promise, resolve } = Promise.withResolvers<Event>();
  const unsubscribe = bus.subscribe(EVENTS_TOPIC, (message) => {
    const event = message as Event;
    if (event.type === "cluster-status" && isAbout(event)) resolve(event);
  });
  return promise.finally(unsubscribe);
}

export function queuedInLane(db: Queries, lane: string) {
  return db
    .selectFrom("jobs")
    .select(["kind", "lane", "payload", "status"])
    .where("lane", "=", lane)
    .orderBy("id")
    .execute();
}
