import Type, { type Static } from "typebox";
import { Region } from "../cloud/cloud.ts";
import { Egress } from "../cloud/egress.ts";
import { Failure } from "../errors.ts";
import {
  Description,
  DisplayName,
  freshnessFields,
  Nullable,
  Page,
  pageFields,
  ReadName,
  SearchText,
  severalOf,
  strict,
  Timestamp,
  Uuid,
} from "../fields.ts";
import { operation } from "../operation.ts";
import { CLUSTER_STATUSES, PROVIDERS } from "../states.ts";
import { ClusterCapacity } from "./cluster-capacity.ts";
import { PlanJobId } from "./cluster-nodes.ts";
import { RepoCredential } from "./gitops.ts";
import { CurrentStage } from "./installs.ts";
import { ClusterOperatorUpgrade, OPERATOR_SKEWS } from "./operator-upgrades.ts";
import { regionRules, WIRED_PROVIDERS } from "./providers.ts";
import { Suspension } from "./suspensions.ts";

const tag = "Clusters";
const orgParams = Type.Object({ org_id: Uuid() });
const params = Type.Object({ id: Uuid() });
const READ_SCOPES = ["clusters:read", "clusters:register"] as const;

const Name = DisplayName("production");
const InstanceType = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: "^[A-Za-z0-9.-]+$",
  examples: ["t3.large"],
});
const AgentCount = Type.Integer({
  minimum: 0,
  maximum: 20,
  description: "Agent nodes beside the one control-plane node.",
  examples: [2],
});
const DiskSize = Type.Integer({ minimum: 10, maximum: 500, examples: [50] });
const HubUrl = Type.String({ description: "Where the operator connects.", examples: ["wss://example.com/hub/v1"] });
const ChartRef = Type.String({
  description: "The operator's chart, its version pinned.",
  examples: ["https://example.com/charts/binnacle-operator-0.1.0.tgz"],
});
const Namespace = Type.String({ description: "Where the operator is installed.", examples: ["binnacle-system"] });

const fields = {
  id: Uuid(),
  org_id: Uuid(),
  name: ReadName("production"),
  description: Nullable(Description),
  status: Type.Enum(CLUSTER_STATUSES),
  current_stage: {
    ...Nullable(CurrentStage),
    description:
      "The stage of an install or upgrade that was reported to have started and not yet to have ended; null between stages and otherwise.",
  },
  message: Nullable(
    Type.String({
      description: "Explains the status `error`, and what `detaching` waits for.",
      examples: ["No capacity."],
    }),
  ),
  provider: Nullable(Type.Enum(PROVIDERS, { description: "Null for a bring-your-own cluster." })),
  credential_id: Nullable(Uuid()),
  region: Nullable(Region),
  instance_type: Nullable(InstanceType),
  agent_count: Nullable(AgentCount),
  disk_size_gb: Nullable(DiskSize),
  egress: Nullable(Egress),
  node_count: Nullable(Type.Integer({ examples: [3] })),
  operator_version: Nullable(Type.String({ examples: ["0.1.0"] })),
  operator_skew: Nullable(
    Type.Enum(OPERATOR_SKEWS, {
      description:
        "How the operator's version compares with the control plane's. `supported`: the same minor version, or one newer. " +
        "`outdated`: one minor version older; it works, and is to be upgraded before the control plane is. `unsupported`: any other. " +
        "Null before its first connection.",
    }),
  ),
  operator_self_upgrade: Type.Boolean({
    description: "Whether the operator said at its last connection that it can be upgraded from here.",
    examples: [true],
  }),
  operator_upgrade: {
    ...Nullable(ClusterOperatorUpgrade),
    description: "The newest upgrade of the operator that was started here; null where there was none.",
  },
  suspended: { ...Nullable(Suspension), description: "Nothing on it is touched by the operator." },
  kubernetes_version: Nullable(Type.String({ examples: ["v1.34.1+k3s1"] })),
  last_heartbeat: Nullable(Timestamp()),
  ...freshnessFields(),
  metrics: Nullable(ClusterCapacity),
  created_at: Timestamp(),
  updated_at: Timestamp(),
};

export const Cluster = Type.Object(fields, { title: "Cluster" });
export type Cluster = Static<typeof Cluster>;

