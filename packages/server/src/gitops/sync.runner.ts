import type { Bus } from "../bus/bus.ts";
import type { Clock } from "../clock.ts";
import type { Queries } from "../database/transaction.ts";
import { GitProblem } from "../git/git-problem.ts";
import type { GitRepository } from "../git/git-repository.ts";
import { fingerprintOf, readPublicKey } from "../git/ssh-key.ts";
import { EMPTY_TREE, type Tree, treeOf } from "../git/tree.ts";
import { verifyHistory } from "../git/verify.ts";
import { JOBS_TOPIC } from "../jobs/job.ts";
import type { JobContext, JobHandler } from "../jobs/running-job.runner.ts";
import type { Vault } from "../vault/vault.ts";
import { wholeState } from "./content.store.ts";
import { fingerprintVault } from "./fingerprint.ts";
import type { GitAccess } from "./git-access.ts";
import { hostAccess, opened } from "./gitops-settings.store.ts";
import { proveKeys, removeKeys } from "./key.runner.ts";
import { ourKeys } from "./key.store.ts";
import { wakeLooks } from "./look.store.ts";
import type { KindsWith } from "./outbox.store.ts";
import {
  adopted,
  atOneMoment,
  beforePush,
  continueLater,
  failed,
  findRepository,
  findSynced,
  hostAnswered,
  mayTry,
  openedPushKey,
  overtaken,
  pushKeyPlace,
  type Synced,
  settled,
  setUrl,
  waitingRows,
  wakeRepositories,
  written,
} from "./sync.store.ts";
import { type Batch, commitsOf, nextRows, type OutboxRow, type Repository, standingOf, stateCommit } from "./sync.ts";
import { type Holder, SettingsChanged } from "./sync-hold.store.ts";

interface SyncPorts {
  readonly db: Queries;
  readonly vault: Vault;
  readonly git: GitAccess;
  readonly clock: Clock;
  readonly kindsWith: KindsWith;
}

/** A job gives way to others after this time. What is left is the work of another one. */
const WORK_WITHIN_MS = 20_000;
/** A host that has not answered by then counts as one that does not. */
const HOST_WITHIN_MS = 60_000;

export const gitopsHandler = (ports: SyncPorts): JobHandler => ({
  async run(job, { signal, fence }: JobContext) {
    const clusterId = String(job.payload["cluster_id"]);
    const within = AbortSignal.any([signal, AbortSignal.timeout(HOST_WITHIN_MS)]);
    await syncCluster(ports, { id: job.id, fence }, clusterId, within);
    return undefined;
  },
});

/** A chore: see `wakeRepositories` and `wakeLooks`. */
export async function wakeGitops({
  db,
  bus,
  clock,
}: Pick<SyncPorts, "db" | "clock"> & { readonly bus: Bus }): Promise<void> {
  const woken = (await wakeRepositories(db, clock())) + (await wakeLooks(db));
  if (woken > 0) bus.publish(JOBS_TOPIC, {});
}

/**
 * Brings the repository of a cluster to what is on record. What goes wrong at the host is put on record and tried again later. Where
 * the settings change meanwhile, another job writes it as they are then.
 */
export async function syncCluster(
  ports: SyncPorts,
  holder: Holder,
  clusterId: string,
  signal: AbortSignal,
): Promise<void> {
  const { db, vault, git } = ports;
  const synced = await findSynced(db, holder, clusterId, (id) => {
    const { publicKey, privateKey } = git.newKey("binnacle");
    return { push_key: publicKey, sealed_push_key: vault.seal(privateKey, pushKeyPlace(id)) };
  });
  if (!synced || !(await mayTry(db, synced.settings))) return;
  try {
    await syncOrPutOnRecord(ports, holder, synced, signal);
    // The chore would have the next one looked at seconds later, which is too slow for thousands of them.
    await wakeLooks(db, { orgId: synced.settings.org_id, jobId: holder.id });
  } catch (error) {
    if (!(error instanceof SettingsChanged)) throw error;
    await continueLater(db, synced);
  }
}

async function syncOrPutOnRecord(ports: SyncPorts, holder: Holder, synced: Synced, signal: AbortSignal): Promise<void> {
  const { db, vault, git, clock } = ports;
  try {
    const url = await ensuredUrl(ports, holder, synced, signal);
    const repository = git.repository(accessOf(vault, synced, url));
    const { head } = await repository.fetch(signal);
    if (await hostAnswered(db, synced.settings)) await wakeRepositories(db, clock(), synced.settings.org_id);
    const end = await writeAll(ports, holder, synced, repository, head, signal);
    await proveKeys(ports, holder, synced, url, signal);
    await removeKeys(ports, holder, synced, signal);
    if (end !== "overtaken") await settled(db, holder, synced, clock());
    if (end === "something is left") await continueLater(db, synced);
  } catch (error) {
    const problem = problemOf(error, signal);
    if (!problem) throw error;
    await failed(db, holder, synced, problem, clock());
  }
}

/** A host that hangs does not answer either. A worker that stops is something else. */
function problemOf(error: unknown, { aborted, reason }: AbortSignal): GitProblem | null {
  if (error instanceof GitProblem && !aborted) return error;
  const isTimeout = aborted && reason instanceof DOMException && reason.name === "TimeoutError";
  return isTimeout ? new GitProblem("unreachable", "The Git host did not answer in time.") : null;
}

const accessOf = (vault: Vault, { settings, repository }: Synced, url: string) => ({
  url,
  branch: settings.branch,
  hostKeys: settings.host_keys,
  privateKey: openedPushKey(vault, repository),
});

