import { ANNOTATIONS, LABELS, type PodSecurity, type ProjectReport } from "@binnacle/contract";
import type { StoredResource } from "../desired/desired-state.ts";
import { isDeleting, isOurs, ownLabels, resourceIdOf } from "../desired/ownership.ts";
import type { KubeObject } from "../kube/kube-client.ts";
import { deletionOf } from "./namespace-deletion.ts";
import { podSecurityLabels } from "./namespace-policy.ts";

export type Project = StoredResource<"project">;

/** All that a decision about a project needs. */
export interface SeenProject {
  readonly project: Project;
  /** That of the project's name, whoever made it. */
  readonly namespace: KubeObject | null;
  /** Custom resources of ours in the namespace, in words: `app web`. */
  readonly left: readonly string[];
  readonly clusterId: string;
  /** The highest level of Pod Security that a project may have on the cluster. */
  readonly podSecurityLimit: PodSecurity;
  readonly nowMs: number;
}

export interface ProjectDecision {
  readonly step: "create_namespace" | "label_namespace" | "delete_namespace" | "let_go" | "wait";
  /** Null where nothing can be said before the step is done. */
  readonly report: ProjectReport | null;
}

const wait = (state: ProjectReport["state"], message: string | null = null): ProjectDecision => ({
  step: "wait",
  report: { state, message },
});

export function decideProject(seen: SeenProject): ProjectDecision {
  return seen.project.isDeleting ? decideDeletion(seen) : decideExistence(seen);
}

function decideExistence(seen: SeenProject): ProjectDecision {
  const { project, namespace, clusterId, nowMs } = seen;
  const name = project.spec.namespace;
  if (!namespace) return { step: "create_namespace", report: null };
  if (!isOurs(namespace, clusterId)) {
    return wait("namespace_conflict", `The namespace ${name} exists on the cluster and was not made by Binnacle.`);
  }
  const isSame = resourceIdOf(namespace) === project.resource_id;
  if (isDeleting(namespace)) {
    const whose = isSame ? "It is made again once it is gone." : "It is that of an earlier project.";
    return wait("apply_failed", `${deletionOf(namespace, nowMs).message} ${whose}`);
  }
  // The content of an earlier project must not become readable for this one.
  if (!isSame) return wait("namespace_conflict", `The namespace ${name} on the cluster is that of another project.`);
  const ready: ProjectReport = { state: "ready", message: null };
  return { step: isLabelled(namespace, project, seen) ? "wait" : "label_namespace", report: ready };
}

function decideDeletion({ project, namespace, left, clusterId, nowMs }: SeenProject): ProjectDecision {
  const isItsOwn = namespace && isOurs(namespace, clusterId) && resourceIdOf(namespace) === project.resource_id;
  if (!isItsOwn) return { step: "let_go", report: null };
  if (isDeleting(namespace)) {
    const { isBlocked, message } = deletionOf(namespace, nowMs);
    return wait(isBlocked ? "cleanup_blocked" : "cleaning", message);
  }
  if (left.length > 0) return wait("cleaning", `Still on the cluster: ${left.join(", ")}.`);
  return { step: "delete_namespace", report: { state: "cleaning", message: null } };
}

/** The namespace of a project, with the labels and the id that identify it. */
export function namespaceOf(project: Project, cluster: ClusterFacts): KubeObject {
  return {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: {
      name: project.spec.namespace,
      labels: labelsOf(project, cluster),
      annotations: { [ANNOTATIONS.resourceId]: project.resource_id },
    },
  };
}

type ClusterFacts = Pick<SeenProject, "clusterId" | "podSecurityLimit">;

const labelsOf = (project: Project, { clusterId, podSecurityLimit }: ClusterFacts) => ({
  ...ownLabels(clusterId),
  [LABELS.project]: project.resource_id,
  ...podSecurityLabels(project, podSecurityLimit),
});

const isLabelled = ({ metadata }: KubeObject, project: Project, cluster: ClusterFacts): boolean =>
  Object.entries(labelsOf(project, cluster)).every(([name, value]) => metadata.labels?.[name] === value);

/** The namespace exists, but its policy objects could not be applied. */
export const policyFailed = (problems: readonly string[]): ProjectReport => ({
  state: "apply_failed",
  message: problems.join(" "),
});

/** The finalizers of others that keep the custom resource after its namespace is gone. */
export const finalizersLeft = (project: Project, finalizers: readonly string[]): ProjectReport => ({
  state: "cleanup_blocked",
  message: `The Project ${project.spec.namespace} is held on the cluster by ${
    finalizers.length > 0 ? `the finalizers ${finalizers.join(", ")}` : "somebody else"
  }.`,
});
