import Type, { type Static } from "typebox";
import { strict, Uuid } from "../fields.ts";
import { operation } from "../operation.ts";
import {
  ClusterWideCharts,
  IngressNamespaces,
  IsolationField,
  OwnPodSecurity,
  PodSecurityField,
} from "../project-policy.ts";

const params = Type.Object({ id: Uuid() });
const ofCluster = { path: "/clusters/{id}/settings", tag: "Clusters", credentials: "user" } as const;

const fields = {
  pod_security: PodSecurityField,
  ingress_namespaces: IngressNamespaces,
  cluster_wide_charts: ClusterWideCharts,
  exec_enabled: Type.Boolean({
    description: "Whether editors of projects may open a shell in containers. Switching it off ends open sessions.",
    examples: [true],
  }),
};

export const ClusterSettings = Type.Object({ cluster_id: Uuid(), ...fields }, { title: "ClusterSettings" });
export type ClusterSettings = Static<typeof ClusterSettings>;

export const getClusterSettings = operation({
  ...ofCluster,
  id: "getClusterSettings",
  method: "GET",
  summary: "Read what holds for every project of a cluster",
  params,
  success: [200, ClusterSettings],
  failures: [404],
});

export const updateClusterSettings = operation({
  ...ofCluster,
  id: "updateClusterSettings",
  method: "PATCH",
  summary: "Change what holds for every project of a cluster; org admin",
  description: "Fields left out stay; lists are replaced as a whole. Projects that are there are changed too.",
  params,
  body: Type.Object(
    {
      pod_security: Type.Optional(fields.pod_security),
      ingress_namespaces: Type.Optional(fields.ingress_namespaces),
      cluster_wide_charts: Type.Optional(fields.cluster_wide_charts),
      exec_enabled: Type.Optional(fields.exec_enabled),
    },
    strict,
  ),
  success: [200, ClusterSettings],
  failures: [403, 404, 409],
});

const ofProject = { path: "/projects/{id}/policy", tag: "Projects", credentials: "user" } as const;

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
  },
  { title: "ProjectPolicy" },
);
export type ProjectPolicy = Static<typeof ProjectPolicy>;

export const getProjectPolicy = operation({
  ...ofProject,
  id: "getProjectPolicy",
  method: "GET",
  summary: "Read what fences a project's namespace",
  params,
  success: [200, ProjectPolicy],
  failures: [404],
});

export const updateProjectPolicy = operation({
  ...ofProject,
  id: "updateProjectPolicy",
  method: "PATCH",
  summary: "Change what fences a project's namespace; project admin",
  description: "Fields left out stay. Org admins alone set a `pod_security` weaker than the cluster's.",
  params,
  body: Type.Object(
    {
      pod_security: Type.Optional(OwnPodSecurity),
      isolation: Type.Optional(IsolationField),
    },
    strict,
  ),
  success: [200, ProjectPolicy],
  failures: [403, 404, 409],
});
