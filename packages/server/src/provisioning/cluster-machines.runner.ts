import { FIRST_KUBERNETES } from "../cloud/kubernetes-release.ts";
import type { CloudAccess, CloudProvider, Snapshot, WantedCluster } from "../cloud/provider.ts";
import type { Cluster } from "../clusters/cluster.ts";
import type { Queries } from "../database/transaction.ts";
import type { Vault } from "../vault/vault.ts";
import { newJoinToken, newSshKeyPair } from "./cluster-secrets.adapter.ts";
import { firstRelease } from "./egress.ts";
import { type RunHold, saveMadeWith } from "./provisioning-run.store.ts";
import { NO_BUCKET, NO_SNAPSHOT, RunFailed } from "./provisioning-run.ts";

type Made = Pick<WantedCluster, "sshPublicKey" | "kubernetes" | "snapshotBucket">;

/** What all machines of a cluster are made with, decided by its first run. A later one has the same, whatever new clusters get. */
export async function machinesMadeWith(
  { db, vault }: { readonly db: Queries; readonly vault: Vault },
  hold: RunHold,
  cluster: Cluster,
  access: CloudAccess,
): Promise<Made> {
  if (cluster.ssh_public_key !== null) {
    const kubernetes = cluster.kubernetes_release ?? FIRST_KUBERNETES;
    return { sshPublicKey: cluster.ssh_public_key, kubernetes, snapshotBucket: cluster.snapshot_bucket };
  }
  const { publicKey, privateKey } = newSshKeyPair(`binnacle-${cluster.id}`);
  const sealed = (column: string, value: string) => vault.seal(value, { table: "clusters", row: cluster.id, column });
  const snapshotBucket = access["snapshot_bucket"] ?? null;
  const kubernetes = firstRelease(cluster.egress);
  await saveMadeWith(db, hold, cluster.id, {
    ssh_public_key: publicKey,
    sealed_ssh_key: sealed("sealed_ssh_key", privateKey),
    sealed_join_token: sealed("sealed_join_token", newJoinToken()),
    sealed_agent_token: sealed("sealed_agent_token", newJoinToken()),
    kubernetes_release: kubernetes,
    snapshot_bucket: snapshotBucket,
  });
  return { sshPublicKey: publicKey, kubernetes, snapshotBucket };
}

/** The snapshot from which a control plane is made anew. Throws where there is none, before anything is changed. */
export async function snapshotToRestore(
  provider: CloudProvider,
  access: CloudAccess,
  { id, bucket }: { readonly id: string; readonly bucket: string | null },
  signal: AbortSignal,
): Promise<Snapshot> {
  if (bucket === null) throw new RunFailed(NO_BUCKET);
  const snapshot = await provider.newestSnapshot(access, id, bucket, signal);
  if (!snapshot) throw new RunFailed(NO_SNAPSHOT);
  return snapshot;
}
