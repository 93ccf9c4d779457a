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
  /** Strangers learn nothing about the place where `hidden`; else they are told that it is not theirs. */
  | { readonly needs: "org_role"; readonly role: OrgRole; readonly hidden: boolean };

export type Verdict = "allowed" | "forbidden" | "hidden";

export function judge(requirement: Requirement, standing: Standing): Verdict {
  if (requirement.needs === "nothing" || requirement.needs === "signed_in" || standing.isSuperuser) return "allowed";
  if (requirement.needs === "superuser") return "forbidden";
  if (standing.orgRole === null) return requirement.hidden ? "hidden" : "forbidden";
  return atLeast(ORG_ROLES, standing.orgRole, requirement.role) ? "allowed" : "forbidden";
}

export function strongest(roles: readonly (BindingRole | null)[]): BindingRole | null {
  return BINDING_ROLES.findLast((role) => roles.includes(role)) ?? null;
}

function atLeast<T extends string>(weakestFirst: readonly T[], held: T, needed: T): boolean {
  return weakestFirst.indexOf(held) >= weakestFirst.indexOf(needed);
}
