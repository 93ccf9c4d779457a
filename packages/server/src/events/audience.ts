import { createHash } from "node:crypto";
import type { BindingRole, OrgRole, RESOURCE_FILTERS } from "@binnacle/contract";
import { judge, type PlaceRequirement, strongest } from "../access/role.ts";
import type { Event } from "./event.ts";

/** Everything that decides what a user may hear of. */
export interface Access {
  readonly isSuperuser: boolean;
  readonly orgRoles: ReadonlyMap<string, OrgRole>;
  readonly clusterRoles: ReadonlyMap<string, BindingRole>;
  readonly projectRoles: ReadonlyMap<string, BindingRole>;
}

/** What a subscriber asks for. */
export interface Filter {
  readonly cluster_id?: string;
  readonly project_id?: string;
  readonly workload_id?: string;
  readonly resource_type: (typeof RESOURCE_FILTERS)[number];
}

/** Where something is, as far as roles go. */
interface Place {
  readonly org_id: string | null;
  readonly cluster_id?: string;
  readonly project_id?: string;
}

/** Judged as a request that reads the event's place would be. */
export const maySee = (event: Event, access: Access): boolean => suffices(access, requirementOf(event), event);

/** Whether what is in a project may be read. */
export const mayReadProject = (project: Required<Place>, access: Access): boolean =>
  suffices(access, { needs: "project_role", role: "viewer" }, project);

function suffices(access: Access, requirement: PlaceRequirement, place: Place): boolean {
  const { org_id, cluster_id = "", project_id = "" } = place;
  return (
    judge(requirement, {
      isSuperuser: access.isSuperuser,
      orgRole: access.orgRoles.get(org_id ?? "") ?? null,
      bindingRole: strongest([
        access.clusterRoles.get(cluster_id) ?? null,
        access.projectRoles.get(project_id) ?? null,
      ]),
    }) === "allowed"
  );
}

/** What concerns a cluster as a whole. */
const OF_THE_CLUSTER: readonly string[] = ["cluster-status", "install_stage_update", "activity"];

function requirementOf({ type, cluster_id, project_id }: Event): PlaceRequirement {
  if (project_id !== undefined) return { needs: "project_role", role: "viewer" };
  // Of what runs on a cluster in no project of ours, such as a build, plain members hear nothing.
  if (cluster_id !== undefined)
    return { needs: "cluster_role", role: OF_THE_CLUSTER.includes(type) ? "member" : "viewer" };
  return { needs: "org_role", role: "admin", hidden: true };
}

/** Ids are compared as ids: the case of letters is nothing. */
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

/** An activity is asked for by its own name, whatever it was done to: it tells of a request, not of a state. */
function isAbout({ type, resource, workload_id }: Event, asked: Filter["resource_type"]): boolean {
  if (asked === "all" || asked === type) return true;
  if (type === "activity") return false;
  if (asked === "workload") return workload_id !== undefined;
  if (type === "drift") return resource.type.startsWith(asked);
  return asked === "cluster" && OF_THE_CLUSTER.includes(type);
}

/** Equal for those who may hear the same, so that what they hear is written out once. */
export function audienceOf(access: Access, filter: Filter): string {
  const { cluster_id, project_id, workload_id, resource_type } = filter;
  const asked = [cluster_id, project_id, workload_id].map((id) => id?.toLowerCase() ?? null);
  const roles = [access.orgRoles, access.clusterRoles, access.projectRoles].map((of) =>
    [...of].map(([id, role]) => `${id} ${role}`).sort(),
  );
  const facts = [access.isSuperuser, access.isSuperuser ? [] : roles, asked, resource_type];
  return createHash("sha256").update(JSON.stringify(facts)).digest("base64");
}
