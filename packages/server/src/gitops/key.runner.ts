import type { RepoCredential } from "@binnacle/contract";
import type { Clock } from "../clock.ts";
import { runTogether } from "../database/prepared.adapter.ts";
import type { Queries, Tx } from "../database/transaction.ts";
import { GitProblem } from "../git/git-problem.ts";
import { newId } from "../id.adapter.ts";
import type { Vault } from "../vault/vault.ts";
import type { GitAccess } from "./git-access.ts";
import { findGitopsThatIsOn, hostAccess } from "./gitops-settings.store.ts";
import { changedMeanwhile, hostFault } from "./gitops-settings.ts";
import { agentKeys, deleteKey, insertKey, keyPlace, knownRepository, ourKeys, proven } from "./key.store.ts";
import { isUnproven, repoCredential } from "./key.ts";
import { syncJob } from "./outbox.store.ts";
import { findRepository, type Synced } from "./sync.store.ts";
import { repositoryName } from "./sync.ts";
import { type Holder, requireEpoch, SettingsChanged, whileHeld } from "./sync-hold.store.ts";

/** For all that a request asks of the host. */
const HOST_WITHIN_MS = 25_000;

interface Ports {
  readonly db: Queries;
  readonly vault: Vault;
  readonly git: GitAccess;
  readonly clock: Clock;
}

/** A key that the host has and the database has not. */
interface MintedKey {
  readonly credential: RepoCredential;
  save(tx: Tx): Promise<void>;
  /** Takes the key from the host again, because nobody got it. */
  withdraw(): Promise<void>;
}

/**
 * Makes a key that writes the repository of a cluster, and the repository where it is missing. Null without GitOps. A process that
 * ends before the key is stored leaves one at the host whose private part nobody has.
 */
export async function mintKey(
  { db, vault, git, clock }: Ports,
  cluster: { readonly id: string; readonly org_id: string; readonly name: string },
): Promise<MintedKey | null> {
  const settings = await findGitopsThatIsOn(db, cluster.org_id);
  if (!settings) return null;
  const id = newId();
  const key = git.newKey(`binnacle-agent-${id}`);
  const name = (await findRepository(db, cluster.id))?.name ?? repositoryName(cluster);
  const publicKeys = [...(await ourKeys(db, cluster.id)), key.publicKey];
  const signal = AbortSignal.timeout(HOST_WITHIN_MS);
  try {
    const host = git.host(hostAccess(vault, settings));
    const { url } = await host.ensureRepository(name, signal);
    const title = `Binnacle agent ${id}`;
    const { id: host_id } = await host.addDeployKey(name, { title, publicKey: key.publicKey }, signal);
    const withdraw = () =>
      host.removeDeployKey(name, host_id, AbortSignal.timeout(HOST_WITHIN_MS)).catch(() => undefined);
    await host.allowPushes(name, { branch: settings.branch, publicKeys }, signal).catch(async (error: unknown) => {
      await withdraw();
      throw error;
    });
    return {
      credential: repoCredential(id, url, key, settings),
      async save(tx) {
        const now = clock();
        // The key is at the former place. It is withdrawn there, and nobody gets it.
        await requireEpoch(tx, settings).catch((error: unknown) => {
          throw error instanceof SettingsChanged ? changedMeanwhile() : error;
        });
        await knownRepository(tx, { clusterId: cluster.id, orgId: cluster.org_id, name, now });
        await insertKey(tx, {
          ...{ id, cluster_id: cluster.id, org_id: cluster.org_id, host_id },
          ...{ public_key: key.publicKey, fingerprint: key.fingerprint },
          sealed_private_key: vault.seal(key.privateKey, keyPlace(id)),
          ...{ proven_at: null, superseded_at: null, remove_at: null, created_at: now, updated_at: now },
        });
        await runTogether(tx, [syncJob(cluster.org_id, cluster.id)]);
      },
      withdraw,
    };
  } catch (error) {
    throw hostFault(error);
  }
}

/** A key counts once something was pushed with it; from then on those before it are superseded. */
export async function proveKeys(
  { db, vault, git, clock }: Ports,
  holder: Holder,
  synced: Synced,
  url: string,
  signal: AbortSignal,
): Promise<void> {
  const { settings, repository: of } = synced;
  // The newest alone: once it is proven, those before it are superseded, whether they work or not.
  const [key] = (await agentKeys(db, of.cluster_id)).filter(isUnproven);
  if (!key) return;
  const privateKey = vault.open(key.sealed_private_key ?? "", keyPlace(key.id));
  const { branch, host_keys: hostKeys } = settings;
  // Two keys that were made at the same time do not know of each other when they are added.
  const publicKeys = await ourKeys(db, of.cluster_id);
  await git.host(hostAccess(vault, settings)).allowPushes(of.name, { branch, publicKeys }, signal);
  const repository = git.repository({ url, branch, privateKey, hostKeys });
  const { head } = await repository.fetch(signal);
  if (head === null) return;
  const outcome = await repository.push([], head, head, signal);
  if (outcome.result === "refused") throw new GitProblem("refused", outcome.message);
  if (outcome.result === "pushed")
    await whileHeld(db, holder, synced, (tx) => proven(tx, key, settings.key_grace_hours, clock()));
}

/** Takes keys from the host whose time of grace is over. Each is removed there before it is forgotten here. */
export async function removeKeys(
  { db, vault, git, clock }: Ports,
  holder: Holder,
  synced: Synced,
  signal: AbortSignal,
): Promise<void> {
  const { settings, repository } = synced;
  const now = clock();
  const due = (await agentKeys(db, repository.cluster_id)).filter(
    ({ remove_at }) => remove_at !== null && remove_at <= now,
  );
  for (const { id, host_id } of due) {
    await git.host(hostAccess(vault, settings)).removeDeployKey(repository.name, host_id, signal);
    await whileHeld(db, holder, synced, (tx) => deleteKey(tx, id));
  }
}
