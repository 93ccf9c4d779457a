import {
  acceptedScopes,
  BINDING_ROLES,
  type BindingRole,
  type Operation,
  ORG_ROLES,
  type OrgRole,
} from "@binnacle/contract";
import { forbidden, notFound, unauthenticated } from "../fault.ts";
import type { Boundary, Caller } from "./caller.ts";

/** The caller's roles in the organization of a place and on the place itself. */
interface Roles {
  readonly orgRole: OrgRole | null;
  /** The strongest role bound on the place or on what contains it. */
  readonly bindingRole: BindingRole | null;
}

export interface Standing extends Roles {
  readonly isSuperuser: boolean;
}

/** A caller and the place that the request names; null is a place that does not exist. */
export interface Located<P> extends Roles {
  readonly caller: Caller;
  readonly place: P | null;
}

/** The requirement of a route as data: routes are guarded by it, and the table of routes and roles is written from it. */
export type Requirement =
  | { readonly needs: "nothing" }
  | { readonly needs: "signed_in" }
  | { readonly needs: "superuser" }
  /** The caller's own record; not even a superuser passes for the record of somebody else. */
  | { readonly needs: "own_record" }
  /** An administrator of any organization. */
  | { readonly needs: "any_org_admin" }
  /** A caller who is not a member gets 404 where `hidden`, and 403 otherwise. */
  | { readonly needs: "org_role"; readonly role: OrgRole; readonly hidden: boolean }
  /** An administrator of the organization; everybody else gets 404, its members too. */
  | { readonly needs: "concealed_org_admin" }
  /** A cluster is visible to every member of its organization. */
  | { readonly needs: "cluster_role"; readonly role: "member" | BindingRole | "org_admin" }
  /** A project is visible to those who have a role on it or on its cluster. */
  | { readonly needs: "project_role"; readonly role: BindingRole | "org_admin" };

export type PlaceRequirement = Extract<
  Requirement,
  { needs: "superuser" | "org_role" | "concealed_org_admin" | "cluster_role" | "project_role" }
>;

type Decision = "allowed" | "forbidden" | "hidden";

/**
 * Decides who may pass. A change of who sees a place needs the same change of its list in `visibility.store.ts`; a
 * property test compares the two.
 */
export function decide(requirement: PlaceRequirement, standing: Standing): Decision {
  if (standing.isSuperuser) return "allowed";
  switch (requirement.needs) {
    case "superuser":
      return "forbidden";
    case "org_role":
      if (standing.orgRole === null) return requirement.hidden ? "hidden" : "forbidden";
      return atLeast(ORG_ROLES, standing.orgRole, requirement.role) ? "allowed" : "forbidden";
    case "concealed_org_admin":
      return standing.orgRole === "admin" ? "allowed" : "hidden";
    case "cluster_role":
      return standing.orgRole === null ? "hidden" : decideBinding(requirement.role, standing);
    case "project_role":
      return standing.orgRole !== "admin" && standing.bindingRole === null
        ? "hidden"
        : decideBinding(requirement.role, standing);
  }
}

function decideBinding(needed: "member" | BindingRole | "org_admin", { orgRole, bindingRole }: Standing): Decision {
  if (orgRole === "admin" || needed === "member") return "allowed";
  if (needed === "org_admin" || bindingRole === null) return "forbidden";
  return atLeast(BINDING_ROLES, bindingRole, needed) ? "allowed" : "forbidden";
}

/**
 * Throws the 401, 404 or 403, in this order. A CLI token is refused before the existence of a place can be learned from the
 * answer.
 */
export function authorize<P>(
  requirement: PlaceRequirement,
  operation: Operation,
  located: Located<P> | null,
  what: string,
): { readonly caller: Caller; readonly place: P; readonly standing: Standing } {
  if (!located) throw unauthenticated();
  const { caller, place, orgRole, bindingRole } = located;
  refuseCredential(operation, caller);
  if (place === null) throw notFound(what);
  const standing = { isSuperuser: caller.isSuperuser, orgRole, bindingRole };
  const decision = decide(requirement, standing);
  if (decision === "hidden") throw notFound(what);
  if (decision === "forbidden") throw forbidden(roleNeeded(requirement));
  return { caller, place, standing };
}

