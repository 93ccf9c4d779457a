import { sql } from "kysely";
import { DECISIVE_JOB, journalOf } from "../database/columns.ts";
import { readBounded, SHORT_ROWS } from "../database/prepared.adapter.ts";
import type { Queries } from "../database/transaction.ts";
import type { ClusterFacts } from "./status.ts";

interface Filter {
  readonly search?: string | undefined;
  readonly limit?: number;
  readonly offset?: number;
}

/** All clusters of an organization, by name. */
export function readClusterFacts(
  db: Queries,
  orgId: string,
  { search = "", limit, offset = 0 }: Filter = {},
): Promise<ClusterFacts[]> {
  const facts = sql<ClusterFacts>`
    select c.id, c.name, c.abandoned_at, c.detach_requested_at, c.detach_message, c.deletion_requested_at, c.first_connected_at, c.last_heartbeat, c.stage, c.stage_status, c.stage_at,
      ${sql.raw(journalOf("c"))} as install_journal, s.lease_until as session_lease_until,
      j.id as job_id, j.action as job_action, j.status as job_status, j.phase as job_phase,
      j.error_message as job_error_message, j.updated_at as job_updated_at
    from clusters c left join cluster_sessions s on s.cluster_id = c.id
      left join lateral (
        select * from provisioning_jobs where cluster_id = c.id and ${sql.raw(DECISIVE_JOB)} order by id desc limit 1
      ) j on true
    where c.org_id = ${orgId} and (${search} = '' or strpos(lower(c.name), lower(${search})) > 0)
    order by c.name, c.id limit ${limit ?? null} offset ${offset}
  `;
  return readBounded<ClusterFacts>(db, facts.compile(db), Number.POSITIVE_INFINITY, SHORT_ROWS);
}
