import { type RawBuilder, sql } from "kysely";
import { runTogether } from "../database/prepared.adapter.ts";
import type { Queries, Tx } from "../database/transaction.ts";
import type { GitProblem } from "../git/git-problem.ts";
import type { Vault } from "../vault/vault.ts";
import { findGitopsThatIsOn } from "./gitops-settings.store.ts";
import type { GitopsSettings } from "./gitops-settings.ts";
import { seenAt } from "./look.store.ts";
import { syncJob } from "./outbox.store.ts";
import { SYNC_KIND } from "./outbox.ts";
import {
  type Batch,
  LOOK_AGAIN_SECONDS,
  type OutboxRow,
  type Repository,
  repositoryName,
  retryInSeconds,
} from "./sync.ts";
import { type Holder, whileHeld } from "./sync-hold.store.ts";

export interface Synced {
  readonly settings: GitopsSettings;
  readonly repository: Repository;
}

/** What is on record of the repository of a cluster, which is put on record where it is new; null where none is to be written. */
export async function findSynced(
  db: Queries,
  holder: Holder,
  clusterId: string,
  newKey: (clusterId: string) => { readonly push_key: string; readonly sealed_push_key: string },
): Promise<Synced | null> {
  const cluster = await db.selectFrom("clusters").selectAll().where("id", "=", clusterId).executeTakeFirst();
  const settings = cluster && (await findGitopsThatIsOn(db, cluster.org_id));
  if (!settings) return null;
  const known = await findRepository(db, clusterId);
  if (known?.push_key) return { settings, repository: known };
  const now = sql<Date>`now()`;
  await whileHeld(db, holder, { settings, repository: { cluster_id: clusterId } }, (tx) =>
    tx
      .insertInto("gitops_repositories")
      .values({
        ...{ cluster_id: clusterId, org_id: cluster.org_id, name: repositoryName(cluster) },
        ...newKey(clusterId),
        ...{ created_at: now, updated_at: now },
      })
      .onConflict((on) => on.column("cluster_id").doUpdateSet({ ...newKey(clusterId), updated_at: now }))
      .execute(),
  );
  const repository = await findRepository(db, clusterId);
  return repository ? { settings, repository } : null;
}

export async function findRepository(db: Queries, clusterId: string): Promise<Repository | null> {
  const found = await db
    .selectFrom("gitops_repositories")
    .selectAll()
    .where("cluster_id", "=", clusterId)
    .executeTakeFirst();
  return found ?? null;
}

export async function setUrl(db: Queries, holder: Holder, synced: Synced, url: string): Promise<void> {
  await whileHeld(db, holder, synced, (tx) =>
    tx
      .updateTable("gitops_repositories")
      .set({ url, updated_at: sql<Date>`now()` })
      .where("cluster_id", "=", synced.repository.cluster_id)
      .execute(),
  );
}

/**
 * Whether this cluster may ask the host. After the host did not answer, one cluster of the organization tries again, and the others
 * wait for what it finds.
 */
export async function mayTry(db: Queries, { org_id, paused_until }: GitopsSettings): Promise<boolean> {
  if (paused_until === null) return true;
  const { numAffectedRows = 0n } = await sql`
    update gitops_settings set paused_until = now() + interval '30 seconds'
    where org_id = ${org_id} and paused_until <= now()
  `.execute(db);
  return numAffectedRows > 0n;
}

/** More than are written at once, so that one that ends a batch is seen. */
const MOST_ROWS = 102;

export const waitingRows = (db: Queries, clusterId: string): Promise<OutboxRow[]> =>
  db
    .selectFrom("gitops_outbox")
    .selectAll()
    .where("cluster_id", "=", clusterId)
    .orderBy("revision")
    .limit(MOST_ROWS)
    .execute();

export const allWaiting = (db: Queries, clusterId: string): Promise<OutboxRow[]> =>
  db.selectFrom("gitops_outbox").selectAll().where("cluster_id", "=", clusterId).orderBy("revision").execute();

/** The clusters that have a repository. */
export async function writtenRepositories(db: Queries): Promise<string[]> {
  const query = db.selectFrom("gitops_repositories").select("cluster_id").where("url", "is not", null);
  return (await query.orderBy("cluster_id").execute()).map(({ cluster_id }) => cluster_id);
}

/** Reads one moment of the database. */
export const atOneMoment = <T>(db: Queries, read: (tx: Tx) => Promise<T>): Promise<T> =>
  db.transaction().setIsolationLevel("repeatable read").execute(read);

