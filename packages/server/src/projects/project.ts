import type { LifecycleReason, Project as WireProject } from "@binnacle/contract";
import type { Selectable } from "kysely";
import { type ClusterConnection, freshnessOf } from "../clusters/freshness.ts";
import type { ProjectTable } from "../database/fleet-tables.ts";
import type { DispatchedResource } from "../dispatch/dispatch.ts";
import type { Announcement } from "../events/event.ts";
import { conflict } from "../fault.ts";
import { type Holding, shownSuspension } from "../suspensions/suspension.ts";

export type Project = Selectable<ProjectTable>;

/** The connection of its cluster, and what holds it. */
export interface ProjectSurroundings extends ClusterConnection, Holding {}
export type ConnectedProject = Project & ProjectSurroundings;

export type Lifecycle = Pick<Project, "lifecycle" | "lifecycle_reason" | "lifecycle_message">;

/**
 * The transitions of a project, one function for each event. Each returns the new state, or null where nothing changes:
 * messages from a cluster may be late, duplicated or out of order.
 */

const steady = (lifecycle: "pending" | "ready" | "cleanup_pending"): Lifecycle => ({
  lifecycle,
  lifecycle_reason: null,
  lifecycle_message: null,
});

const changed = (before: Lifecycle, after: Lifecycle): Lifecycle | null =>
  before.lifecycle === after.lifecycle &&
  before.lifecycle_reason === after.lifecycle_reason &&
  before.lifecycle_message === after.lifecycle_message
    ? null
    : after;

const isDeletionRequested = ({ lifecycle }: Pick<Lifecycle, "lifecycle">): boolean =>
  lifecycle === "cleanup_pending" || lifecycle === "cleanup_degraded";

const degraded = (before: Lifecycle, reason: LifecycleReason, message: string): Lifecycle | null =>
  isDeletionRequested(before)
    ? null
    : changed(before, { lifecycle: "degraded", lifecycle_reason: reason, lifecycle_message: message });

/** The project is requested and not confirmed by its cluster yet. */
export const CREATED: Lifecycle = steady("pending");

/** The operator reports the desired state. */
export const seenOnCluster = (before: Lifecycle): Lifecycle | null =>
  isDeletionRequested(before) ? null : changed(before, steady("ready"));

/**
 * The cluster has not confirmed the project in time. A confirmed project stays so: a disconnected operator is shown in
 * the status of the cluster.
 */
export const unconfirmed = (before: Lifecycle, message: string): Lifecycle | null =>
  before.lifecycle === "pending" ? degraded(before, "operator_unreachable", message) : null;

/** The operator failed to apply the project and retries. */
export const applyFailed = (before: Lifecycle, message: string): Lifecycle | null =>
  degraded(before, "apply_failed", message);

/** The namespace exists and belongs to someone else, so it is neither adopted nor deleted. */
export const namespaceConflict = (before: Lifecycle, message: string): Lifecycle | null =>
  degraded(before, "namespace_conflict", message);

/** A repeated request changes nothing, so that the reason of a blocked cleanup stays. */
export const requestDeletion = (before: Lifecycle): Lifecycle | null =>
  isDeletionRequested(before) ? null : steady("cleanup_pending");

/**
 * The cluster cannot confirm that the namespace is gone. The project is never reported as deleted for that; the cleanup
 * continues. That of an abandoned cluster stays so: its operator has returned, and says what it waits for.
 */
export function cleanupUnconfirmed(before: Lifecycle, message: string): Lifecycle | null {
  if (!isDeletionRequested(before)) return null;
  if (before.lifecycle === "cleanup_degraded") return changed(before, { ...before, lifecycle_message: message });
  const reason = { lifecycle: "cleanup_pending", lifecycle_reason: "cleanup_degraded" } as const;
  return changed(before, { ...reason, lifecycle_message: message });
}

/** The cluster was given up: nobody confirms that the namespace is gone, unless its operator returns. */
export const CLUSTER_ABANDONED: Lifecycle = {
  lifecycle: "cleanup_degraded",
  lifecycle_reason: "cluster_abandoned",
  lifecycle_message:
    "The cluster was abandoned, so nobody confirms that the namespace is gone. If its operator returns, it cleans up and this record ends.",
};

/** The cluster is let go: its namespaces stay, and these records end once its operator has confirmed that. */
export const CLUSTER_DETACHED: Lifecycle = {
  lifecycle: "cleanup_degraded",
  lifecycle_reason: "cluster_detached",
  lifecycle_message:
    "The cluster is being detached: the namespace stays with all that runs in it, and this record ends when the operator has let go of it.",
};

/**
 * Returns whether the row is deleted with the namespace: only if the deletion was requested. Otherwise the operator
 * recreates the namespace.
 */
export const confirmedGone = (before: Lifecycle): boolean => isDeletionRequested(before);

export const projectNameTaken = () => conflict("A project with this name already exists on the cluster.");
/** Throws where the project is being deleted, also where that waits for a cluster that was given up. */
export function refuseDeleting(project: Pick<Lifecycle, "lifecycle">): void {
  if (project.lifecycle === "cleanup_degraded")
    throw conflict("The cluster of the project was abandoned. Create the project on another one.");
  if (isDeletionRequested(project)) throw conflict("The project is being deleted.");
}
export const clusterIsDeleting = () => conflict("The cluster is being deleted.");

export function wireProject(project: Project, surroundings: ProjectSurroundings, now: Date): WireProject {
  return {
    id: project.id,
    name: project.name,
    namespace: project.namespace,
    cluster_id: project.cluster_id,
    org_id: project.org_id,
    lifecycle: project.lifecycle,
    lifecycle_reason: project.lifecycle_reason,
    lifecycle_message: project.lifecycle_message,
    pod_security: project.pod_security,
    isolation: project.isolation,
    suspended: shownSuspension("project", project, surroundings),
    ...freshnessOf(project.reported_at, surroundings, now),
    created_at: project.created_at.toISOString(),
    updated_at: project.updated_at.toISOString(),
  };
}

export const dispatchedProject = ({ id, namespace }: Pick<Project, "id" | "namespace">): DispatchedResource => ({
  kind: "project",
  resourceId: id,
  key: `project/${namespace}`,
});

/** The event of a created or changed project. */
export function projectAnnouncement(project: Project, connection: ClusterConnection, now: Date): Announcement {
  return {
    type: "project",
    org_id: project.org_id,
    cluster_id: project.cluster_id,
    project_id: project.id,
    resource: { type: "project", id: project.id, name: project.name, namespace: project.namespace },
    lifecycle: project.lifecycle,
    lifecycle_reason: project.lifecycle_reason,
    lifecycle_message: project.lifecycle_message,
    suspended: project.suspended_at !== null,
    ...freshnessOf(project.reported_at, connection, now),
  };
}
