import Type from "typebox";
import { Uuid } from "../fields.ts";
import { operation } from "../operation.ts";
import { Cluster } from "./clusters.ts";
import { SuspensionInput } from "./suspensions.ts";

const suspending = {
  tag: "Clusters",
  credentials: "user",
  method: "POST",
  params: Type.Object({ id: Uuid() }),
  success: [200, Cluster],
  failures: [403, 404, 409],
} as const;

export const suspendCluster = operation({
  ...suspending,
  id: "suspendCluster",
  path: "/clusters/{id}/suspend",
  summary: "Keep the operator from touching anything on a cluster; admin of the cluster",
  description:
    "As by a suspension of each of its projects: changes are stored, and nothing is applied, corrected, pruned, installed with Helm or deleted " +
    "until it ends. `suspended.state` is `in_effect` once the operator has confirmed it for all projects. A second one changes nothing.",
  body: SuspensionInput,
  bodyIsOptional: true,
});

export const unsuspendCluster = operation({
  ...suspending,
  id: "unsuspendCluster",
  path: "/clusters/{id}/unsuspend",
  summary: "End the suspension of a cluster and apply what was stored meanwhile; admin of the cluster",
  description:
    "Projects and apps that were suspended by themselves stay so. It changes nothing where the cluster is not suspended.",
});
