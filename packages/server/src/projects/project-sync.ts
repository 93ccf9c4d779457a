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
  project: Pick<Project, "org_id" | "name" | "namespace" | "suspended_at" | keyof PolicyColumns>,
  settingsRow: SettingsRow | null,
  cluster: { readonly suspended_at: Date | null },
): ProjectBody {
  const { ingress_namespaces, cluster_wide_charts, pod_security } = settingsOf(settingsRow);
  const { org_id, name, namespace, isolation } = project;
  const policy = {
    pod_security: effectivePodSecurity(project, pod_security),
    isolation,
    ingress_namespaces,
    cluster_wide_charts,
  };
  const isSuspended = project.suspended_at !== null || cluster.suspended_at !== null;
  const suspended = isSuspended ? { suspended: true } : {};
  return { spec: { org_id, name, namespace, policy, ...suspended }, secret: {} };
}

/** A project with what else decides whether it is suspended. */
export interface SeenProject extends Project {
  readonly cluster_suspended_at: Date | null;
}

/** Applies a report on the current generation to a project; returns the same object where nothing changes. */
export function projectAfterReport<P extends SeenProject>(project: P, report: ProjectReport): P {
  const isSuspended = project.suspended_at !== null || project.cluster_suspended_at !== null;
  const suspension_reported = isSuspended ? report.suspended === true : null;
  const next = lifecycleAfter(project, report);
  if (!next && suspension_reported === project.suspension_reported) return project;
  return { ...project, ...next, suspension_reported };
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
