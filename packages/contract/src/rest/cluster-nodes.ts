import Type from "typebox";
import { strict, Uuid } from "../fields.ts";
import { Metrics, RangeQuery } from "../metrics.ts";
import { operation } from "../operation.ts";
import { holds, where } from "../rules.ts";
import { ProvisioningJob } from "./provisioning.ts";

const tag = "Clusters";
const params = Type.Object({ id: Uuid() });

/** A change can be bound to the plan that somebody has seen. */
export const PlanJobId = Type.Optional(
  Uuid(
    "The dry run whose plan was looked at. The job fails as `plan_changed` before anything is changed where it would change anything else; " +
      "409 where that is known already.",
  ),
);

const NodeName = Type.String({
  minLength: 1,
  maxLength: 63,
  pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
  examples: ["agent-1"],
});

const NodeCount = Type.Integer({
  minimum: 1,
  maximum: 21,
  description: "The control plane and its agents together.",
  examples: [3],
});

export const planCluster = operation({
  id: "planCluster",
  method: "POST",
  path: "/clusters/{id}/plan",
  tag,
  summary: "Plan a change of size, the replacement of a node or a destruction without making it; org admin",
  description:
    "Starts a dry run: a provisioning job that ends with its plan, changes nothing, and leaves the cluster's status as it is. " +
    "Its id binds the change to the plan, as `plan_job_id` of the operation that makes it. " +
    "409 where the change itself would be, except for want of `force`, and while another plan of the cluster is being made.",
  credentials: "user",
  params,
  body: Type.Object(
    {
      action: Type.Enum(["scale", "replace", "destroy"] as const),
      desired_node_count: Type.Optional(NodeCount),
      node: Type.Optional(NodeName),
    },
    {
      ...strict,
      description: "`scale` requires `desired_node_count` and `replace` requires `node`, which the others do not have.",
      examples: [{ action: "scale", desired_node_count: 3 }],
      allOf: [
        where(holds("action", ["scale"]), "A change of size needs the number of nodes", {
          requires: ["desired_node_count"],
          refuses: ["node"],
        }),
        where(holds("action", ["replace"]), "A replacement needs the name of the node", {
          requires: ["node"],
          refuses: ["desired_node_count"],
        }),
        where(holds("action", ["destroy"]), "A destruction has neither a number of nodes nor a node", {
          refuses: ["desired_node_count", "node"],
        }),
      ],
    },
  ),
  success: [202, ProvisioningJob],
  failures: [403, 404, 409],
});

const Force = Type.Optional(
  Type.Boolean({
    description:
      "Takes nodes away although the data of their local volumes is lost, or although it is not known whether they have any.",
    default: false,
  }),
);

export const scaleCluster = operation({
  id: "scaleCluster",
  method: "POST",
  path: "/clusters/{id}/scale",
  tag,
  summary: "Change the number of a provisioned cluster's nodes; org admin",
  description:
    "409 for a bring-your-own cluster, and while another job of the cluster is under way or its creation failed. A job that would take " +
    "a node with local volumes fails as `local_volumes` before anything is changed, unless `force` is set.",
  credentials: "user",
  params,
  body: Type.Object({ desired_node_count: NodeCount, force: Force, plan_job_id: PlanJobId }, strict),
  success: [202, ProvisioningJob],
  failures: [403, 404, 409],
});

export const replaceNode = operation({
  id: "replaceNode",
  method: "POST",
  path: "/clusters/{id}/nodes/{name}/replace",
  tag,
  summary: "Give a node of a provisioned cluster a new machine; org admin",
  description:
    "An agent is drained as far as it answers, its machine is removed, and a new one joins under the same name. Local volumes are " +
    "guarded as by `scale`. The node `control-plane` is made anew from its newest snapshot, which takes `force`, because what was " +
    "changed since is lost; 409 where the cluster has no bucket for snapshots. 404 for a node that the cluster does not have; 409 for a " +
    "bring-your-own cluster, while another job of the cluster is under way, and for an agent after a job that has failed.",
  credentials: "user",
  params: Type.Object({
    id: Uuid(),
    name: NodeName,
  }),
  body: Type.Object({ force: Force, plan_job_id: PlanJobId }, strict),
  success: [202, ProvisioningJob],
  failures: [403, 404, 409],
});

export const upgradeKubernetes = operation({
  id: "upgradeKubernetes",
  method: "POST",
  path: "/clusters/{id}/kubernetes-upgrade",
  tag,
  summary: "Bring a provisioned cluster to another release of k3s, machine by machine; org admin",
  description:
    "The control plane gets a new machine first, from a snapshot of its data that is some minutes old at most, for which the job waits; what was " +
    "changed in between is lost. Then each agent is drained and gets a new machine. Local volumes are guarded as by `scale`. A job that has " +
    "failed goes on where it stopped when it is retried. 409 for a release that Binnacle does not have, that is older, or that is more than one " +
    "minor release ahead; for a bring-your-own cluster or one without a bucket for snapshots; while another job of the cluster is under way or has " +
    "to be retried first; and without a connected operator, unless `force` is set.",
  credentials: "user",
  params,
  body: Type.Object(
    {
      release: Type.String({
        maxLength: 40,
        pattern: "^v[0-9]+\\.[0-9]+\\.[0-9]+\\+k3s[0-9]+$",
        examples: ["v1.37.1+k3s1"],
      }),
      force: Force,
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
