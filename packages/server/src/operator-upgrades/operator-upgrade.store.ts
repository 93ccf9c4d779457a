import { type ClusterUpgradePhase, MAX_LISTED_UPGRADES } from "@binnacle/contract";
import { type Insertable, sql } from "kysely";
import type { OperatorUpgradeTable } from "../database/operator-upgrade-tables.ts";
import { isUniqueViolation, type Queries, type Tx } from "../database/transaction.ts";
import { enqueue } from "../jobs/job.store.ts";
import {
  type Counts,
  countsOf,
  type Judged,
  OPERATOR_UPGRADE_KIND,
  type Outcome,
  type Plan,
  type Upgrade,
  type UpgradeCandidate,
  type UpgradeEntry,
  upgradeUnderWay,
} from "./operator-upgrade.ts";

interface Window {
  readonly limit: number;
  readonly offset: number;
}

/** The clusters of an organization, or those of them that are named. */
export async function findCandidates(
  db: Queries,
  orgId: string,
  clusterIds: readonly string[] | null,
): Promise<UpgradeCandidate[]> {
  const { rows } = await sql<UpgradeCandidate>`
    select c.id, c.name, c.operator_version, c.self_upgrade, s.lease_until,
      c.deletion_requested_at is not null or c.abandoned_at is not null as is_leaving,
      exists (select from operator_upgrade_clusters e where e.cluster_id = c.id and e.phase in ('pending', 'running'))
        as is_upgrading
    from clusters c left join cluster_sessions s on s.cluster_id = c.id
    where c.org_id = ${orgId} and (${clusterIds}::uuid[] is null or c.id = any (${clusterIds}::uuid[]))
    order by c.name, c.id
  `.execute(db);
  return rows;
}

/** Stores the upgrade with its clusters and its job in one transaction. */
export async function insertUpgrade(
  tx: Tx,
  upgrade: Insertable<OperatorUpgradeTable>,
  entries: readonly Judged[],
): Promise<void> {
  await tx.insertInto("operator_upgrades").values(upgrade).execute();
  await sql`
    insert into operator_upgrade_clusters (upgrade_id, cluster_id, phase, from_version, reason)
    select ${upgrade.id}, * from unnest(${entries.map(({ candidate }) => candidate.id)}::uuid[],
      ${entries.map(({ reason }) => (reason === null ? "pending" : "skipped"))}::text[],
      ${entries.map(({ candidate }) => candidate.operator_version)}::text[],
      ${entries.map(({ reason }) => reason)}::text[])
  `
    .execute(tx)
    .catch((error: unknown) => {
      throw isUniqueViolation(error, "operator_upgrade_clusters_active") ? upgradeUnderWay() : error;
    });
  await enqueueStep(tx, upgrade);
}

/** The lane is that of the upgrade, so its steps come one after the other. */
export async function enqueueStep(
  tx: Tx,
  { id, org_id: tenantId }: Pick<Upgrade, "id" | "org_id">,
  delayMs = 0,
): Promise<void> {
  const lane = `${OPERATOR_UPGRADE_KIND}:${id}`;
  await enqueue(tx, { kind: OPERATOR_UPGRADE_KIND, lane, payload: { upgrade_id: id }, delayMs, tenantId });
}

export function findUpgrade(db: Queries, id: string): Promise<Upgrade | undefined> {
  return db.selectFrom("operator_upgrades").selectAll().where("id", "=", id).executeTakeFirst();
}

export function lockUpgrade(tx: Tx, id: string): Promise<Upgrade | undefined> {
  return tx.selectFrom("operator_upgrades").selectAll().where("id", "=", id).forUpdate().executeTakeFirst();
}

export async function listUpgrades(db: Queries, orgId: string, { limit, offset }: Window) {
  const rows = await db
    .selectFrom("operator_upgrades")
    .selectAll()
    .select(sql<number>`count(*) over ()`.as("total"))
    .where("org_id", "=", orgId)
    .orderBy("id", "desc")
    .limit(limit)
    .offset(offset)
    .execute();
  const total = rows[0]?.total ?? (offset === 0 ? 0 : await countUpgrades(db, orgId));
  return { upgrades: rows, total: Number(total) };
}

