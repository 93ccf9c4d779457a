import type { LeftObject, Operation } from "@binnacle/contract";
import { conflict, type Fault, invalidValue } from "../fault.ts";
import { type Cluster, hasLiveSession, isProvisioned } from "./cluster.ts";
import { OPERATOR_NAMESPACE } from "./connection.ts";

/** Changes that an abandoned cluster takes: they end it, or take rights away. */
const TAKEN_WHEN_ABANDONED: ReadonlySet<string> = new Set([
  "abandonCluster",
  "deleteCluster",
  "detachCluster",
  "planCluster",
  "revokeClusterRole",
]);

export const clusterIsAbandoned = () =>
  conflict("The cluster was abandoned and takes no changes. Delete it to end its record.");

/** Returns why an operation is not carried out on a cluster that was given up, or null. */
export function abandonedProblem(
  { abandoned_at, deletion_requested_at }: Pick<Cluster, "abandoned_at" | "deletion_requested_at">,
  { id, method }: Pick<Operation, "id" | "method">,
): Fault | null {
  const isAbandoned = abandoned_at !== null && deletion_requested_at === null;
  return isAbandoned && method !== "GET" && !TAKEN_WHEN_ABANDONED.has(id) ? clusterIsAbandoned() : null;
}

const otherName = (what: string) =>
  invalidValue(["body", "name"], `This is not the name of the cluster; type the name of the one to ${what}`);

/** Returns why the cluster is not let go, or null. Asked again, one that is being let go is not refused. */
export function detachmentProblem(cluster: Cluster, typedName: string, now: Date): Fault | null {
  if (typedName !== cluster.name) return otherName("detach");
  if (cluster.detach_requested_at !== null) return null;
  if (cluster.abandoned_at !== null) return clusterIsAbandoned();
  if (isProvisioned(cluster)) {
    return conflict(
      "Binnacle has made the machines of the cluster, so it cannot be detached: they would be paid for and belong to nobody. Delete the cluster.",
    );
  }
  if (!hasLiveSession(cluster, now)) {
    return conflict(
      "The operator of the cluster is not connected, and only it can let go of what it manages. Start it and detach again, or abandon the " +
        "cluster if it never comes back.",
    );
  }
  if (cluster.detaches !== true) {
    return conflict("The operator of the cluster is too old to detach it. Upgrade the operator and detach again.");
  }
  return null;
}

/** Returns why the cluster is not given up, or null. The name is typed to show that this very cluster is meant. */
export function abandonmentProblem(cluster: Cluster, typedName: string, now: Date): Fault | null {
  if (typedName !== cluster.name) return otherName("give up");
  if (cluster.detach_requested_at !== null) {
    return conflict("The cluster is being detached. Delete it to end its record before its operator has let go of it.");
  }
  if (cluster.abandoned_at === null && hasLiveSession(cluster, now)) {
    return conflict(
      "The operator of the cluster is connected. Delete its projects, so that the cluster is cleaned up.",
    );
  }
  return null;
}

const MOST_LEFT = 5;

/** What the operator has not let go of yet, in words. */
export function detachMessage(left: readonly LeftObject[]): string {
  const named = left
    .slice(0, MOST_LEFT)
    .map(({ kind, namespace, name, reason }) => `${kind} ${namespace ? `${namespace}/` : ""}${name} (${reason})`);
  const more = left.length > MOST_LEFT ? ` and ${left.length - MOST_LEFT} more` : "";
  return `The operator has not let go yet of: ${named.join(", ")}${more}.`;
}

const MOST_NAMED = 20;

/** Says what may be left where nobody has cleaned up. A cluster whose operator never connected has nothing of Binnacle. */
export function leftBehind(
  cluster: Pick<Cluster, "first_connected_at" | "credential_id">,
  namespaces: readonly string[],
): string[] {
  const isTouched = cluster.first_connected_at !== null;
  const named = namespaces.slice(0, MOST_NAMED).join(", ");
  const more = namespaces.length > MOST_NAMED ? ` and ${namespaces.length - MOST_NAMED} more` : "";
  return [
    ...(isTouched && namespaces.length > 0
      ? [
          `In the cluster, these namespaces with everything that runs in them, their secrets and volumes: ${named}${more}.`,
          "Cluster-wide objects of their charts, and volumes at the provider that outlive the cluster.",
        ]
      : []),
    ...(isTouched
      ? [
          `The operator in the namespace ${OPERATOR_NAMESPACE} and the custom resources of Binnacle. If it connects again, it ` +
            "removes the namespaces above; until then, what it last stored keeps running.",
        ]
      : []),
    ...(isProvisioned(cluster) ? ["The infrastructure at the provider: delete the cluster to have it destroyed."] : []),
  ];
}
