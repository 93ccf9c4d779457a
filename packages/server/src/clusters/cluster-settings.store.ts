import type { Queries, Tx } from "../database/transaction.ts";
import { raiseEachDesired } from "../desired/desired.store.ts";
import { desiredProject } from "../projects/project.ts";
import { type Settings, type SettingsRow, settingsOf } from "./cluster-settings.ts";

const COLUMNS = ["pod_security", "ingress_namespaces", "cluster_wide_charts"] as const satisfies (keyof SettingsRow)[];

export async function readSettings(db: Queries, clusterId: string): Promise<Settings> {
  const row = await db
    .selectFrom("cluster_settings")
    .select(COLUMNS)
    .where("cluster_id", "=", clusterId)
    .executeTakeFirst();
  return settingsOf(row ?? null);
}

/** What was not given stays null, and follows the product's default. */
export async function saveSettings(tx: Tx, clusterId: string, given: Partial<Settings>, now: Date): Promise<void> {
  const { cluster_wide_charts: charts, ...plain } = given;
  const fields = { ...plain, ...(charts ? { cluster_wide_charts: JSON.stringify(charts) } : {}), updated_at: now };
  await tx
    .insertInto("cluster_settings")
    .values({ cluster_id: clusterId, ...fields })
    .onConflict((conflict) => conflict.column("cluster_id").doUpdateSet(fields))
    .execute();
}

/** The last write of a change that every project of a cluster is told of. One on its way out is told nothing any more. */
export async function raiseProjectsOfCluster(tx: Tx, clusterId: string, now: Date): Promise<void> {
  const staying = tx
    .selectFrom("projects")
    .select(["id", "namespace"])
    .where("cluster_id", "=", clusterId)
    .where("lifecycle", "<>", "cleanup_pending");
  await raiseEachDesired(tx, clusterId, async () => (await staying.execute()).map(desiredProject), now);
}
