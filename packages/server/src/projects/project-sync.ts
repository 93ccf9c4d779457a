import type { ProjectBody, ProjectReport } from "@binnacle/contract";
import { type SettingsRow, settingsOf } from "../clusters/cluster-settings.ts";
import {
  applyFailed,
  cleanupUnconfirmed,
  type Lifecycle,
  namespaceConflict,
  type Project,
  seenOnCluster,
} from "./project.ts";
import { effectivePodSecurity, type PolicyColumns } from "./project-policy.ts";

/** What a cluster is told of a project. */
export function projectBody(
  project: Pick<Project, "org_id" | "name" | "namespace" | keyof PolicyColumns>,
  settingsRow: SettingsRow | null,
): ProjectBody {
  const { ingress_namespaces, cluster_wide_charts, pod_security } = settingsOf(settingsRow);
  const { org_id, name, namespace, isolation, quota } = project;
  const policy = {
    pod_security: effectivePodSecurity(project, pod_security),
    isolation,
    ingress_namespaces,
    ...(quota ? { quota } : {}),
    cluster_wide_charts,
  };
  return { spec: { org_id, name, namespace, policy }, secret: {} };
}

/** What a report on the present generation makes of a project; the project itself where it changes nothing. */
export function projectAfterReport(project: Project, report: ProjectReport): Project {
  const next = lifecycleAfter(project, report);
  return next ? { ...project, ...next } : project;
}

function lifecycleAfter(project: Project, { state, message }: ProjectReport): Lifecycle | null {
  switch (state) {
    case "ready":
      return seenOnCluster(project);
    case "apply_failed":
      return applyFailed(project, message ?? "The operator could not make the namespace.");
    case "namespace_conflict":
      return namespaceConflict(project, message ?? "The namespace is there and belongs to somebody else.");
    case "cleanup_blocked":
      return cleanupUnconfirmed(project, message ?? "Something on the cluster keeps the namespace from going.");
    case "cleaning":
      return null;
  }
}