async function countUpgrades(db: Queries, orgId: string): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    select count(*)::integer as total from operator_upgrades where org_id = ${orgId}
  `.execute(db);
  return rows[0]?.total ?? 0;
}

export async function countPhases(db: Queries, ids: readonly string[]): Promise<ReadonlyMap<string, Counts>> {
  const { rows } = await sql<{ upgrade_id: string; phase: ClusterUpgradePhase; total: number }>`
    select upgrade_id, phase, count(*)::integer as total from operator_upgrade_clusters
    where upgrade_id = any (${ids}::uuid[]) group by upgrade_id, phase
  `.execute(db);
  const byUpgrade = Map.groupBy(rows, ({ upgrade_id }) => upgrade_id);
  return new Map(
    ids.map((id) => [
      id,
      countsOf(Object.fromEntries((byUpgrade.get(id) ?? []).map(({ phase, total }) => [phase, total]))),
    ]),
  );
}

export function listEntries(db: Queries, upgradeId: string) {
  return db
    .selectFrom("operator_upgrade_clusters as e")
    .innerJoin("clusters", "clusters.id", "e.cluster_id")
    .selectAll("e")
    .select("clusters.name as cluster_name")
    .where("upgrade_id", "=", upgradeId)
    .orderBy("clusters.name")
    .orderBy("clusters.id")
    .limit(MAX_LISTED_UPGRADES)
    .execute();
}

export function runningEntries(db: Queries, upgradeId: string): Promise<UpgradeEntry[]> {
  return db
    .selectFrom("operator_upgrade_clusters")
    .selectAll()
    .where("upgrade_id", "=", upgradeId)
    .where("phase", "=", "running")
    .execute();
}

export async function saveOutcome(tx: Tx, upgradeId: string, clusterId: string, outcome: Outcome, now: Date) {
  const end = outcome.phase === "running" ? {} : { finished_at: now };
  await tx
    .updateTable("operator_upgrade_clusters")
    .set({ ...outcome, ...end })
    .where("upgrade_id", "=", upgradeId)
    .where("cluster_id", "=", clusterId)
    .where("phase", "=", "running")
    .execute();
}

/** Stores the plan, and returns the clusters whose phase it changes. */
export async function savePlan(tx: Tx, upgradeId: string, plan: Plan, now: Date): Promise<string[]> {
  const { rows } = await sql<{ cluster_id: string }>`
    with next as (
      select e.cluster_id from operator_upgrade_clusters e join clusters c on c.id = e.cluster_id
      where e.upgrade_id = ${upgradeId} and e.phase = 'pending'
      order by c.name, c.id limit ${plan.start}
    )
    update operator_upgrade_clusters e set
      phase = case when n.cluster_id is null then 'cancelled' else 'running' end,
      reason = case when n.cluster_id is null then ${plan.cancel}::text end,
      started_at = case when n.cluster_id is null then null else ${now}::timestamptz end,
      finished_at = case when n.cluster_id is null then ${now}::timestamptz end
    from operator_upgrade_clusters p left join next n on n.cluster_id = p.cluster_id
    where p.upgrade_id = ${upgradeId} and p.phase = 'pending'
      and (n.cluster_id is not null or ${plan.cancel}::text is not null)
      and e.upgrade_id = p.upgrade_id and e.cluster_id = p.cluster_id
    returning e.cluster_id
  `.execute(tx);
  const end = plan.status === "running" ? {} : { finished_at: now };
  await tx
    .updateTable("operator_upgrades")
    .set({ status: plan.status, updated_at: now, ...end })
    .where("id", "=", upgradeId)
    .execute();
  return rows.map(({ cluster_id }) => cluster_id);
}

export async function requestCancellation(tx: Tx, id: string, now: Date): Promise<void> {
  await tx
    .updateTable("operator_upgrades")
    .set({ cancel_requested_at: now, updated_at: now })
    .where("id", "=", id)
    .execute();
}
