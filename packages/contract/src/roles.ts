/** Roles, weakest first: each may do what those before it may. */
export const ORG_ROLES = ["member", "admin"] as const;
export type OrgRole = (typeof ORG_ROLES)[number];

export const BINDING_ROLES = ["viewer", "editor", "admin"] as const;
export type BindingRole = (typeof BINDING_ROLES)[number];
