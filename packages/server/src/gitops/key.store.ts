import { sql } from "kysely";
import type { Queries, Tx } from "../database/transaction.ts";
import { type AgentKey, removalTime } from "./key.ts";

export const keyPlace = (id: string) => ({ table: "gitops_keys", row: id, column: "sealed_private_key" });

export async function insertKey(tx: Tx, key: AgentKey): Promise<void> {
  await tx.insertInto("gitops_keys").values(key).execute();
}

/** The keys of a cluster's agents, newest first. */
export const agentKeys = (db: Queries, clusterId: string): Promise<AgentKey[]> =>
  db.selectFrom("gitops_keys").selectAll().where("cluster_id", "=", clusterId).orderBy("id", "desc").execute();

/** The public keys that may push to a cluster's repository: Binnacle's own, and those of agents that the host has not forgotten. */
export async function ourKeys(db: Queries, clusterId: string): Promise<string[]> {
  const own = db.selectFrom("gitops_repositories").select("push_key").where("cluster_id", "=", clusterId);
  const push_key = (await own.executeTakeFirst())?.push_key ?? null;
  const keys = (await agentKeys(db, clusterId)).map(({ public_key }) => public_key);
  return push_key === null ? keys : [push_key, ...keys];
}

/** The key works, so those before it are superseded: they go on working for the time of grace. */
export async function proven(tx: Tx, { id, cluster_id }: AgentKey, graceHours: number, now: Date): Promise<void> {
  await tx
    .updateTable("gitops_keys")
    .set({ proven_at: now, sealed_private_key: null, updated_at: now })
    .where("id", "=", id)
    .execute();
  await tx
    .updateTable("gitops_keys")
    .set({ superseded_at: now, sealed_private_key: null, remove_at: removalTime(now, graceHours), updated_at: now })
    .where("cluster_id", "=", cluster_id)
    .where("id", "<", id)
    .where("superseded_at", "is", null)
    .execute();
}

export async function deleteKey(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom("gitops_keys").where("id", "=", id).execute();
}

/** Puts the name of a cluster's repository on record, unless it is known. */
export async function knownRepository(
  tx: Tx,
  { clusterId, orgId, name, now }: { clusterId: string; orgId: string; name: string; now: Date },
): Promise<void> {
  await tx
    .insertInto("gitops_repositories")
    .values({ cluster_id: clusterId, org_id: orgId, name, created_at: now, updated_at: now })
    .onConflict((on) => on.column("cluster_id").doNothing())
    .execute();
  // A key is proven by a push, so there has to be something to push, also for a cluster on which nothing is wanted yet.
  await sql`
    insert into gitops_outbox (cluster_id, revision, org_id, at, summary, resources, bytes)
    select c.id, c.revision, c.org_id, ${now}, 'Write the whole state', '[]', 0
    from clusters c join gitops_repositories r on r.cluster_id = c.id and r.head is null
    where c.id = ${clusterId} and not exists (select from gitops_outbox o where o.cluster_id = c.id)
  `.execute(tx);
}