/** Makes the repository and lets Binnacle push to it. All of it may be repeated. */
async function ensuredUrl(
  { db, vault, git }: SyncPorts,
  holder: Holder,
  synced: Synced,
  signal: AbortSignal,
): Promise<string> {
  const { settings, repository } = synced;
  // Without a head the branch is another one than before.
  if (repository.url !== null && repository.head !== null) return repository.url;
  const host = git.host(hostAccess(vault, settings));
  const { url } = await host.ensureRepository(repository.name, signal);
  const publicKey = repository.push_key ?? "";
  await host.addDeployKey(repository.name, { title: titleOf(publicKey), publicKey }, signal);
  const publicKeys = await ourKeys(db, repository.cluster_id);
  await host.allowPushes(repository.name, { branch: settings.branch, publicKeys }, signal);
  if (repository.url === null) await setUrl(db, holder, synced, url);
  return url;
}

/** Some hosts refuse a second key with the same title, and a repository may have one of an earlier time. */
const titleOf = (publicKey: string) => `Binnacle ${fingerprintOf(readPublicKey(publicKey)?.blob ?? Buffer.alloc(0))}`;

/** Pushes what waits, one batch after another. */
async function writeAll(
  ports: SyncPorts,
  holder: Holder,
  synced: Synced,
  git: GitRepository,
  atHost: string | null,
  signal: AbortSignal,
): Promise<"all is written" | "something is left" | "overtaken"> {
  const { db, clock } = ports;
  const clusterId = synced.repository.cluster_id;
  const startedAtMs = performance.now();
  let head = atHost;
  while (performance.now() - startedAtMs < WORK_WITHIN_MS) {
    const repository = (await findRepository(db, clusterId)) ?? synced.repository;
    const standing = standingOf(repository, head);
    if (standing === "foreign") {
      if (head !== null && (await recognized(ports, holder, synced, repository, git, head))) continue;
      await overtaken(db, holder, synced, head, clock());
      return "overtaken";
    }
    if (standing === "arrived") {
      await written(db, holder, synced, { head, revision: repository.pushing_revision ?? 0, now: clock() });
      continue;
    }
    const batch = await nextBatch(ports, synced, repository, git);
    if (batch === null) return "all is written";
    if (batch.head !== null) {
      await beforePush(db, holder, synced, batch);
      const outcome = await git.push(batch.objects, batch.head, head, signal);
      if (outcome.result === "refused") throw new GitProblem("refused", outcome.message);
      head = outcome.result === "stale" ? outcome.head : batch.head;
      if (outcome.result === "stale") continue;
    }
    await written(db, holder, synced, { head: batch.head, revision: batch.revision, now: clock() });
  }
  return "something is left";
}

/**
 * Puts a head on record that is not expected there and is ours all the same: a push that arrived after it had been given up, a branch
 * to which the organization returned, or one that is ahead of a restored database. False where somebody else has pushed or has taken
 * commits away.
 */
async function recognized(
  ports: SyncPorts,
  holder: Holder,
  synced: Synced,
  repository: Repository,
  git: GitRepository,
  head: string,
): Promise<boolean> {
  const { db, clock } = ports;
  if (!(await isOurs(synced, repository.head, head, git))) return false;
  const rows = nextRows(await waitingRows(db, synced.repository.cluster_id));
  const batch = rows[0]?.files ? await batchOfChanges(ports, synced, repository, git, rows) : null;
  const arrived = batch?.commits.find(({ commit }) => commit === head);
  if (arrived) await written(db, holder, synced, { head, revision: arrived.revision, now: clock() });
  else await adopted(db, holder, synced, head, clock());
  return true;
}

/** Whether every commit since the head on record is signed by the organization's own key. */
async function isOurs(
  { settings }: Synced,
  applied: string | null,
  head: string,
  git: GitRepository,
): Promise<boolean> {
  try {
    const commits = await git.commits(applied, head);
    const ours = [{ principal: "binnacle", publicKey: settings.signing_key }];
    return (await verifyHistory({ applied, head, commits }, ours)).result === "verified";
  } catch (error) {
    // It has more commits than are read, or one that Binnacle would not have written.
    if (error instanceof GitProblem && ["too_large", "unreadable"].includes(error.code)) return false;
    throw error;
  }
}

async function batchOfChanges(
  { vault, git: access }: SyncPorts,
  { settings }: Synced,
  { head }: Repository,
  git: GitRepository,
  rows: readonly OutboxRow[],
): Promise<Batch> {
  const sign = access.signWith(opened(vault, settings, "sealed_signing_key"));
  return commitsOf(rows, head, await treeAt(git, head), sign);
}

const treeAt = async (git: GitRepository, head: string | null): Promise<Tree> =>
  head === null ? EMPTY_TREE : treeOf(await git.readTree(head));

/** What is pushed next; null where nothing waits. A whole state is read at one moment, together with what waits behind it. */
async function nextBatch(
  ports: SyncPorts,
  synced: Synced,
  repository: Repository,
  git: GitRepository,
): Promise<Batch | null> {
  const { db, vault, git: access, kindsWith } = ports;
  const { cluster_id, head } = repository;
  const rows = nextRows(await waitingRows(db, cluster_id));
  const [first] = rows;
  if (!first) return null;
  if (first.files !== null) return batchOfChanges(ports, synced, repository, git, rows);
  const sign = access.signWith(opened(vault, synced.settings, "sealed_signing_key"));
  const kinds = kindsWith(fingerprintVault(vault, opened(vault, synced.settings, "sealed_fingerprint_key")));
  const state = await atOneMoment(db, (tx) => wholeState(tx, kinds, cluster_id));
  return stateCommit(first, state, head, await treeAt(git, head), sign);
}
