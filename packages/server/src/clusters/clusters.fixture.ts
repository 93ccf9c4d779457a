import { randomBytes } from "node:crypto";
import type { ProvisioningPhase, ProvisioningStatus } from "@binnacle/contract";
import type { Client, World } from "@binnacle/world";
import type { Queries } from "../database/transaction.ts";
import { EVENTS_TOPIC, type Event } from "../events/event.ts";

export const uniqueName = (what: string) => `${what} ${randomBytes(6).toString("hex")}`;

export const AWS_KEYS = {
  provider: "aws",
  region: "eu-central-1",
  access_key_id: "AKIAIOSFODNN7EXAMPLE",
  secret_access_key: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
} as const;

export async function storedCredential(api: Client, org: string): Promise<string> {
  const answer = await api.post(`/orgs/${org}/credentials`, { name: uniqueName("aws"), ...AWS_KEYS });
  return answer.body.id;
}

/** A bring-your-own cluster, as its creator gets it. */
export async function registeredCluster(api: Client, org: string) {
  return (await api.post(`/orgs/${org}/clusters`, { name: uniqueName("cluster") })).body;
}

/** A cluster in the making, as its creator gets it. */
export async function provisionedCluster(api: Client, org: string, credential?: string) {
  const credential_id = credential ?? (await storedCredential(api, org));
  const body = { name: uniqueName("cloud"), provider: "aws", credential_id };
  return (await api.post(`/orgs/${org}/clusters`, body)).body;
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
