import { sql } from "kysely";
import { runTogether } from "../database/prepared.adapter.ts";
import type { Queries } from "../database/transaction.ts";
import { syncJob } from "./outbox.store.ts";
import { SYNC_KIND } from "./outbox.ts";

const LOOK_EVERY_SECONDS = 3_600;
const MOST_ORGANIZATIONS = 1_000;

/** What is put on record when the head was seen. The next look has a jitter, so that repositories made together part. */
export const seenAt = (observed_at: Date) => ({
  observed_at,
  look_at: sql<Date>`now() + ${LOOK_EVERY_SECONDS} * (0.75 + random() / 2) * interval '1 second'`,
});

/** A job of this organization is about to end, after which the next repository is looked at. */
interface EndingLook {
  readonly orgId: string;
  readonly jobId: string;
}

/**
 * Has repositories looked at in which nothing has changed for an hour, because somebody may have rewritten or deleted them. One at a
 * time of an organization; the one that has waited longest is the next, so that some that fail do not hold up the others. Returns how many.
 */
export async function wakeLooks(db: Queries, after: EndingLook | null = null): Promise<number> {
  const { orgId = null, jobId = null } = after ?? {};
  const { rows } = await sql<{ org_id: string; cluster_id: string }>`
    select distinct on (r.org_id) r.org_id, r.cluster_id
    from gitops_settings s join gitops_repositories r on r.org_id = s.org_id
    where s.is_on and (s.paused_until is null or s.paused_until <= now()) and (${orgId}::uuid is null or s.org_id = ${orgId}::uuid)
      and r.url is not null and r.look_at <= now() and (r.next_try_at is null or r.next_try_at <= now())
      and not exists (
        select from jobs j join gitops_repositories other on other.cluster_id::text = j.payload ->> 'cluster_id'
        where j.kind = ${SYNC_KIND} and j.status in ('pending', 'running') and j.tenant_id = s.org_id and other.look_at <= now()
          and (${jobId}::uuid is null or j.id <> ${jobId}::uuid))
    order by r.org_id, greatest(r.look_at, r.next_try_at), r.cluster_id limit ${MOST_ORGANIZATIONS}
  `.execute(db);
  if (rows.length > 0)
    await runTogether(
      db,
      rows.map(({ org_id, cluster_id }) => syncJob(org_id, cluster_id)),
    );
  return rows.length;
}
