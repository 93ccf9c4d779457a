import type { LifecycleReason, Project as WireProject } from "@binnacle/contract";
import type { Selectable } from "kysely";
import type { ProjectTable } from "../database/fleet-tables.ts";
import type { DispatchedResource } from "../dispatch/dispatch.ts";
import type { Announcement } from "../events/event.ts";
import { conflict } from "../fault.ts";

export type Project = Selectable<ProjectTable>;

export type Lifecycle = Pick<Project, "lifecycle" | "lifecycle_reason" | "lifecycle_message">;

/*
 * The transitions of a project, one function an occasion. Each says what the project becomes, or null where the occasion
 * changes nothing: news from a cluster may come late, twice or out of order.
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

const isGoing = ({ lifecycle }: Pick<Lifecycle, "lifecycle">): boolean => lifecycle === "cleanup_pending";

const degraded = (before: Lifecycle, reason: LifecycleReason, message: string): Lifecycle | null =>
  isGoing(before)
    ? null
    : changed(before, { lifecycle: "degraded", lifecycle_reason: reason, lifecycle_message: message });

/** It was asked for; the cluster has not been heard about it. */
export const CREATED: Lifecycle = steady("pending");

/** The operator reports the project as it is wanted. */
export const seenOnCluster = (before: Lifecycle): Lifecycle | null =>
  isGoing(before) ? null : changed(before, steady("ready"));

/** Nobody has confirmed it in time. What was confirmed once stays so: that the operator is away is the cluster's status. */
export const unconfirmed = (before: Lifecycle, message: string): Lifecycle | null =>
  before.lifecycle === "pending" ? degraded(before, "operator_unreachable", message) : null;

/** The operator has tried and could not; it goes on trying. */
export const applyFailed = (before: Lifecycle, message: string): Lifecycle | null =>
  degraded(before, "apply_failed", message);

/** The namespace is there and somebody else's: it is neither adopted nor deleted. */
export const namespaceConflict = (before: Lifecycle, message: string): Lifecycle | null =>
  degraded(before, "namespace_conflict", message);

/** Asked for again, it changes nothing: what is known about a cleanup that hangs is kept. */
export const requestDeletion = (before: Lifecycle): Lifecycle | null =>
  isGoing(before) ? null : steady("cleanup_pending");

/** The cluster cannot confirm that it is gone. It is never reported as deleted for that; the cleanup goes on. */
export const cleanupUnconfirmed = (before: Lifecycle, message: string): Lifecycle | null =>
  isGoing(before)
    ? changed(before, {
        lifecycle: "cleanup_pending",
        lifecycle_reason: "cleanup_degraded",
        lifecycle_message: message,
      })
    : null;

/** Whether the record goes with the namespace: only where it was to go. Otherwise the operator makes it anew. */
export const confirmedGone = (before: Lifecycle): boolean => isGoing(before);

export const projectNameTaken = () => conflict("A project with this name already exists on the cluster.");
export const projectIsGoing = () => conflict("The project is being deleted.");
export const clusterIsGoing = () => conflict("The cluster is being deleted.");

export function wireProject(project: Project): WireProject {
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
    quota: project.quota,
    created_at: project.created_at.toISOString(),
    updated_at: project.updated_at.toISOString(),
  };
}

export const dispatchedProject = ({ id, namespace }: Pick<Project, "id" | "namespace">): DispatchedResource => ({
  kind: "project",
  resourceId: id,
  key: `project/${namespace}`,
});

/** What subscribers hear of a project that was made or moved on. */
export function projectAnnouncement(project: Project): Announcement {
  return {
    type: "project",
    org_id: project.org_id,
    cluster_id: project.cluster_id,
    project_id: project.id,
    resource: { type: "project", id: project.id, name: project.name, namespace: project.namespace },
    lifecycle: project.lifecycle,
    lifecycle_reason: project.lifecycle_reason,
    lifecycle_message: project.lifecycle_message,
  };
}
