import { sql } from "kysely";
import { journalOf } from "../database/columns.ts";
import type { Queries } from "../database/transaction.ts";
import type { ClusterFacts } from "./status.ts";

/** All clusters of an organization. */
export async function readClusterFacts(db: Queries, orgId: string, search = ""): Promise<ClusterFacts[]> {
  const { rows } = await sql<ClusterFacts>`
    select c.id, c.name, c.abandoned_at, c.deletion_requested_at, c.first_connected_at, c.last_heartbeat, c.stage, c.stage_status, c.stage_at,
      ${sql.raw(journalOf("c"))} as install_journal, s.lease_until as session_lease_until,
      j.id as job_id, j.action as job_action, j.status as job_status, j.phase as job_phase,
      j.error_message as job_error_message, j.updated_at as job_updated_at
    from clusters c left join cluster_sessions s on s.cluster_id = c.id
      left join lateral (
        select * from provisioning_jobs where cluster_id = c.id and not dry_run order by id desc limit 1
      ) j on true
    where c.org_id = ${orgId} and (${search} = '' or strpos(lower(c.name), lower(${search})) > 0)
    order by c.name, c.id
  `.execute(db);
  return rows;
}
