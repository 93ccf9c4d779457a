import type { Selectable } from "kysely";
import type { ClusterTable } from "../database/fleet-tables.ts";
import type { Queries, Tx } from "../database/transaction.ts";
import { notFound } from "../fault.ts";
import type { InstallFacts, RecordFacts } from "./install.ts";

/** Locks the cluster, so that the journal keeps both of two concurrent events. */
export async function lockClusterRow(tx: Tx, id: string): Promise<Selectable<ClusterTable>> {
  const row = await tx.selectFrom("clusters").selectAll().where("id", "=", id).forUpdate().executeTakeFirst();
  if (!row) throw notFound("Cluster");
  return row;
}

export async function readRecord(db: Queries, id: string): Promise<RecordFacts> {
  const record = await db
    .selectFrom("clusters")
    .select(["bundle_version", "profiles", "ha_tier", "volume_group_ownership", "install_journal"])
    .where("id", "=", id)
    .executeTakeFirst();
  if (!record) throw notFound("Cluster");
  return record;
}

export async function saveInstallFacts(tx: Tx, id: string, facts: Partial<InstallFacts>, now: Date): Promise<void> {
  const { install_journal, volume_group_ownership, ...plain } = facts;
  await tx
    .updateTable("clusters")
    .set({
      ...plain,
      ...(install_journal === undefined ? {} : { install_journal: jsonOf(install_journal) }),
      ...(volume_group_ownership === undefined ? {} : { volume_group_ownership: jsonOf(volume_group_ownership) }),
      updated_at: now,
    })
    .where("id", "=", id)
    .execute();
}

const jsonOf = (value: unknown) => (value === null ? null : JSON.stringify(value));
