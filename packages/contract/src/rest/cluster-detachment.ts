import Type, { type Static } from "typebox";
import { DisplayLine, ReadName, strict, Uuid } from "../fields.ts";
import { operation } from "../operation.ts";

const DetachingCluster = Type.Object(
  {
    cluster_id: Uuid(),
    name: ReadName("production"),
    namespaces: Type.Array(Type.String({ examples: ["shop"] }), {
      description: "Of the projects on it. On the cluster they stay, with all that runs in them.",
    }),
    apps: Type.Integer({ description: "How many apps are on it.", examples: [12] }),
    addon_instances: Type.Integer({ description: "How many addon instances are on it.", examples: [3] }),
  },
  { title: "DetachingCluster" },
);
export type DetachingCluster = Static<typeof DetachingCluster>;

export const detachCluster = operation({
  id: "detachCluster",
  method: "POST",
  path: "/clusters/{id}/detach",
  tag: "Clusters",
  summary: "Let a cluster of your own go without deleting what runs; org admin",
  description:
    "The operator stops reconciling, takes its finalizers and ownership labels away, and deletes what it has stored for itself: nothing on the " +
    "cluster belongs to Binnacle afterwards, and `helm uninstall` of the operator and `kubectl delete namespace` hang on nothing. Workloads, " +
    "volumes, Secrets and Helm releases stay as they are. The cluster reads `detaching`, its projects `cleanup_degraded` with the reason " +
    "`cluster_detached`, and their contents `deleting`, until the operator has confirmed it; then the records end. 409 for a cluster that Binnacle " +
    "has made, while the operator is not connected (`POST …/abandon` gives such a cluster up), and for one that is too old for it.",
  credentials: "user",
  params: Type.Object({ id: Uuid() }),
  body: Type.Object(
    { name: { ...DisplayLine("production", 100, "The cluster's name, as a confirmation."), minLength: 1 } },
    strict,
  ),
  success: [202, DetachingCluster],
  failures: [403, 404, 409],
});
