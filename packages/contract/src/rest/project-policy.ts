import Type, { type Static } from "typebox";
import { Nullable, strict, Uuid } from "../fields.ts";
import { operation } from "../operation.ts";
import { IngressNamespaces, IsolationField, OwnPodSecurity, PodSecurityField, Quota } from "../project-policy.ts";

const shared = { path: "/projects/{id}/policy", tag: "Projects", credentials: "user" } as const;
const params = Type.Object({ id: Uuid() });

export const ProjectPolicy = Type.Object(
  {
    project_id: Uuid(),
    pod_security: OwnPodSecurity,
    effective_pod_security: {
      ...PodSecurityField,
      description:
        "The level in force: the project's own where that is stricter than the cluster's or was allowed by an org admin, else the cluster's.",
    },
    isolation: IsolationField,
    ingress_namespaces: { ...IngressNamespaces, description: "Of the cluster: who reaches the project beside itself." },
    quota: Nullable(Quota),
  },
  { title: "ProjectPolicy" },
);
export type ProjectPolicy = Static<typeof ProjectPolicy>;

export const getProjectPolicy = operation({
  ...shared,
  id: "getProjectPolicy",
  method: "GET",
  summary: "Read what fences a project's namespace",
  params,
  success: [200, ProjectPolicy],
  failures: [404],
});

export const updateProjectPolicy = operation({
  ...shared,
  id: "updateProjectPolicy",
  method: "PATCH",
  summary: "Change what fences a project's namespace; project admin",
  description:
    "Fields left out stay; `quota` is replaced as a whole, and null removes it. Org admins alone set a quota and a `pod_security` weaker than the cluster's.",
  params,
  body: Type.Object(
    {
      pod_security: Type.Optional(OwnPodSecurity),
      isolation: Type.Optional(IsolationField),
      quota: Type.Optional(Nullable(Quota)),
    },
    strict,
  ),
  success: [200, ProjectPolicy],
  failures: [403, 404, 409],
});