const CreatedCluster = Type.Object(
  {
    ...fields,
    connection_token: Nullable(
      Type.String({ description: "The agent JWT, shown once; null for provisioning.", examples: ["<CLUSTER_JWT>"] }),
    ),
    install_command: Nullable(
      Type.String({
        description: "Installs the operator as printed; carries the token. Null for provisioning.",
        examples: ["helm upgrade --install binnacle-operator …"],
      }),
    ),
    provisioning_job_id: Nullable(Uuid("Of the job that creates the infrastructure; null for bring-your-own.")),
  },
  { title: "CreatedCluster" },
);

export const ClusterInput = Type.Object(
  {
    name: Name,
    description: Type.Optional(Nullable(Description)),
    provider: Type.Optional(
      Type.Enum(PROVIDERS, {
        description: `With \`credential_id\`, for provisioning; \`${WIRED_PROVIDERS.join("`, `")}\`, others are coming soon.`,
        allOf: [
          {
            description: `Provisioning works on ${WIRED_PROVIDERS.join(", ")}; the other providers are coming soon`,
            enum: WIRED_PROVIDERS,
          },
        ],
      }),
    ),
    credential_id: Type.Optional(Uuid()),
    region: Type.Optional(Region),
    instance_type: Type.Optional(InstanceType),
    agent_count: Type.Optional(AgentCount),
    disk_size_gb: Type.Optional(DiskSize),
    egress: Type.Optional(Egress),
  },
  {
    ...strict,
    description: "`provider` and `credential_id` go together; with both it is a provisioning request.",
    dependentRequired: { provider: ["credential_id"], credential_id: ["provider"], egress: ["provider"] },
    ...regionRules,
    examples: [{ name: "production", description: "Everything that customers see." }],
  },
);
export type ClusterInput = Static<typeof ClusterInput>;

export const listClusters = operation({
  id: "listClusters",
  method: "GET",
  path: "/orgs/{org_id}/clusters",
  tag,
  summary: "List an organization's clusters, newest first",
  credentials: READ_SCOPES,
  params: orgParams,
  description: "The filters are combined. `status` may be repeated.",
  query: Type.Object({
    ...pageFields(),
    status: Type.Optional(severalOf(CLUSTER_STATUSES, "Only those in one of these states.")),
    search: Type.Optional(SearchText("Only those with this text in their name.")),
  }),
  success: [200, Page(Cluster)],
  failures: [404],
});

export const createCluster = operation({
  id: "createCluster",
  method: "POST",
  path: "/orgs/{org_id}/clusters",
  tag,
  summary: "Register a cluster, or start provisioning one; org admin",
  description:
    "Without `provider` and `credential_id` it registers a cluster of yours: `pending`, with the command that installs the " +
    "operator. With both it starts provisioning: `region` is the credential's, `instance_type` t3.large, `agent_count` 0 " +
    "and `disk_size_gb` 50 unless given. `egress` is for machines behind a proxy or without the internet.",
  credentials: ["clusters:register"],
  params: orgParams,
  body: ClusterInput,
  success: [201, CreatedCluster],
  failures: [404, 409],
});

export const getCluster = operation({
  id: "getCluster",
  method: "GET",
  path: "/clusters/{id}",
  tag,
  summary: "Read a cluster: its details, status and last known capacity",
  credentials: READ_SCOPES,
  params,
  success: [200, Cluster],
  failures: [404],
});

export const updateCluster = operation({
  id: "updateCluster",
  method: "PATCH",
  path: "/clusters/{id}",
  tag,
  summary: "Change a cluster's name and description",
  description: "Fields left out stay; a description of null is taken out.",
  credentials: "user",
  params,
  body: Type.Object({ name: Type.Optional(Name), description: Type.Optional(Nullable(Description)) }, strict),
  success: [200, Cluster],
  failures: [403, 404, 409],
});

export const deleteCluster = operation({
  id: "deleteCluster",
  method: "DELETE",
  path: "/clusters/{id}",
  tag,
  summary: "Delete a cluster; org admin",
  description:
    "409 while projects exist on it; the answer names them. Those of an abandoned cluster do not count and end with it. " +
    "A bring-your-own cluster is gone at once. The infrastructure " +
    "of a provisioned one is destroyed; until then it reads as `destroying`. The operator is not uninstalled. " +
    "Stack templates of scope `cluster` go with it.",
  credentials: "user",
  params,
  query: Type.Object({ plan_job_id: PlanJobId }),
  success: [204, null],
  failures: [403, 404, 409],
});

