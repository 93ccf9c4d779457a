import { sql } from "kysely";
import type { Tx } from "../database/transaction.ts";
import type { App, Deployment } from "./app.ts";
import type { ReportedApp } from "./app-report.ts";

/** Those of the ids that are apps of the cluster, locked. */
export async function lockReportedApps(tx: Tx, clusterId: string, ids: readonly string[]): Promise<App[]> {
  if (ids.length === 0) return [];
  return tx
    .selectFrom("apps")
    .selectAll()
    .where("id", "in", ids)
    .where("cluster_id", "=", clusterId)
    .orderBy("id")
    .forUpdate()
    .execute();
}

/** Only what a report can change; gives back the deployments that have ended by it. */
export async function saveReportedApps(
  tx: Tx,
  reported: readonly ReportedApp[],
  now: Date,
): Promise<Pick<Deployment, "id" | "app_id" | "revision" | "status">[]> {
  if (reported.length === 0) return [];
  await sql`
    update apps set phase = seen.phase, phase_reason = seen.phase_reason, phase_message = seen.phase_message,
      observed_generation = seen.observed_generation, component_statuses = seen.component_statuses,
      drift_state = seen.drift_state, drift_summary = seen.drift_summary, drift_fields = seen.drift_fields,
      drift_detected_at = seen.drift_detected_at, updated_at = ${now}
    from jsonb_to_recordset(${JSON.stringify(reported.map(({ app }) => reportedPart(app)))}::jsonb) as seen (
      id uuid, phase text, phase_reason text, phase_message text, observed_generation bigint, component_statuses jsonb,
      drift_state text, drift_summary text, drift_fields jsonb, drift_detected_at timestamptz
    )
    where apps.id = seen.id
  `.execute(tx);
  return settle(tx, reported, now);
}

const reportedPart = ({ components: _components, replicas_before_pause: _before, ...part }: App) => part;

async function settle(tx: Tx, reported: readonly ReportedApp[], now: Date) {
  const ends = reported.flatMap(({ app, settled }) => (settled ? [{ app_id: app.id, ...settled }] : []));
  if (ends.length === 0) return [];
  const { rows } = await sql<Pick<Deployment, "id" | "app_id" | "revision" | "status">>`
    update app_deployments d set status = ended.status, message = coalesce(ended.message, d.message),
      finished_at = ${now}, updated_at = ${now}
    from jsonb_to_recordset(${JSON.stringify(ends)}::jsonb) as ended (app_id uuid, generation bigint, status text, message text)
    where d.app_id = ended.app_id and d.generation = ended.generation and d.status = 'pending'
    returning d.id, d.app_id, d.revision, d.status
  `.execute(tx);
  return rows;
}

export async function deleteApps(tx: Tx, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await tx.deleteFrom("apps").where("id", "in", ids).execute();
}
