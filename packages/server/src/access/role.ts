import { BINDING_ROLES, type BindingRole, ORG_ROLES, type OrgRole } from "@binnacle/contract";

/** What the caller is to the place a request is about. */
export interface Standing {
  readonly isSuperuser: boolean;
  readonly orgRole: OrgRole | null;
  /** The strongest role bound on the place or on what contains it. */
  readonly bindingRole: BindingRole | null;
}

/** What a route asks for, as data: routes are guarded by it, the table of routes and roles is written from it. */
export type Requirement =
  | { readonly needs: "nothing" }
  | { readonly needs: "signed_in" }
  | { readonly needs: "superuser" }
  /** The record of the caller's own; nobody else's, not even for a superuser. */
  | { readonly needs: "own_record" }
  /** An administrator of whichever organization. */
  | { readonly needs: "any_org_admin" }
  /** Strangers learn nothing about the place where `hidden`; else they are told that it is not theirs. */
  | { readonly needs: "org_role"; readonly role: OrgRole; readonly hidden: boolean }
  /** An administrator of the organization; for everybody else, its members too, the thing is not there. */
  | { readonly needs: "concealed_org_admin" }
  /** A cluster is seen by every member of its organization. */
  | { readonly needs: "cluster_role"; readonly role: "member" | BindingRole | "org_admin" }
  /** A project is seen by those who have a role on it or on its cluster. */
  | { readonly needs: "project_role"; readonly role: BindingRole | "org_admin" };

export type PlaceRequirement = Extract<
  Requirement,
  { needs: "superuser" | "org_role" | "concealed_org_admin" | "cluster_role" | "project_role" }
>;

export type Verdict = "allowed" | "forbidden" | "hidden";

/** The verdict on a place that the caller has some standing in. */
export function judge(requirement: PlaceRequirement, standing: Standing): Verdict {
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
      return standing.orgRole === null ? "hidden" : judgeBinding(requirement.role, standing);
    case "project_role":
      return standing.orgRole !== "admin" && standing.bindingRole === null
        ? "hidden"
        : judgeBinding(requirement.role, standing);
  }
}

function judgeBinding(needed: "member" | BindingRole | "org_admin", { orgRole, bindingRole }: Standing): Verdict {
  if (orgRole === "admin" || needed === "member") return "allowed";
  if (needed === "org_admin" || bindingRole === null) return "forbidden";
  return atLeast(BINDING_ROLES, bindingRole, needed) ? "allowed" : "forbidden";
}

/** Whoever administers the place's organization, superusers included. */
export const isOrgAdmin = (standing: Standing): boolean =>
  judge({ needs: "org_role", role: "admin", hidden: false }, standing) === "allowed";

export function strongest(roles: readonly (BindingRole | null)[]): BindingRole | null {
  return BINDING_ROLES.findLast((role) => roles.includes(role)) ?? null;
}

function atLeast<T extends string>(weakestFirst: readonly T[], held: T, needed: T): boolean {
  return weakestFirst.indexOf(held) >= weakestFirst.indexOf(needed);
}
