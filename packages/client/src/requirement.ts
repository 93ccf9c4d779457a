/**
 * What a caller needs for an operation, as the control plane checks it. A superuser passes every requirement but
 * `own_record`. Roles are weakest first: member, admin; viewer, editor, admin, org_admin.
 */
export type Requirement =
  /** No credential. */
  | { readonly needs: "nothing" }
  /** Any credential that the operation takes. The answer holds what the caller sees. */
  | { readonly needs: "signed_in" }
  | { readonly needs: "superuser" }
  /** The caller's own record. */
  | { readonly needs: "own_record" }
  /** An administrator of any organization. */
  | { readonly needs: "any_org_admin" }
  /** A role in the organization. Strangers get 404 where it is `hidden`, and 403 elsewhere. */
  | { readonly needs: "org_role"; readonly role: "member" | "admin"; readonly hidden: boolean }
  /** An administrator of the organization; everybody else gets 404. */
  | { readonly needs: "concealed_org_admin" }
  /** A role on the cluster, or an administrator of its organization. */
  | { readonly needs: "cluster_role"; readonly role: "member" | "viewer" | "editor" | "admin" | "org_admin" }
  /** A role on the project or its cluster, or an administrator of the organization. */
  | { readonly needs: "project_role"; readonly role: "viewer" | "editor" | "admin" | "org_admin" };
