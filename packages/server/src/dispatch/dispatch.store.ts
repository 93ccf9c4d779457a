import type { DesiredKind } from "@binnacle/contract";
import { type RawBuilder, sql } from "kysely";
import { type Bound, runTogether } from "../database/prepared.adapter.ts";
import { inTransaction, type Queries, type Tx } from "../database/transaction.ts";
import { notFound } from "../fault.ts";
import type { DispatchedResource } from "./dispatch.ts";
import type { DispatchedKind, RaisedRow } from "./kind.ts";

export type FindResources = () => Promise<readonly DispatchedResource[]>;

/** Statements of a change that are sent with its dispatch, in the same round trip. */
export interface Around {
  readonly before: readonly Bound[];
  readonly after: readonly Bound[];
  /** Sent last. Its answer is returned. */
  readonly question?: Bound | undefined;
}

interface Dispatched {
  readonly resources: readonly DispatchedResource[];
  readonly answer: readonly unknown[];
}

const NOTHING: Around = { before: [], after: [] };

/**
 * Writes, in the transaction that changes the resources, that their cluster has to be sent them: the generation of each
 * and the revision of the cluster go up together. The row of the cluster is locked from here to the commit, so this is
 * the last write of a change: everything that is locked before it is locked in one order. Resources that are found by a
 * query are found under that lock: a transaction that is adding one meanwhile waits for it and dispatches its own.
 */
export async function dispatchResources(
  tx: Tx,
  clusterId: string,
  resources: readonly DispatchedResource[] | FindResources,
  now: Date,
  traceparent: string | null = null,
  { before, after, question }: Around = NOTHING,
): Promise<Dispatched> {
  const isFound = typeof resources === "function";
  const first = isFound ? [] : before;
  const revision = isFound ? [await raiseRevision(tx, clusterId, before)] : [];
  const given = isFound ? await resources() : resources;
  const columns = [
    given.map(({ kind }) => kind),
    given.map(({ resourceId }) => resourceId),
    given.map(({ key }) => key),
    given.map(({ generation }) => generation ?? null),
    given.map(({ isRemoved = false }) => isRemoved),
  ];
  const text = isFound ? DISPATCH_RAISED : RAISE_AND_DISPATCH;
  const values = [clusterId, now, traceparent, ...columns, ...revision];
  const results = await runTogether(tx, [...first, { text, values }, ...after, ...(question ? [question] : [])]);
  if (given.length > 0 && !results[first.length]?.numAffectedRows) throw notFound("Cluster");
  return { resources: given, answer: question ? (results.at(-1)?.rows ?? []) : [] };
}

async function raiseRevision(tx: Tx, clusterId: string, before: readonly Bound[]): Promise<unknown> {
  const results = await runTogether(tx, [...before, { text: RAISE, values: [clusterId] }]);
  return (results.at(-1)?.rows[0] as { revision: number } | undefined)?.revision;
}

/** The only place that counts the generation of a row: the next one above its own and above another that it has to exceed. */
const nextGeneration = (row: string, above: string) => `greatest(${row}.generation, ${above}) + 1`;

/**
 * Nearly every change runs one of these. A record that counts its generation is always one ahead of its row here; for the other
 * kinds, whose generation is null, the row counts.
 */
const dispatchText = (raised: string) => `
  with raised as (${raised})
  insert into desired_resources (cluster_id, kind, resource_id, key, generation, revision, removed_at, updated_at,
    traceparent)
  select $1::uuid, kind, resource_id, key, coalesce(generation, 1), raised.revision,
    case when is_removed then $2::timestamptz end, $2::timestamptz, $3::text
  from raised, unnest($4::text[], $5::uuid[], $6::text[], $7::bigint[], $8::boolean[])
    as given (kind, resource_id, key, generation, is_removed)
  on conflict (cluster_id, kind, resource_id) do update
    set generation = ${nextGeneration("desired_resources", "excluded.generation - 1")}, revision = excluded.revision,
      removed_at = excluded.removed_at, updated_at = excluded.updated_at, traceparent = excluded.traceparent`;
const RAISE = "update clusters set revision = revision + 1 where id = $1::uuid returning revision";
const RAISE_AND_DISPATCH = dispatchText(RAISE);
const DISPATCH_RAISED = dispatchText("select $9::bigint as revision");

export interface Reissue {
  readonly kind: DesiredKind;
  readonly resourceId: string;
  /** The new generation is above this one, which the cluster may hold already. */
  readonly above: number;
}

/**
 * Raises generations above those that a cluster holds, when the database was restored from a backup and is behind it. The
 * present state of the resources is then sent again as the newest. Records that count their generation follow. They are
 * locked before the row of the cluster, as everywhere.
 */
export async function reissueResources(
  db: Queries,
  kinds: readonly DispatchedKind[],
  clusterId: string,
  reissues: readonly Reissue[],
  now: Date,
): Promise<void> {
  if (reissues.length === 0) return;
  const counting = kinds.filter(({ followGeneration }) => followGeneration !== undefined);
  await inTransaction(db, async (tx) => {
    for (const kind of counting) {
      const ids = reissues.filter((reissue) => reissue.kind === kind.kind).map(({ resourceId }) => resourceId);
      if (ids.length > 0) await kind.lock(tx, clusterId, ids);
    }
    await sql`update clusters set revision = revision + 1 where id = ${clusterId}`.execute(tx);
    const raised = await raiseAbove(tx, clusterId, reissues, now);
    for (const kind of counting) {
      const ofKind = raised.filter((row) => row.kind === kind.kind);
      if (ofKind.length > 0) await kind.followGeneration?.(tx, ofKind);
    }
  });
}

async function raiseAbove(
  tx: Tx,
  clusterId: string,
  reissues: readonly Reissue[],
  now: Date,
): Promise<(RaisedRow & { readonly kind: DesiredKind })[]> {
  const { rows } = await sql<RaisedRow & { readonly kind: DesiredKind }>`
    update desired_resources desired set generation = ${sql.raw(nextGeneration("desired", "given.above"))},
      revision = clusters.revision, acked_generation = null, acked_hash = null, updated_at = ${now}, traceparent = null
    from unnest(${reissues.map(({ kind }) => kind)}::text[], ${reissues.map(({ resourceId }) => resourceId)}::uuid[],
      ${reissues.map(({ above }) => above)}::bigint[]) as given (kind, resource_id, above), clusters
    where clusters.id = ${clusterId} and desired.cluster_id = clusters.id and desired.kind = given.kind
      and desired.resource_id = given.resource_id
    returning desired.kind, desired.resource_id, generation
  `.execute(tx);
  return rows;
}

/** Locks those of the records that belong to the cluster, in the order of their ids, and returns them by id. */
export async function lockRecords<T extends { readonly id: string }>(
  tx: Tx,
  table: string,
  clusterId: string,
  ids: readonly string[],
  more: RawBuilder<unknown> = sql``,
): Promise<Map<string, T>> {
  const { rows } = await sql<T>`
    select ${sql.table(table)}.* ${more} from ${sql.table(table)}
      where id = any(${ids}::uuid[]) and cluster_id = ${clusterId} order by id for update
  `.execute(tx);
  return new Map(rows.map((row) => [row.id, row]));
}
