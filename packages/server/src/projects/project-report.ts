import type { ProjectReport } from "@binnacle/contract";
import {
  applyFailed,
  cleanupUnconfirmed,
  type Lifecycle,
  namespaceConflict,
  type Project,
  seenOnCluster,
} from "./project.ts";

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
