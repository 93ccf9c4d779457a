import Type, { type Static } from "typebox";
import { strict, Uuid } from "../fields.ts";
import { operation } from "../operation.ts";
import { ClusterWideCharts, IngressNamespaces, PodSecurityField } from "../project-policy.ts";

const shared = { path: "/clusters/{id}/settings", tag: "Clusters", credentials: "user" } as const;
const params = Type.Object({ id: Uuid() });

const fields = {
  pod_security: PodSecurityField,
  ingress_namespaces: IngressNamespaces,
  cluster_wide_charts: ClusterWideCharts,
};

export const ClusterSettings = Type.Object({ cluster_id: Uuid(), ...fields }, { title: "ClusterSettings" });
export type ClusterSettings = Static<typeof ClusterSettings>;

export const getClusterSettings = operation({
  ...shared,
  id: "getClusterSettings",
  method: "GET",
  summary: "Read what holds for every project of a cluster",
  params,
  success: [200, ClusterSettings],
  failures: [404],
});

export const updateClusterSettings = operation({
  ...shared,
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
    },
    strict,
  ),
  success: [200, ClusterSettings],
  failures: [403, 404],
});
