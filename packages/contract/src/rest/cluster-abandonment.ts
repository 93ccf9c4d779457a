import Type, { type Static } from "typebox";
import { DisplayLine, ReadName, strict, Uuid } from "../fields.ts";
import { operation } from "../operation.ts";

const AbandonedCluster = Type.Object(
  {
    cluster_id: Uuid(),
    name: ReadName("production"),
    namespaces: Type.Array(Type.String({ examples: ["shop"] }), {
      description: "Of the projects on it. On the cluster they stay as they are until its operator returns.",
    }),
    apps: Type.Integer({ description: "How many apps are on it.", examples: [12] }),
    addon_instances: Type.Integer({ description: "How many addon instances are on it.", examples: [3] }),
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
    "The cluster reads `abandoned`, its projects `cleanup_degraded` with the reason `cluster_abandoned`, and their contents " +
    "`deleting`. All stay readable and listed, take no changes, and their names are free. If its operator connects again, it " +
    "is told to remove everything, and the records end when it has confirmed that. `DELETE /clusters/{id}` ends them before. " +
    "The answer and the audit log say what may be left. 409 while the operator is connected: delete the projects instead.",
  credentials: "user",
  params: Type.Object({ id: Uuid() }),
  body: Type.Object(
    { name: { ...DisplayLine("production", 100, "The cluster's name, as a confirmation."), minLength: 1 } },
    strict,
  ),
  success: [202, AbandonedCluster],
  failures: [403, 404, 409],
});
