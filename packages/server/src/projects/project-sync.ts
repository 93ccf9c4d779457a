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

/** The body of a project that is sent to its cluster. */
export function projectBody(
  project: Pick<Project, "org_id" | "name" | "namespace" | keyof PolicyColumns>,
  settingsRow: SettingsRow | null,
): ProjectBody {
  const { ingress_namespaces, cluster_wide_charts, pod_security } = settingsOf(settingsRow);
  const { org_id, name, namespace, isolation } = project;
  const policy = {
    pod_security: effectivePodSecurity(project, pod_security),
    isolation,
    ingress_namespaces,
    cluster_wide_charts,
  };
  return { spec: { org_id, name, namespace, policy }, secret: {} };
}

/** Applies a report on the current generation to a project; returns the same object where nothing changes. */
export function projectAfterReport<P extends Project>(project: P, report: ProjectReport): P {
  const next = lifecycleAfter(project, report);
  return next ? { ...project, ...next } : project;
}

function lifecycleAfter(project: Project, { state, message }: ProjectReport): Lifecycle | null {
  switch (state) {
    case "ready":
      return seenOnCluster(project);
    case "apply_failed":
      return applyFailed(project, message ?? "The operator could not create the namespace.");
    case "namespace_conflict":
      return namespaceConflict(project, message ?? "The namespace exists and belongs to somebody else.");
    case "cleanup_blocked":
      return cleanupUnconfirmed(project, message ?? "Something on the cluster prevents the deletion of the namespace.");
    case "cleaning":
      return null;
  }
}