/** Puts on record what is about to be pushed, and which commit has which generation, so that neither is lost with this process. */
export async function beforePush(db: Queries, holder: Holder, synced: Synced, batch: Batch): Promise<void> {
  const clusterId = synced.repository.cluster_id;
  await whileHeld(db, holder, synced, async (tx) => {
    await tx
      .updateTable("gitops_repositories")
      .set({ pushing_head: batch.head, pushing_revision: batch.revision, updated_at: sql<Date>`now()` })
      .where("cluster_id", "=", clusterId)
      .execute();
    await recordCommits(tx, clusterId, batch);
  });
}

/** The repository has all changes up to a revision. Null as head leaves the head as it is. */
export async function written(
  db: Queries,
  holder: Holder,
  synced: Synced,
  { head, revision, now }: { readonly head: string | null; readonly revision: number; readonly now: Date },
): Promise<void> {
  const clusterId = synced.repository.cluster_id;
  await whileHeld(db, holder, synced, async (tx) => {
    await tx
      .updateTable("gitops_repositories")
      .set({
        ...(head === null ? {} : { head, head_at: now }),
        head_revision: revision,
        ...{ pushing_head: null, pushing_revision: null, ...NO_TROUBLE, ...seenAt(now) },
        updated_at: now,
      })
      .where("cluster_id", "=", clusterId)
      .execute();
    await tx
      .deleteFrom("gitops_outbox")
      .where("cluster_id", "=", clusterId)
      .where("revision", "<=", revision)
      .execute();
  });
}

/** The head is ours, though it is not on record what it has: the whole state is written on it. */
export async function adopted(db: Queries, holder: Holder, synced: Synced, head: string, now: Date): Promise<void> {
  const { cluster_id } = synced.repository;
  await whileHeld(db, holder, synced, async (tx) => {
    await tx
      .updateTable("gitops_repositories")
      .set({
        head,
        head_at: now,
        pushing_head: null,
        pushing_revision: null,
        ...NO_TROUBLE,
        ...seenAt(now),
        updated_at: now,
      })
      .where("cluster_id", "=", cluster_id)
      .execute();
    await forgetUnwritten(tx, cluster_id);
    await tx.deleteFrom("gitops_outbox").where("cluster_id", "=", cluster_id).execute();
    await sql`
      insert into gitops_outbox (cluster_id, revision, org_id, at, summary, resources, bytes)
      select id, revision, org_id, ${now}, 'Write the whole state', '[]', 0 from clusters where id = ${cluster_id}
    `.execute(tx);
  });
}

const NO_TROUBLE = {
  ...{ foreign_head: null, error_code: null, error_message: null, error_at: null },
  ...{ failures: 0, next_try_at: null },
} as const;

/** The host has answered. Whether other clusters of the organization waited for this. */
export async function hostAnswered(db: Queries, settings: GitopsSettings): Promise<boolean> {
  if (settings.paused_until === null) return false;
  await pausing(db, settings, null);
  return true;
}

/** The pause of a former place is nothing to the new one. */
async function pausing(
  db: Queries,
  { org_id, epoch }: GitopsSettings,
  paused_until: RawBuilder<Date> | null,
): Promise<void> {
  const update = db.updateTable("gitops_settings").set({ paused_until });
  await update.where("org_id", "=", org_id).where("epoch", "=", epoch).execute();
}

/** Everything was done and the head was seen, so what was wrong before is so no more. */
export async function settled(db: Queries, holder: Holder, synced: Synced, now: Date): Promise<void> {
  const { cluster_id } = synced.repository;
  await whileHeld(db, holder, synced, (tx) =>
    tx
      .updateTable("gitops_repositories")
      .set({ ...NO_TROUBLE, ...seenAt(now) })
      .where("cluster_id", "=", cluster_id)
      .execute(),
  );
}

/** Puts on record why nothing was written, and when it is tried again. */
export async function failed(
  db: Queries,
  holder: Holder,
  synced: Synced,
  problem: GitProblem,
  now: Date,
): Promise<void> {
  const { settings, repository } = synced;
  const failures = repository.failures + 1;
  const again = sql<Date>`now() + ${retryInSeconds(failures)} * interval '1 second'`;
  await whileHeld(db, holder, synced, async (tx) => {
    await tx
      .updateTable("gitops_repositories")
      .set({
        ...{ error_code: problem.code, error_message: problem.message.slice(0, 2_000), error_at: now },
        ...{ failures, next_try_at: again, updated_at: now },
      })
      .where("cluster_id", "=", repository.cluster_id)
      .execute();
  });
  const paused_until = problem.code === "unreachable" ? again : null;
  if (paused_until === null && settings.paused_until === null) return;
  // By itself: other workers share the lock of the settings, and would wait for one another.
  await pausing(db, settings, paused_until);
}

