import { type Bound, runTogether } from "../database/prepared.adapter.ts";
import type { DispatchWatch } from "../dispatch/dispatch-watch.ts";
import type { DispatchedKind } from "../dispatch/kind.ts";
import { newId } from "../id.adapter.ts";
import type { Vault } from "../vault/vault.ts";
import { renderFiles } from "./content.store.ts";
import { bytesOf, type Files } from "./content.ts";
import { fingerprintVault } from "./fingerprint.ts";
import { type Held, isTooMuch, laneOf, MOST_CHANGE_BYTES, SYNC_KIND } from "./outbox.ts";

export type KindsWith = (vault: Vault) => readonly DispatchedKind[];

/** Of a cluster whose organization has switched GitOps on; without a row otherwise, which costs two reads by primary key. */
const QUESTION = `
  select s.org_id, s.sealed_fingerprint_key, c.revision, held.rows, held.bytes,
    coalesce(s.paused_until > now(), false) or coalesce(r.next_try_at > now(), false) as waits
  from clusters c join gitops_settings s on s.org_id = c.org_id and s.is_on
    left join gitops_repositories r on r.cluster_id = c.id
    cross join lateral (
      select count(*)::int as rows, coalesce(sum(o.bytes), 0)::bigint as bytes from gitops_outbox o where o.org_id = s.org_id
    ) held
  where c.id = $1::uuid`;

interface Answer extends Held {
  readonly org_id: string;
  readonly sealed_fingerprint_key: string;
  readonly revision: number;
  readonly waits: boolean;
}

/**
 * Keeps each change of desired state for the repository of its cluster, in the transaction of the change. The files are rendered under
 * the lock of the cluster, so the revisions of the rows are the order of their contents.
 */
export const gitopsWatch = (vault: Vault, kindsWith: KindsWith): DispatchWatch => ({
  ask: (clusterId) => ({ text: QUESTION, values: [clusterId] }),

  async follow(tx, clusterId, resources, [found], cause) {
    if (!found || resources.length === 0) return false;
    const { org_id, sealed_fingerprint_key, revision, waits, ...held } = found as Answer;
    const place = { table: "gitops_settings", row: org_id, column: "sealed_fingerprint_key" };
    const kinds = kindsWith(fingerprintVault(vault, vault.open(sealed_fingerprint_key, place)));
    const files = isTooMuch(held) ? null : bounded(await renderFiles(tx, kinds, clusterId, resources));
    const generations = resources.flatMap(({ resourceId: resource_id, generation }) =>
      generation === undefined ? [] : [{ resource_id, generation }],
    );
    await runTogether(tx, [
      // What waited is in the state that is written instead.
      ...(files === null
        ? [{ text: "delete from gitops_outbox where cluster_id = $1::uuid", values: [clusterId] }]
        : []),
      {
        text: INSERT,
        values: [
          ...[clusterId, revision, org_id, cause.at, cause.summary, cause.auditId, cause.requestId],
          ...[files && JSON.stringify(files), JSON.stringify(generations), files ? bytesOf(files) : 0, cause.actorId],
        ],
      },
      ...(waits ? [] : [syncJob(org_id, clusterId)]),
    ]);
    return !waits;
  },
});

const bounded = (files: Files): Files | null => (bytesOf(files) > MOST_CHANGE_BYTES ? null : files);

/** The author is as the account is at the time of the change. */
const INSERT = `
  insert into gitops_outbox (cluster_id, revision, org_id, at, summary, audit_id, request_id, files, resources, bytes,
    author_name, author_email)
  select $1::uuid, $2::bigint, $3::uuid, $4::timestamptz, $5::text, $6::uuid, $7::text, $8::jsonb, $9::jsonb, $10::int,
    u.name, case when s.author_email_domain is null then u.email else u.username || '@' || s.author_email_domain end
  from gitops_settings s left join users u on u.id = $11::uuid where s.org_id = $3::uuid`;

/** Has the cluster's repository written, unless that is about to happen. */
export function syncJob(orgId: string, clusterId: string): Bound {
  return {
    text: `
      insert into jobs (id, kind, lane, payload, status, run_at, tenant_id, created_at, updated_at)
      select $1::uuid, $2::text, $3::text, jsonb_build_object('cluster_id', $4::text), 'pending', now(), $5::uuid, now(), now()
      where not exists (
        select from jobs where lane = $3::text and status = 'pending' and kind = $2::text and payload ->> 'cluster_id' = $4::text
      )`,
    values: [newId(), SYNC_KIND, laneOf(orgId, clusterId), clusterId, orgId],
  };
}
