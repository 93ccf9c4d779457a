import Type, { type Static } from "typebox";
import { Continued, CursorQuery, Nullable, strict, Timestamp, Uuid } from "../fields.ts";
import { operation } from "../operation.ts";
import { BINDING_ROLES, ORG_ROLES } from "../states.ts";

/** A role granted to a user on one cluster or on one project. */
export const RoleBinding = Type.Object(
  {
    binding_id: Uuid(),
    user_id: Uuid(),
    role: Type.Enum(BINDING_ROLES),
    cluster_id: Nullable(Uuid()),
    project_id: Nullable(Uuid()),
    created_at: Timestamp(),
    updated_at: Timestamp(),
  },
  { title: "RoleBinding" },
);

const RoleGrant = Type.Object({ user_id: Uuid(), role: Type.Enum(BINDING_ROLES) }, { ...strict, title: "RoleGrant" });
export type RoleGrant = Static<typeof RoleGrant>;

const params = Type.Object({ id: Uuid() });
const query = Type.Object({ binding_id: Uuid("The binding to revoke.") });
const clusters = { path: "/clusters/{id}/rbac", tag: "Clusters", credentials: "user", params } as const;
const projects = { path: "/projects/{id}/rbac", tag: "Projects", credentials: "user", params } as const;
const replacing = "A role takes effect with the user's next request. Where the user has none there: 404.";

export const listClusterRoles = operation({
  ...clusters,
  id: "listClusterRoles",
  method: "GET",
  summary: "List the roles granted on a cluster",
  query: CursorQuery,
  success: [200, Continued(RoleBinding)],
  failures: [403, 404],
});

export const grantClusterRole = operation({
  ...clusters,
  id: "grantClusterRole",
  method: "POST",
  summary: "Grant a member of the organization a role on a cluster and its projects",
  body: RoleGrant,
  success: [201, RoleBinding],
  failures: [403, 404, 409],
});

export const replaceClusterRole = operation({
  ...clusters,
  id: "replaceClusterRole",
  method: "PUT",
  summary: "Replace a user's role on a cluster",
  description: replacing,
  body: RoleGrant,
  success: [200, RoleBinding],
  failures: [403, 404, 409],
});

export const revokeClusterRole = operation({
  ...clusters,
  id: "revokeClusterRole",
  method: "DELETE",
  summary: "Revoke a role on a cluster",
  query,
  success: [204, null],
  failures: [403, 404],
});

export const listProjectRoles = operation({
  ...projects,
  id: "listProjectRoles",
  method: "GET",
  summary: "List the roles granted on a project itself",
  query: CursorQuery,
  success: [200, Continued(RoleBinding)],
  failures: [404],
});

export const grantProjectRole = operation({
  ...projects,
  id: "grantProjectRole",
  method: "POST",
  summary: "Grant a member of the organization a role on a project",
  body: RoleGrant,
  success: [201, RoleBinding],
  failures: [403, 404, 409],
});

export const replaceProjectRole = operation({
  ...projects,
  id: "replaceProjectRole",
  method: "PUT",
  summary: "Replace a user's role on a project",
  description: replacing,
  body: RoleGrant,
  success: [200, RoleBinding],
  failures: [403, 404],
});

export const revokeProjectRole = operation({
  ...projects,
  id: "revokeProjectRole",
  method: "DELETE",
  summary: "Revoke a role on a project",
  query,
  success: [204, null],
  failures: [403, 404],
});

/** Of one member on clusters, and as many on projects: one member must not fill an answer. */
export const MOST_MATRIX_ROLES = 500;

const MatrixMember = Type.Object(
  {
    user_id: Uuid(),
    name: Type.String({ examples: ["Ada Lovelace"] }),
    email: Type.String({ examples: ["ada@example.com"] }),
    role: Type.Enum(ORG_ROLES),
    clusters: Type.Array(
      Type.Object({ id: Uuid(), name: Type.String({ examples: ["production"] }), role: Type.Enum(BINDING_ROLES) }),
    ),
    projects: Type.Array(
      Type.Object({
        id: Uuid(),
        name: Type.String({ examples: ["shop"] }),
        cluster_id: Uuid(),
        role: Type.Enum(BINDING_ROLES),
      }),
    ),
    more_roles: Type.Integer({
      minimum: 0,
      examples: [0],
      description: `How many more roles the member has. The first ${MOST_MATRIX_ROLES} on clusters are named, and as many on projects.`,
    }),
  },
  { title: "MatrixMember" },
);
export type MatrixMember = Static<typeof MatrixMember>;

export const getRoleMatrix = operation({
  id: "getRoleMatrix",
  method: "GET",
  path: "/orgs/{id}/role-matrix",
  tag: "Organizations",
  summary: "Read all members of an organization with their roles on its clusters and projects; org admin",
  description: "By name.",
  credentials: "user",
  params: Type.Object({ id: Uuid() }),
  query: CursorQuery,
  success: [200, Continued(MatrixMember)],
  failures: [403, 404],
});