/** Stands for the head of somebody else where the branch is gone. */
const NO_BRANCH = "";

/** Somebody else has pushed: nothing is overwritten, and the head is looked at again later. */
export async function overtaken(
  db: Queries,
  holder: Holder,
  synced: Synced,
  foreign: string | null,
  now: Date,
): Promise<void> {
  await whileHeld(db, holder, synced, (tx) =>
    tx
      .updateTable("gitops_repositories")
      .set({
        ...NO_TROUBLE,
        ...seenAt(now),
        foreign_head: foreign ?? NO_BRANCH,
        next_try_at: sql<Date>`now() + ${LOOK_AGAIN_SECONDS} * interval '1 second'`,
        updated_at: sql<Date>`now()`,
      })
      .where("cluster_id", "=", synced.repository.cluster_id)
      .execute(),
  );
}

/** As many of one resource as it has revisions. */
const MOST_COMMITS_OF_A_RESOURCE = 200;

/** Those that were to be pushed and never arrived. */
async function forgetUnwritten(tx: Tx, clusterId: string): Promise<void> {
  await sql`
    delete from gitops_commits where cluster_id = ${clusterId} and revision > coalesce(
      (select head_revision from gitops_repositories where cluster_id = ${clusterId}), -1)
  `.execute(tx);
}

async function recordCommits(tx: Tx, clusterId: string, { commits }: Batch): Promise<void> {
  const named = commits.flatMap(({ commit, revision, resources }) =>
    resources.map((resource) => ({ ...resource, revision, commit })),
  );
  await forgetUnwritten(tx, clusterId);
  if (named.length === 0) return;
  await sql`
    insert into gitops_commits (resource_id, generation, cluster_id, revision, commit_id)
    select distinct on (resource_id, generation) resource_id, generation, ${clusterId}::uuid, revision, commit
    from jsonb_to_recordset(${JSON.stringify(named)}::jsonb)
      as given (resource_id uuid, generation bigint, revision bigint, commit text)
    order by resource_id, generation, revision
    on conflict (resource_id, generation) do nothing
  `.execute(tx);
  await sql`
    delete from gitops_commits where (resource_id, generation) in (
      select resource_id, generation from (
        select resource_id, generation, row_number() over (partition by resource_id order by generation desc) as place
        from gitops_commits where resource_id = any(${[...new Set(named.map(({ resource_id }) => resource_id))]}::uuid[])
      ) held where place > ${MOST_COMMITS_OF_A_RESOURCE})
  `.execute(tx);
}

/** Has the repository written again at once, behind others that wait. */
export async function continueLater(db: Queries, { settings, repository }: Synced): Promise<void> {
  await runTogether(db, [syncJob(settings.org_id, repository.cluster_id)]);
}

const MOST_WOKEN = 1_000;

/**
 * Has every repository looked at for which there is something to do: changes that wait, a head of somebody else, keys to prove or to
 * remove. So nothing depends on a job that was lost. Returns how many.
 */
export async function wakeRepositories(db: Queries, now: Date, orgId: string | null = null): Promise<number> {
  const { rows } = await sql<{ org_id: string; cluster_id: string }>`
    select c.org_id, c.id as cluster_id from gitops_settings s join clusters c on c.org_id = s.org_id
      left join gitops_repositories r on r.cluster_id = c.id
    where s.is_on and (s.paused_until is null or s.paused_until <= now()) and (r.next_try_at is null or r.next_try_at <= now())
      and (${orgId}::uuid is null or s.org_id = ${orgId}::uuid)
      and (exists (select from gitops_outbox o where o.cluster_id = c.id) or r.foreign_head is not null
        or exists (select from gitops_keys k where k.cluster_id = c.id
          and (k.remove_at <= ${now} or k.proven_at is null and k.superseded_at is null)))
      and not exists (select from jobs j where j.kind = ${SYNC_KIND} and j.status = 'pending'
        and j.tenant_id = c.org_id and j.payload ->> 'cluster_id' = c.id::text)
    order by c.id limit ${MOST_WOKEN}
  `.execute(db);
  if (rows.length > 0)
    await runTogether(
      db,
      rows.map(({ org_id, cluster_id }) => syncJob(org_id, cluster_id)),
    );
  return rows.length;
}

/** Opens what belongs to a repository. */
export const openedPushKey = (vault: Vault, { cluster_id, sealed_push_key }: Repository): string =>
  vault.open(sealed_push_key ?? "", pushKeyPlace(cluster_id));
export const pushKeyPlace = (clusterId: string) => ({
  table: "gitops_repositories",
  row: clusterId,
  column: "sealed_push_key",
});
