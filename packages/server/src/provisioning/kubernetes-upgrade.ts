import {
  FIRST_KUBERNETES,
  type KubernetesRelease,
  SHIPPED_KUBERNETES,
  upgradeStepProblem,
} from "../cloud/kubernetes-release.ts";
import type { ProvisioningFailure, Snapshot } from "../cloud/provider.ts";
import { type Cluster, hasLiveSession } from "../clusters/cluster.ts";
import { conflict, type Fault } from "../fault.ts";
import { CONTROL_PLANE_NODE } from "./node-token.ts";
import { type ProvisioningJob, scaleProblem } from "./provisioning.ts";
import { nodeNames } from "./provisioning-run.ts";

type ClusterToUpgrade = Parameters<typeof scaleProblem>[0] &
  Pick<Cluster, "agent_count" | "kubernetes_release" | "session_lease_until" | "snapshot_bucket">;

interface Wanted {
  readonly release: string;
  readonly force: boolean;
  /** The newest upgrade of the cluster. */
  readonly last: Pick<ProvisioningJob, "kubernetes_release" | "status"> | undefined;
}

/** What an upgrade leads to, and the node that it begins with; or why there is none. */
export function upgradeStart(
  cluster: ClusterToUpgrade,
  { release, force, last }: Wanted,
  now: Date,
  shipped: readonly KubernetesRelease[] = SHIPPED_KUBERNETES,
): { readonly target: KubernetesRelease; readonly node: string } | Fault {
  if (cluster.credential_id === null) return conflict("Binnacle has not made the machines of this cluster.");
  const problem = scaleProblem(cluster);
  if (problem) return problem;
  if (cluster.job_status === "failed")
    return conflict(`The last job of the cluster has failed: ${cluster.job_action}. Retry it first.`);
  const target = shipped.find(({ version }) => version === release);
  const has = shipped.map(({ version }) => version).join(", ");
  if (!target) return conflict(`This version of Binnacle does not have ${release}. It has ${has}.`);
  const { version } = cluster.kubernetes_release ?? FIRST_KUBERNETES;
  const step = upgradeStepProblem(version, release);
  if (step) return conflict(step);
  const node = firstNode(version === release, cluster.agent_count ?? 0, last, release);
  if (node === null) return conflict(`The cluster has ${release} already.`);
  if (cluster.snapshot_bucket === null)
    return conflict("The cluster has no bucket with snapshots of its control plane, from which that is made anew.");
  if (!force && !hasLiveSession(cluster, now))
    return conflict(
      "The operator is not connected, so nodes cannot be drained. Wait for it, or ask again with `force`.",
    );
  return { target, node };
}

/** Where the control plane has the release, an upgrade that has not come to its end left agents behind. */
function firstNode(isServerDone: boolean, agents: number, last: Wanted["last"], release: string): string | null {
  if (!isServerDone) return CONTROL_PLANE_NODE;
  const isUnfinished =
    last !== undefined && last.status !== "succeeded" && last.kubernetes_release?.version === release;
  return isUnfinished && agents > 0 ? "agent-1" : null;
}

/** The control plane comes first: no kubelet may be newer than it. Null after the last node. */
export function nodeAfter(node: string | null, agentCount: number): string | null {
  const nodes = nodeNames(agentCount);
  const place = node === null ? -1 : nodes.indexOf(node);
  return place === -1 ? null : (nodes[place + 1] ?? null);
}

const FRESH_MS = 15 * 60_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** Within these minutes after the full hour the control plane may still be putting its snapshot into the bucket. */
const UPLOAD_MS = 10 * MINUTE_MS;
const UPLOADED_MS = 2 * MINUTE_MS;
const LONGEST_WAIT_MS = 3 * HOUR_MS;

export const isFresh = ({ takenAt }: Snapshot, now: Date): boolean => now.getTime() - Date.parse(takenAt) <= FRESH_MS;

/** How long a job waits for the next snapshot, of which there is one at each full hour; null where it has waited for too long. */
export function snapshotWaitMs(since: Date | null, now: Date): number | null {
  if (since !== null && now.getTime() - since.getTime() >= LONGEST_WAIT_MS) return null;
  const sinceHourMs = now.getTime() % HOUR_MS;
  return sinceHourMs < UPLOAD_MS ? MINUTE_MS : HOUR_MS - sinceHourMs + UPLOADED_MS;
}

export const NO_FRESH_SNAPSHOT: ProvisioningFailure = {
  code: "no_snapshot",
  message:
    "The control plane is made anew from a snapshot of the last minutes, and there is none. Nothing was changed. Look in the bucket of the cluster whether " +
    "its control plane still puts a snapshot there every hour, and retry the job.",
};