function roleOnPlace(role: "member" | BindingRole | "org_admin", place: string): string {
  if (role === "member") return "Only members of the organization may do this.";
  if (role === "org_admin") return "Only administrators of the organization may do this.";
  return `This needs the role ${role} on the ${place}, or an administrator of the organization.`;
}

/** Says who may do what a requirement guards, for the 403. */
export function roleNeeded(requirement: Exclude<Requirement, { needs: "nothing" | "signed_in" }>): string {
  switch (requirement.needs) {
    case "superuser":
      return "Only superusers may do this.";
    case "own_record":
      return "Only the user whose record it is may do this.";
    case "any_org_admin":
      return "Only superusers and administrators of an organization may do this.";
    case "org_role":
      return roleOnPlace(requirement.role === "admin" ? "org_admin" : "member", "organization");
    case "concealed_org_admin":
      return roleOnPlace("org_admin", "organization");
    case "cluster_role":
      return roleOnPlace(requirement.role, "cluster");
    case "project_role":
      return roleOnPlace(requirement.role, "project");
  }
}

/** Refuses a credential of a kind or with scopes that the operation does not accept. */
export function refuseCredential(operation: Operation, { scopes }: Caller): void {
  if (scopes === null) {
    if (operation.credentials !== "cli_token") return;
    throw forbidden("This operation takes a CLI token and no session.");
  }
  const accepted = acceptedScopes(operation);
  if (accepted === "any") return;
  if (accepted.length === 0) throw forbidden("This operation takes no CLI token; sign in as a user.");
  if (!accepted.some((scope) => scopes.includes(scope))) {
    throw forbidden(`The CLI token lacks the scope ${accepted.join(" or ")}.`);
  }
}

export const boundElsewhere = () =>
  forbidden("This CLI token is bound to one organization or one project; use one that is not bound.");

/** Superusers count as administrators of every organization. */
export const isOrgAdmin = (standing: Standing): boolean =>
  decide({ needs: "org_role", role: "admin", hidden: false }, standing) === "allowed";

export function strongest(roles: readonly (BindingRole | null | undefined)[]): BindingRole | null {
  return BINDING_ROLES.findLast((role) => roles.includes(role)) ?? null;
}

function atLeast<T extends string>(weakestFirst: readonly T[], held: T, needed: T): boolean {
  return weakestFirst.indexOf(held) >= weakestFirst.indexOf(needed);
}

/** All roles of a user, for streams, which decide about many places over a long time. */
export interface Access {
  readonly userId: string;
  /** The place that the CLI token of a reader is bound to. */
  readonly boundary: Boundary | null;
  readonly isSuperuser: boolean;
  readonly orgRoles: ReadonlyMap<string, OrgRole>;
  readonly clusterRoles: ReadonlyMap<string, BindingRole>;
  readonly projectRoles: ReadonlyMap<string, BindingRole>;
}

export interface PlaceIds {
  readonly org_id: string | null;
  readonly cluster_id?: string | null;
  readonly project_id?: string | null;
}

/** Whether a place exists for a CLI token with the boundary. */
export function isWithin(boundary: Boundary | null, { org_id, project_id }: PlaceIds): boolean {
  if (!boundary) return true;
  return "org_id" in boundary ? org_id === boundary.org_id : project_id === boundary.project_id;
}

/** Decides as for a request about the place. */
export function allows(access: Access, requirement: PlaceRequirement, place: PlaceIds): boolean {
  if (!isWithin(access.boundary, place)) return false;
  const { org_id, cluster_id, project_id } = place;
  const standing = {
    isSuperuser: access.isSuperuser,
    orgRole: access.orgRoles.get(org_id ?? "") ?? null,
    bindingRole: strongest([access.clusterRoles.get(cluster_id ?? ""), access.projectRoles.get(project_id ?? "")]),
  };
  return decide(requirement, standing) === "allowed";
}

/** Whether the apps and addon instances of a project may be read. */
export const mayReadProject = (project: Required<PlaceIds>, access: Access): boolean =>
  allows(access, { needs: "project_role", role: "viewer" }, project);

/** Whether what is in a project may be changed. */
export const mayEditProject = (project: Required<PlaceIds>, access: Access): boolean =>
  allows(access, { needs: "project_role", role: "editor" }, project);
