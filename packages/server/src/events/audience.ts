import { createHash } from "node:crypto";
import type { RESOURCE_FILTERS } from "@binnacle/contract";
import { type Access, allows, type PlaceRequirement } from "../access/role.ts";
import type { Event } from "./event.ts";

/** A subscriber sees only the events that match it. */
export interface Filter {
  readonly cluster_id?: string;
  readonly project_id?: string;
  readonly workload_id?: string;
  readonly resource_type: (typeof RESOURCE_FILTERS)[number];
}

/** Decides like a request that reads the event's place. An event about a user's own account is also for that user. */
export const maySee = (event: Event, access: Access): boolean =>
  (event.user_id !== undefined && event.user_id === access.userId && !access.boundary) ||
  allows(access, requirementOf(event), event);

/**
 * The audit log is for administrators of the organization. An activity tells others what was done where they see the place, and not
 * from which address.
 */
export const isShownWhole = (event: Event, access: Access): boolean =>
  event.type !== "activity" ||
  allows(access, { needs: "org_role", role: "admin", hidden: true }, { org_id: event.org_id });

/** The event for those who may not read the audit log. */
export const withoutAddress = (event: Event): Event =>
  event.type === "activity" ? { ...event, source_address: null } : event;

/** Event types about a cluster as a whole. */
const OF_THE_CLUSTER: readonly string[] = ["cluster-status", "install_stage_update", "activity"];

function requirementOf({ type, cluster_id, project_id }: Event): PlaceRequirement {
  if (project_id !== undefined) return { needs: "project_role", role: "viewer" };
  // Plain members do not receive events of a cluster outside its projects, such as builds.
  if (cluster_id !== undefined)
    return { needs: "cluster_role", role: OF_THE_CLUSTER.includes(type) ? "member" : "viewer" };
  return { needs: "org_role", role: "admin", hidden: true };
}

/** Ids are compared in lower case. */
export function matches(event: Event, filter: Filter): boolean {
  const { cluster_id, project_id, workload_id, resource_type } = filter;
  const isOf = (asked: string | undefined, id: string | undefined) =>
    asked === undefined || asked.toLowerCase() === id?.toLowerCase();
  return (
    isOf(cluster_id, event.cluster_id) &&
    isOf(project_id, event.project_id) &&
    isOf(workload_id, event.workload_id) &&
    isAbout(event, resource_type)
  );
}

/** An activity matches its own name only: it reports a request, not a state. */
function isAbout({ type, resource, workload_id }: Event, asked: Filter["resource_type"]): boolean {
  if (asked === "all" || asked === type) return true;
  if (type === "activity") return false;
  if (asked === "workload") return workload_id !== undefined;
  if (type === "drift") return resource.type.startsWith(asked);
  return asked === "cluster" && OF_THE_CLUSTER.includes(type);
}

/**
 * Equal for subscribers with the same access and filter, so that their events are encoded once. It does not say whose
 * account an event may be about.
 */
export function audienceOf(access: Access, filter: Filter): string {
  const { cluster_id, project_id, workload_id, resource_type } = filter;
  const asked = [cluster_id, project_id, workload_id].map((id) => id?.toLowerCase() ?? null);
  const roles = [access.orgRoles, access.clusterRoles, access.projectRoles].map((of) =>
    [...of].map(([id, role]) => `${id} ${role}`).sort(),
  );
  const facts = [access.boundary, access.isSuperuser, access.isSuperuser ? [] : roles, asked, resource_type];
  return createHash("sha256").update(JSON.stringify(facts)).digest("base64");
}