export const getInstallInstructions = operation({
  id: "getInstallInstructions",
  method: "GET",
  path: "/clusters/{id}/install-instructions",
  tag,
  summary: "Read how the cluster is connected, without any secret",
  credentials: READ_SCOPES,
  params,
  success: [
    200,
    Type.Object(
      {
        status: Type.Enum(CLUSTER_STATUSES),
        cli_command: Type.Null({ description: "There is none yet for an existing cluster." }),
        hub_url: HubUrl,
        namespace: Namespace,
        chart_ref: ChartRef,
        operator_image: Type.String({
          description: "The image that each node pulls, which may run the operator.",
          examples: ["binnacle.example.com/binnacle/operator:0.1.0"],
        }),
        docs_url: Type.String({ examples: ["https://example.com/charts/README.md"] }),
        upgrade_command: Type.String({
          description:
            "Upgrades the operator's release with the values that it has, for operators that cannot be upgraded from here. Helm 3.14 or newer.",
          examples: ["helm upgrade binnacle-operator …"],
        }),
      },
      { title: "InstallInstructions" },
    ),
  ],
  failures: [404],
});

/** This operation is removed. It answers every signed-in caller with 410, whatever the id. */
export const getInstallCommand = operation({
  id: "getInstallCommand",
  method: "GET",
  path: "/clusters/{id}/install-command",
  tag,
  summary: "Removed; always 410",
  description: "The command is part of the answer to the cluster's creation.",
  credentials: READ_SCOPES,
  params,
  success: [410, Failure],
});

export const createAgentCredentials = operation({
  id: "createAgentCredentials",
  method: "POST",
  path: "/clusters/{id}/agent-credentials",
  tag,
  summary: "Mint a new agent JWT for the cluster's operator",
  description:
    "Its secrets are shown once. Each call raises `token_version`; earlier tokens keep working. Where the organization has a Git " +
    "host, `repo_credential` is a new key that writes the cluster's repository. A host that does not answer is a 503 and one " +
    "that refuses a 502; both change nothing.",
  credentials: ["clusters:register"],
  params,
  success: [
    201,
    Type.Object(
      {
        cluster_id: Uuid(),
        agent_jwt: Type.Object({
          token: Type.String({ examples: ["<CLUSTER_JWT>"] }),
          token_version: Type.Integer({ minimum: 1, examples: [2] }),
          expires_at: Timestamp("365 days from now."),
          hub_url: HubUrl,
        }),
        repo_credential: {
          ...Nullable(RepoCredential),
          description: "Null where the organization has no Git host.",
        },
        operator: Type.Object({ namespace: Namespace, chart_ref: ChartRef }),
      },
      { title: "AgentCredentials" },
    ),
  ],
  failures: [403, 404, 409, 502, 503],
});

export const ENFORCEMENTS = ["in_force", "pending"] as const;
export type Enforcement = (typeof ENFORCEMENTS)[number];

export const rotateClusterToken = operation({
  id: "rotateClusterToken",
  method: "POST",
  path: "/clusters/{id}/rotate-token",
  tag,
  summary: "Revoke every earlier agent JWT and mint a new one",
  description:
    "The hub closes the live session; the cluster stays disconnected until the new token is deployed. `pending`: the hub " +
    "did not answer in time. The rotation has happened all the same; do not repeat it.",
  credentials: "user",
  params,
  success: [
    200,
    Type.Object(
      {
        token: Type.String({ examples: ["<CLUSTER_JWT>"] }),
        token_version: Type.Integer({ minimum: 1, examples: [3] }),
        install_command: Type.String({
          description: "Deploys the new token: the whole command, as the answer to the registration has it.",
          examples: ["helm upgrade --install binnacle-operator …"],
        }),
        enforcement: Type.Enum(ENFORCEMENTS),
      },
      { title: "RotatedToken" },
    ),
  ],
  failures: [403, 404, 409],
});
