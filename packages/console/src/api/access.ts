import { ACCESS, type Answer, type OperationName, type Requirement } from "@binnacle/client";

/** The caller's own roles, as `GET /user/me/access` returns them. */
export type Access = Answer<"getMyAccess">;

/** The place that an action is about. A cluster or project is named with what contains it, because roles are inherited. */
export interface Place {
  readonly orgId?: string | undefined;
  readonly clusterId?: string | undefined;
  readonly projectId?: string | undefined;
}

const BINDING_ORDER = ["viewer", "editor", "admin"] as const;
type BindingRole = (typeof BINDING_ORDER)[number];

/**
 * Decides by the server's own table whether an operation is offered. The server decides again at the request; this only keeps
 * people from meeting a refusal.
 */
export function permits(operation: OperationName, access: Access, place: Place = {}): boolean {
  return allows(ACCESS[operation], access, place);
}

export function allows(requirement: Requirement, access: Access, place: Place): boolean {
  const { needs } = requirement;
  if (needs === "nothing" || needs === "signed_in" || needs === "own_record") return true;
  if (access.is_superuser) return true;
  const orgRole = access.orgs.find(({ id }) => id === place.orgId)?.role ?? null;
  switch (needs) {
    case "superuser":
      return false;
    case "any_org_admin":
      return access.orgs.some(({ role }) => role === "admin");
    case "org_role":
      return orgRole !== null && (requirement.role === "member" || orgRole === "admin");
    case "concealed_org_admin":
      return orgRole === "admin";
    case "cluster_role":
    case "project_role": {
      if (orgRole === "admin") return true;
      if (requirement.role === "org_admin") return false;
      if (requirement.role === "member") return orgRole !== null;
      // Whoever has very many roles is not given all of them, so the server decides alone.
      if (access.more_roles > 0) return true;
      const role = strongestRole(access, place, needs);
      return role !== null && BINDING_ORDER.indexOf(role) >= BINDING_ORDER.indexOf(requirement.role);
    }
  }
}

/** A role on a cluster counts on all its projects; a role on a project does not count on its cluster. */
function strongestRole(
  access: Access,
  { clusterId, projectId }: Place,
  needs: "cluster_role" | "project_role",
): BindingRole | null {
  const ofCluster = access.clusters.filter(({ id }) => id === clusterId);
  const ofProject = needs === "project_role" ? access.projects.filter(({ id }) => id === projectId) : [];
  const roles = [...ofCluster, ...ofProject].map(({ role }) => role);
  return BINDING_ORDER.findLast((role) => roles.includes(role)) ?? null;
}
