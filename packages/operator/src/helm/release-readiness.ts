import type { Reason } from "@binnacle/contract";
import type { KubeObject } from "../kube/kube-client.ts";
import { countRestartedPods, withoutRestartedPods } from "../kube/pod-trouble.ts";
import type { Readiness } from "../kube/readiness.ts";
import type { WorkloadCounts } from "../kube/workload-counts.ts";
import type { ReleaseObject } from "./manifest.ts";
import type { ReleaseId } from "./revision.ts";

export interface ObjectState {
  readonly object: Pick<ReleaseObject, "kind" | "name">;
  /** Null where it is not there. */
  readonly readiness: Readiness | null;
}

/** A workload of a release with its replicas. */
export interface ReleaseWorkload {
  readonly kind: string;
  readonly name: string;
  /** Null where it is not there. */
  readonly readiness: Readiness | null;
  readonly counts: WorkloadCounts;
}

export interface ReleaseReadiness {
  readonly state: Readiness["state"];
  /** One word for programs, where there is one. */
  readonly reason: Reason | null;
  readonly message: string | null;
  /** Objects that somebody has deleted, in words. */
  readonly missing: readonly string[];
}

/** There is nothing to see of these but that they are there, and many charts have a great many of them. */
const SILENT = new Set([
  "ConfigMap",
  "Secret",
  "ServiceAccount",
  "Role",
  "RoleBinding",
  "ClusterRole",
  "ClusterRoleBinding",
  "NetworkPolicy",
  "PodDisruptionBudget",
  "CustomResourceDefinition",
  "PriorityClass",
  "IngressClass",
  "ValidatingWebhookConfiguration",
  "MutatingWebhookConfiguration",
]);

export const isTelling = ({ kind }: Pick<ReleaseObject, "kind">): boolean => !SILENT.has(kind);

/** These end and may be cleared away by Kubernetes itself. */
export const isPassing = ({ kind }: Pick<ReleaseObject, "kind">): boolean => kind === "Job" || kind === "Pod";

const WORST_FIRST = ["failed", "unknown", "progressing"] as const;

/** A release is as ready as the worst of its objects. */
export function combined(states: readonly ObjectState[]): ReleaseReadiness {
  const missing = states.flatMap(({ object, readiness }) => (readiness ? [] : [`${object.kind} ${object.name}`]));
  if (missing.length > 0) {
    const message = `No longer on the cluster: ${missing.slice(0, 5).join(", ")}.`;
    return { state: "failed", reason: "ObjectMissing", message, missing };
  }
  for (const state of WORST_FIRST) {
    const found = states.find(({ readiness }) => readiness?.state === state);
    const readiness = found?.readiness;
    if (readiness) return { state, reason: readiness.reason ?? null, message: readiness.message, missing };
  }
  return { state: "ready", reason: null, message: null, missing };
}

/** Pods that have just been restarted do not count as ready yet. */
export function workloadWithoutRestarted(
  workload: ReleaseWorkload,
  pods: readonly KubeObject[],
  nowMs: number,
): ReleaseWorkload {
  const { counts, readiness } = workload;
  const restarted = countRestartedPods(pods, nowMs);
  return {
    ...workload,
    readiness: readiness && withoutRestartedPods(readiness, pods, nowMs),
    counts: { ...counts, ready: Math.max(0, counts.ready - restarted) },
  };
}

export function releaseWithoutRestarted(
  readiness: ReleaseReadiness,
  pods: readonly KubeObject[],
  nowMs: number,
): ReleaseReadiness {
  if (readiness.state !== "ready" || countRestartedPods(pods, nowMs) === 0) return readiness;
  return { ...readiness, state: "progressing", message: "Pods of it have just been restarted." };
}

/** Helm writes this onto all that it makes. */
export const RELEASE_NAME = "meta.helm.sh/release-name";
export const RELEASE_NAMESPACE = "meta.helm.sh/release-namespace";

export function isOfRelease(
  { metadata: { annotations } }: Pick<KubeObject, "metadata">,
  { name, namespace }: Pick<ReleaseId, "name" | "namespace">,
): boolean {
  return annotations?.[RELEASE_NAME] === name && annotations[RELEASE_NAMESPACE] === namespace;
}
