import Type from "typebox";
import { strict, Uuid } from "../fields.ts";
import { Metrics, RangeQuery } from "../metrics.ts";
import { operation } from "../operation.ts";
import { ProvisioningJob } from "./provisioning.ts";

const tag = "Clusters";
const params = Type.Object({ id: Uuid() });

export const scaleCluster = operation({
  id: "scaleCluster",
  method: "POST",
  path: "/clusters/{id}/scale",
  tag,
  summary: "Change the number of a provisioned cluster's nodes; org admin",
  description:
    "409 for a bring-your-own cluster, and while another job of the cluster is under way or its creation failed.",
  credentials: "user",
  params,
  body: Type.Object(
    {
      desired_node_count: Type.Integer({
        minimum: 1,
        maximum: 21,
        description: "The control plane and its agents together.",
        examples: [3],
      }),
    },
    strict,
  ),
  success: [202, ProvisioningJob],
  failures: [403, 404, 409],
});

export const getSshKey = operation({
  id: "getSshKey",
  method: "GET",
  path: "/clusters/{id}/ssh-key",
  tag,
  summary: "Read the private SSH key of a provisioned cluster's nodes; org admin",
  description: "Made at provisioning and sealed at rest. 404 where there is none.",
  credentials: "user",
  params,
  success: [200, Type.Object({ private_key: Type.String({ examples: ["<PRIVATE_KEY>"] }) }, { title: "SshKey" })],
  failures: [403, 404],
});

export const getClusterMetrics = operation({
  id: "getClusterMetrics",
  method: "GET",
  path: "/clusters/{id}/metrics",
  tag,
  summary: "Read the cluster's capacity over time",
  description: "503 while no operator is connected and no samples are kept.",
  credentials: ["clusters:read", "clusters:register"],
  params,
  query: RangeQuery,
  success: [200, Metrics],
  failures: [404, 502, 503, 504],
});
