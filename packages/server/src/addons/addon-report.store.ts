import { sql } from "kysely";
import type { Tx } from "../database/transaction.ts";
import type { Instance } from "./addon.ts";

/** Those of the ids that are instances of the cluster, locked. */
export async function lockReportedAddons(tx: Tx, clusterId: string, ids: readonly string[]): Promise<Instance[]> {
  if (ids.length === 0) return [];
  return tx
    .selectFrom("addon_instances")
    .selectAll()
    .where("id", "in", ids)
    .where("cluster_id", "=", clusterId)
    .orderBy("id")
    .forUpdate()
    .execute();
}

/** Only what a report can change. */
export async function saveReportedAddons(tx: Tx, instances: readonly Instance[], now: Date): Promise<void> {
  if (instances.length === 0) return;
  const parts = instances.map(({ values: _values, ...part }) => part);
  await sql`
    update addon_instances set phase = seen.phase, phase_reason = seen.phase_reason, phase_message = seen.phase_message,
      observed_generation = seen.observed_generation, exports = seen.exports, updated_at = ${now}
    from jsonb_to_recordset(${JSON.stringify(parts)}::jsonb) as seen (
      id uuid, phase text, phase_reason text, phase_message text, observed_generation bigint, exports jsonb
    )
    where addon_instances.id = seen.id
  `.execute(tx);
}

export async function deleteAddons(tx: Tx, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await tx.deleteFrom("addon_instances").where("id", "in", ids).execute();
}
