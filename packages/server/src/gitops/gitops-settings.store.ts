import { sql } from "kysely";
import type { Queries, Tx } from "../database/transaction.ts";
import type { HostKey } from "../git/git-host.ts";
import type { Vault } from "../vault/vault.ts";
import { type GitAccess, type HostAccess, sshUrlOf } from "./git-access.ts";
import { changedMeanwhile, type GitopsSettings, isMoved, type Wanted } from "./gitops-settings.ts";

const TABLE = "gitops_settings";
type Sealed = "sealed_token" | "sealed_signing_key" | "sealed_fingerprint_key";
const placeOf = (orgId: string, column: Sealed) => ({ table: TABLE, row: orgId, column });

/** Also of an organization that has switched GitOps off. */
export async function findGitops(db: Queries, orgId: string): Promise<GitopsSettings | null> {
  return (await db.selectFrom(TABLE).selectAll().where("org_id", "=", orgId).executeTakeFirst()) ?? null;
}

export async function findGitopsThatIsOn(db: Queries, orgId: string): Promise<GitopsSettings | null> {
  const found = await findGitops(db, orgId);
  return found?.is_on ? found : null;
}

/** Opens what a setting keeps. */
export function opened(vault: Vault, settings: GitopsSettings, column: Sealed): string {
  return vault.open(settings[column] ?? "", placeOf(settings.org_id, column));
}

export function hostAccess(vault: Vault, settings: GitopsSettings): HostAccess {
  const { provider, base_url: baseUrl, owner, ssh_url, host_keys: hostKeys } = settings;
  const sshUrl = sshUrlOf(baseUrl, ssh_url);
  return { provider, baseUrl, owner, sshUrl, hostKeys, token: opened(vault, settings, "sealed_token") };
}

interface Ports {
  readonly vault: Vault;
  readonly git: Pick<GitAccess, "newKey">;
  readonly newSecret: () => string;
}

/**
 * Stores the settings and has the state of each cluster written. Each cluster's row is locked, so that a change that is under way
 * is in that state, and one behind it finds GitOps switched on.
 */
export async function saveGitops(
  tx: Tx,
  { vault, git, newSecret }: Ports,
  orgId: string,
  wanted: Wanted,
  hostKeys: readonly HostKey[],
  now: Date,
): Promise<GitopsSettings> {
  await lockClusters(tx, orgId);
  const before = await findGitops(tx, orgId);
  // The token that stays was looked at before the host was asked.
  if (wanted.token === null && (!before?.sealed_token || isMoved(before, wanted))) throw changedMeanwhile();
  const { token, hostKeys: _asked, ...fields } = wanted;
  const key = before ? null : git.newKey("binnacle");
  const seal = (column: Sealed, secret: string) => vault.seal(secret, placeOf(orgId, column));
  const moved = before !== null && isMoved(before, wanted);
  const isOtherwiseWritten = moved || before?.branch !== wanted.branch || !before.is_on;
  const values = {
    ...fields,
    is_on: true,
    host_keys: JSON.stringify(hostKeys),
    ...(token === null ? {} : { sealed_token: seal("sealed_token", token) }),
    paused_until: null,
    updated_at: now,
  };
  if (before) {
    const epoch = before.epoch + (isOtherwiseWritten ? 1 : 0);
    await tx
      .updateTable(TABLE)
      .set({ ...values, epoch })
      .where("org_id", "=", orgId)
      .execute();
  } else {
    await tx
      .insertInto(TABLE)
      .values({
        ...values,
        org_id: orgId,
        sealed_token: seal("sealed_token", token ?? ""),
        signing_key: key?.publicKey ?? "",
        sealed_signing_key: seal("sealed_signing_key", key?.privateKey ?? ""),
        sealed_fingerprint_key: seal("sealed_fingerprint_key", newSecret()),
        created_at: now,
      })
      .execute();
  }
  if (moved) await forgetRepositories(tx, orgId);
  if (before && before.branch !== wanted.branch && !moved) await forgetHeads(tx, orgId, now);
  if (isOtherwiseWritten) await writeStates(tx, orgId, now);
  return (await findGitops(tx, orgId)) as GitopsSettings;
}

/** Switches GitOps off: nothing is written any more. The keys of the organization stay for when it is switched on again. */
export async function endGitops(tx: Tx, orgId: string, now: Date): Promise<void> {
  await lockClusters(tx, orgId);
  await tx
    .updateTable(TABLE)
    .set({ is_on: false, sealed_token: null, paused_until: null, epoch: sql<number>`epoch + 1`, updated_at: now })
    .where("org_id", "=", orgId)
    .execute();
  await tx.deleteFrom("gitops_outbox").where("org_id", "=", orgId).execute();
}

/** Before the settings, as whoever writes a repository does. */
async function lockClusters(tx: Tx, orgId: string): Promise<void> {
  await sql`select from clusters where org_id = ${orgId} order by id for update`.execute(tx);
}

async function forgetCommits(tx: Tx, orgId: string): Promise<void> {
  await tx
    .deleteFrom("gitops_commits")
    .where("cluster_id", "in", tx.selectFrom("clusters").select("id").where("org_id", "=", orgId))
    .execute();
}

/** The repositories at another place are others, and the keys of those before are nothing to them. */
async function forgetRepositories(tx: Tx, orgId: string): Promise<void> {
  await tx.deleteFrom("gitops_keys").where("org_id", "=", orgId).execute();
  await tx.deleteFrom("gitops_repositories").where("org_id", "=", orgId).execute();
  await forgetCommits(tx, orgId);
}

async function forgetHeads(tx: Tx, orgId: string, now: Date): Promise<void> {
  await forgetCommits(tx, orgId);
  await tx
    .updateTable("gitops_repositories")
    .set({
      ...{ head: null, head_revision: null, head_at: null, pushing_head: null, pushing_revision: null },
      ...{ foreign_head: null, error_code: null, error_message: null, error_at: null, next_try_at: null, failures: 0 },
      observed_at: null,
      updated_at: now,
    })
    .where("org_id", "=", orgId)
    .execute();
}

async function writeStates(tx: Tx, orgId: string, now: Date): Promise<void> {
  await tx.deleteFrom("gitops_outbox").where("org_id", "=", orgId).execute();
  await sql`
    insert into gitops_outbox (cluster_id, revision, org_id, at, summary, resources, bytes)
    select id, revision, org_id, ${now}, 'Write the whole state', '[]', 0 from clusters
    where org_id = ${orgId} and abandoned_at is null and deletion_requested_at is null
  `.execute(tx);
}
