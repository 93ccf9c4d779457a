import Type, { type Static } from "typebox";
import { DisplayName, strict, Uuid } from "../fields.ts";
import { operation } from "../operation.ts";

const AbandonedCluster = Type.Object(
  {
    cluster_id: Uuid(),
    name: DisplayName("production"),
    namespaces: Type.Array(Type.String({ examples: ["shop"] }), {
      description: "Of the projects that were deleted here. On the cluster they stay as they are.",
    }),
    apps: Type.Integer({ description: "How many apps were deleted here.", examples: [12] }),
    addon_instances: Type.Integer({ description: "How many addon instances were deleted here.", examples: [3] }),
    left_behind: Type.Array(Type.String({ examples: ["The namespaces shop and everything in them, with volumes."] }), {
      description: "What may be left on the cluster and at the provider, for people.",
    }),
  },
  { title: "AbandonedCluster" },
);
export type AbandonedCluster = Static<typeof AbandonedCluster>;

export const abandonCluster = operation({
  id: "abandonCluster",
  method: "POST",
  path: "/clusters/{id}/abandon",
  tag: "Clusters",
  summary: "Give up a cluster that never comes back; org admin",
  description:
    "Deletes its projects, apps and addon instances without the cluster's confirmation, and revokes its tokens. Nothing on the " +
    "cluster is touched; the answer and the audit log say what may be left there. The cluster itself stays and can then be " +
    "deleted. 409 while its operator is connected: delete the projects instead, so that the cluster is cleaned up.",
  credentials: "user",
  params: Type.Object({ id: Uuid() }),
  body: Type.Object(
    { name: { ...DisplayName("production"), description: "The cluster's name, as a confirmation." } },
    strict,
  ),
  success: [202, AbandonedCluster],
  failures: [403, 404, 409],
});
