import { bundleMoves, MOVE } from "../bundles.ts";
import { arg, type Command, IN_CLUSTER, IN_ORG, IN_PROJECT, option, send, taken, verb } from "../command.ts";
import { ageColumn, column, quantity, type Row, sparkline, stateColumn, view } from "../output.ts";
import { clusterRegistered, followInstall, followJob, jobEnded } from "../waiting.ts";

const CLUSTER = view(
  "name",
  column("NAME", "name"),
  stateColumn("STATUS", "status"),
  column("NODES", "node_count"),
  column("KUBERNETES", "kubernetes_version"),
  column("OPERATOR", "operator_version", true),
  ageColumn("HEARTBEAT", "last_heartbeat"),
  {
    title: "CPU",
    isWide: true,
    of: ({ metrics }) => (metrics?.cpu_cores == null ? null : quantity(metrics.cpu_cores, "cores")),
  },
  {
    title: "MEMORY",
    isWide: true,
    of: ({ metrics }) => (metrics?.memory_bytes == null ? null : quantity(metrics.memory_bytes, "bytes")),
  },
  column("PROVIDER", "provider", true),
  column("MESSAGE", "message", true),
  column("DESCRIPTION", "description", true),
  ageColumn("AGE", "created_at"),
  column("ID", "id", true),
);
const JOB = view(
  "id",
  column("ID", "id"),
  column("ACTION", "action"),
  stateColumn("STATUS", "status"),
  column("PHASE", "phase"),
  { title: "PROGRESS", of: ({ progress_pct }) => `${progress_pct}%` },
  column("ATTEMPTS", "attempts", true),
  column("ERROR", "error_message", true),
  ageColumn("AGE", "created_at"),
);
const BUNDLE = view(
  "version",
  column("VERSION", "version"),
  column("HA TIERS", "ha_tiers"),
  column("PROFILES", "profiles"),
);
export const BINDING = view(
  "binding_id",
  column("USER", "user_id"),
  column("ROLE", "role"),
  ageColumn("AGE", "created_at"),
  column("BINDING", "binding_id"),
);
const REGISTRY_SECRET = view(
  "name",
  column("NAME", "name"),
  column("SERVER", "server_url"),
  column("USERNAME", "username"),
  column("INHERITED FROM", "inherited_from", true),
  ageColumn("AGE", "created_at"),
  column("ID", "id", true),
);
const CREDENTIAL = view(
  "name",
  column("NAME", "name"),
  column("PROVIDER", "provider"),
  column("REGION", "region"),
  column("ACCESS KEY", "access_key_id"),
  ageColumn("AGE", "created_at"),
  column("ID", "id", true),
);
const REPOSITORY = view(
  "name",
  column("NAME", "name"),
  column("URL", "url"),
  column("USERNAME", "username"),
  ageColumn("AGE", "created_at"),
  column("ID", "id", true),
);

const THE_CLUSTER = arg("<cluster>", "id", "cluster");
const BINDING_ROLES = ["viewer", "editor", "admin"] as const;
export const WITH_ROLE = [
  option("--user <user>", "body.user_id", "by name, address or id", { kind: "user" }),
  option("--role <role>", "body.role", "what they may do", { choices: BINDING_ROLES }),
];
const SECRET_FIELDS = [
  arg("<name>", "body.name"),
  option("--server <address>", "body.server_url", "of the registry"),
  option("--username <name>", "body.username", "there"),
  { from: "--password", to: "body.password", kind: "secret", help: "the password", isRequired: true } as const,
];
export const RANGE = option("--range <range>", "range", "how far back, such as 15m, 1h or 7d");

/** Series as lines of blocks, the newest value at the right. */
export function charts(series: readonly Row[], width: number): Row[] {
  return series.map(({ name, unit, labels, points }) => {
    const values = (points as [number, number][]).map(([, value]) => value);
    const label = Object.values(labels as Record<string, string>).join(" ");
    return { name, label, unit, values, chart: sparkline(values, width) };
  });
}
export const CHART = view(
  "name",
  column("SERIES", "name"),
  column("OF", "label"),
  { title: "NOW", of: ({ values, unit }) => (values.length === 0 ? null : quantity(values.at(-1), unit)) },
  { title: "MOST", of: ({ values, unit }) => (values.length === 0 ? null : quantity(Math.max(...values), unit)) },
  column("", "chart"),
);

export const CLUSTER_COMMANDS: readonly Command[] = [
  verb({
    usage: "clusters list",
    about: "List the clusters of an organization",
    operation: "listClusters",
    fields: [{ ...IN_ORG, to: "org_id" }],
    isList: true,
    view: CLUSTER,
  }),
  verb({
    usage: "clusters show <cluster>",
    about: "Show a cluster",
    operation: "getCluster",
    fields: [THE_CLUSTER],
    view: CLUSTER,
  }),
  {
    usage: "clusters register <name>",
    about: "Register a cluster, or have one made with --provider",
    fields: [
      { ...IN_ORG, to: "org_id" },
      arg("<name>", "body.name"),
      option("--description <text>", "body.description", "what it is for"),
      option("--provider <provider>", "body.provider", "where to make it"),
      option("--credential <credential>", "body.credential_id", "for the provider, by name or id", {
        kind: "credential",
      }),
      option("--region <region>", "body.region", "of the provider"),
      option("--instance-type <type>", "body.instance_type", "of its machines"),
      option("--agents <count>", "body.agent_count", "beside the server", { kind: "integer" }),
      option("--disk-size <gb>", "body.disk_size_gb", "of each machine", { kind: "integer" }),
      { from: "--wait", kind: "flag", help: "until its operator has connected" },
      { from: "--timeout <duration>", help: "how long to wait", preset: "15m" },
    ],
    uses: ["createCluster", "getCluster"],
    run: clusterRegistered,
  },
  verb({
    usage: "clusters update <cluster>",
    about: "Rename or describe a cluster",
    operation: "updateCluster",
    fields: [
      THE_CLUSTER,
      option("--name <name>", "body.name", "its name"),
      option("--description <text>", "body.description", "what it is for"),
    ],
    view: CLUSTER,
  }),
  verb({
    usage: "clusters settings show <cluster>",
    about: "Show the policies of a cluster",
    operation: "getClusterSettings",
    fields: [THE_CLUSTER],
  }),
  verb({
    usage: "clusters settings update <cluster>",
    about: "Change the policies of a cluster",
    operation: "updateClusterSettings",
    fields: [
      THE_CLUSTER,
      option("--pod-security <level>", "body.pod_security", "for its projects", {
        choices: ["privileged", "baseline", "restricted"],
      }),
    ],
    takesFile: true,
  }),
  verb({
    usage: "clusters instructions <cluster>",
    about: "Show how to install the operator, without credentials",
    operation: "getInstallInstructions",
    fields: [THE_CLUSTER],
  }),
  {
    usage: "clusters install-command <cluster>",
    about: "Print the command that installs the operator; it holds a new token",
    fields: [THE_CLUSTER],
    uses: ["rotateClusterToken"],
    async run(call, { args, input }) {
      await call.confirm(`Issue a new token for ${args["cluster"]}? The token in use ends.`);
      const answer: Row = await send(call, "rotateClusterToken", input);
      if (call.format.kind === "table" || call.format.kind === "wide")
        call.host.out.write(`${answer.install_command}\n`);
      else call.show(null, answer);
      return undefined;
    },
  },
  verb({
    usage: "clusters credentials <cluster>",
    about: "Issue credentials for an operator that you install yourself",
    operation: "createAgentCredentials",
    fields: [THE_CLUSTER],
  }),
  verb({
    usage: "clusters rotate-token <cluster>",
    about: "Issue a new token; the operator needs it to reconnect",
    operation: "rotateClusterToken",
    fields: [THE_CLUSTER],
    confirm: "Issue a new token for {cluster}? The token in use ends.",
  }),
  {
    usage: "clusters install-status <cluster>",
    about: "Show how far the installation of the platform is",
    fields: [
      THE_CLUSTER,
      { from: "-w, --watch", kind: "flag", help: "until it has ended" },
      { from: "--timeout <duration>", help: "how long to watch", preset: "1h" },
    ],
    uses: ["getClusterBundle"],
    run: followInstall,
  },
  verb({
    usage: "clusters scale <cluster> <nodes>",
    about: "Set how many nodes a provisioned cluster has",
    operation: "scaleCluster",
    fields: [THE_CLUSTER, arg("<nodes>", "body.desired_node_count", "integer")],
    view: JOB,
    done: "Follow it with: binnacle jobs list {cluster}",
  }),
  {
    usage: "clusters metrics <cluster>",
    about: "Chart what a cluster uses",
    fields: [THE_CLUSTER, RANGE],
    uses: ["getClusterMetrics"],
    async run(call, { input }) {
      const answer: Row = await send(call, "getClusterMetrics", input);
      if (call.format.kind === "table" || call.format.kind === "wide") call.list(CHART, charts(answer.series, 60));
      else call.show(null, answer);
      return undefined;
    },
  },
  verb({
    usage: "clusters ssh-key <cluster>",
    about: "Print the private key of a provisioned cluster's machines",
    operation: "getSshKey",
    fields: [THE_CLUSTER],
  }),
  verb({
    usage: "clusters bundle show <cluster>",
    about: "Show which bundle is installed",
    operation: "getClusterBundle",
    fields: [THE_CLUSTER],
  }),
  verb({
    usage: "clusters bundle record <cluster>",
    about: "Record what an installer has installed",
    operation: "recordClusterBundle",
    fields: [THE_CLUSTER],
    takesFile: true,
  }),
  verb({
    usage: "clusters bundle event <cluster>",
    about: "Report a stage of an installation, as an installer does",
    operation: "reportInstallEvent",
    fields: [
      THE_CLUSTER,
      option("--stage <stage>", "body.stage", "such as preflight"),
      option("--status <status>", "body.status", "of the stage", { choices: ["started", "completed", "failed"] }),
      option("--detail <text>", "body.detail", "more about it"),
      option("--reason-code <code>", "body.reason_code", "why it failed"),
    ],
    takesFile: true,
  }),
  verb({
    usage: "clusters rbac list <cluster>",
    about: "List who has a role on a cluster",
    operation: "listClusterRoles",
    fields: [THE_CLUSTER],
    isList: true,
    view: BINDING,
  }),
  verb({
    usage: "clusters rbac grant <cluster>",
    about: "Give a user a role on a cluster",
    operation: "grantClusterRole",
    fields: [THE_CLUSTER, ...WITH_ROLE],
    view: BINDING,
  }),
  verb({
    usage: "clusters rbac replace <cluster>",
    about: "Give a user another role on a cluster",
    operation: "replaceClusterRole",
    fields: [THE_CLUSTER, ...WITH_ROLE],
    view: BINDING,
  }),
  verb({
    usage: "clusters rbac revoke <cluster> <binding>",
    about: "Take a role away",
    operation: "revokeClusterRole",
    fields: [THE_CLUSTER, arg("<binding>", "binding_id")],
    done: "Revoked {binding}.",
  }),
  verb({
    usage: "clusters abandon <cluster>",
    about: "Give up a cluster that never returns, with all that runs on it",
    operation: "abandonCluster",
    fields: [THE_CLUSTER, arg("<cluster>", "body.name")],
    confirm: "Abandon {cluster}? Its projects and apps are forgotten, and what is left on it stays there.",
    done: "Abandoned {cluster}.",
  }),
  verb({
    usage: "clusters delete <cluster>",
    about: "Delete a cluster",
    operation: "deleteCluster",
    fields: [THE_CLUSTER],
    confirm: "Delete the cluster {cluster}?",
    done: "Deleted {cluster}.",
  }),

  verb({
    usage: "jobs list <cluster>",
    about: "List what was provisioned for a cluster, newest first",
    operation: "listProvisioningJobs",
    fields: [THE_CLUSTER],
    isList: true,
    view: JOB,
  }),
  verb({
    usage: "jobs show <id>",
    about: "Show a provisioning job",
    operation: "getProvisioningJob",
    fields: [arg("<id>", "id")],
    view: JOB,
  }),
  {
    usage: "jobs logs <id>",
    about: "Print the output of a provisioning job",
    fields: [arg("<id>", "id"), { from: "-f, --follow", kind: "flag", help: "until it has ended" }],
    uses: ["getProvisioningLogs", "getProvisioningJob"],
    run: followJob,
  },
  {
    usage: "jobs wait <id>",
    about: "Wait for a provisioning job",
    fields: [arg("<id>", "id"), { from: "--timeout <duration>", help: "how long", preset: "1h" }],
    uses: ["getProvisioningJob"],
    run: jobEnded,
  },
  verb({
    usage: "jobs retry <id>",
    about: "Try a failed job again, from where it stopped",
    operation: "retryProvisioningJob",
    fields: [arg("<id>", "id")],
    view: JOB,
  }),

  verb({
    usage: "bundles list",
    about: "List the platform bundles, oldest first",
    operation: "listBundles",
    isList: true,
    view: BUNDLE,
  }),
  verb({
    usage: "bundles show <version>",
    about: "Show what a bundle consists of",
    operation: "getBundle",
    fields: [arg("<version>", "version")],
  }),
  {
    usage: "bundles diff <version> <other>",
    about: "Show what changes from one bundle to another; what cannot be undone is marked",
    fields: [arg("<version>", "version"), arg("<other>", "other")],
    uses: ["diffBundles"],
    async run(call, { input }) {
      const diff: Row = await send(call, "diffBundles", input);
      if (call.format.kind !== "table" && call.format.kind !== "wide") call.show(null, diff);
      else call.list(MOVE, bundleMoves(diff));
      return undefined;
    },
  },

  verb({
    usage: "credentials list",
    about: "List the credentials for providers",
    operation: "listCredentials",
    fields: [IN_ORG],
    isList: true,
    view: CREDENTIAL,
  }),
  verb({
    usage: "credentials show <credential>",
    about: "Show a credential, without its secret",
    operation: "getCredential",
    fields: [arg("<credential>", "id", "credential")],
    view: CREDENTIAL,
  }),
  verb({
    usage: "credentials create <name>",
    about: "Store a credential for a provider",
    operation: "createCredential",
    fields: [
      IN_ORG,
      arg("<name>", "body.name"),
      option("--provider <provider>", "body.provider", "such as aws"),
      option("--region <region>", "body.region", "of the provider"),
      option("--access-key-id <id>", "body.access_key_id", "of the key"),
      { from: "--secret-access-key", to: "body.secret_access_key", kind: "secret", help: "the secret access key" },
    ],
    takesFile: true,
    view: CREDENTIAL,
  }),
  verb({
    usage: "credentials update <credential>",
    about: "Rename a credential, or replace its key",
    operation: "updateCredential",
    fields: [
      arg("<credential>", "id", "credential"),
      option("--name <name>", "body.name", "its name"),
      option("--region <region>", "body.region", "of the provider"),
      option("--access-key-id <id>", "body.access_key_id", "of the key"),
      { from: "--secret-access-key", to: "body.secret_access_key", kind: "secret", help: "the secret access key" },
    ],
    takesFile: true,
    view: CREDENTIAL,
  }),
  verb({
    usage: "credentials delete <credential>",
    about: "Delete a credential",
    operation: "deleteCredential",
    fields: [arg("<credential>", "id", "credential")],
    confirm: "Delete the credential {credential}?",
    done: "Deleted {credential}.",
  }),

  verb({
    usage: "chart-repositories list",
    about: "List the chart repositories of an organization",
    operation: "listChartRepositories",
    fields: [IN_ORG],
    isList: true,
    view: REPOSITORY,
  }),
  verb({
    usage: "chart-repositories show <repository>",
    about: "Show a chart repository",
    operation: "getChartRepository",
    fields: [IN_ORG, arg("<repository>", "repository_id", "repository")],
    view: REPOSITORY,
  }),
  verb({
    usage: "chart-repositories create <name>",
    about: "Store the access to a chart repository",
    operation: "createChartRepository",
    fields: [
      IN_ORG,
      arg("<name>", "body.name"),
      option("--address <url>", "body.url", "https:// or oci://"),
      option("--username <name>", "body.username", "there"),
      { from: "--password", to: "body.password", kind: "secret", help: "the password", isRequired: true },
    ],
    view: REPOSITORY,
  }),
  verb({
    usage: "chart-repositories update <repository>",
    about: "Change the access to a chart repository",
    operation: "updateChartRepository",
    fields: [
      IN_ORG,
      arg("<repository>", "repository_id", "repository"),
      option("--name <name>", "body.name", "its name"),
      option("--address <url>", "body.url", "https:// or oci://"),
      option("--username <name>", "body.username", "there"),
      { from: "--password", to: "body.password", kind: "secret", help: "the password" },
    ],
    view: REPOSITORY,
  }),
  verb({
    usage: "chart-repositories delete <repository>",
    about: "Delete the access to a chart repository",
    operation: "deleteChartRepository",
    fields: [IN_ORG, arg("<repository>", "repository_id", "repository")],
    confirm: "Delete the chart repository {repository}?",
    done: "Deleted {repository}.",
  }),

  {
    usage: "registry-secrets list",
    about: "List the registry secrets of --project, with those of its cluster, or of --cluster",
    fields: [],
    uses: ["listEffectiveRegistrySecrets", "listClusterRegistrySecrets"],
    async run(call) {
      const isOfCluster = call.asked.cluster !== undefined && call.asked.project === undefined;
      const rows = isOfCluster
        ? await taken(call, "listClusterRegistrySecrets", { id: await call.find.clusterId() })
        : await taken(call, "listEffectiveRegistrySecrets", { id: await call.find.projectId() });
      call.list(REGISTRY_SECRET, rows);
      return undefined;
    },
  },
  verb({
    usage: "registry-secrets project list",
    about: "List a project's own registry secrets",
    operation: "listProjectRegistrySecrets",
    fields: [IN_PROJECT],
    isList: true,
    view: REGISTRY_SECRET,
  }),
  verb({
    usage: "registry-secrets project attach <name>",
    about: "Let a project pull from a registry",
    operation: "attachProjectRegistrySecret",
    fields: [IN_PROJECT, ...SECRET_FIELDS],
    view: REGISTRY_SECRET,
  }),
  verb({
    usage: "registry-secrets project detach <secret>",
    about: "Remove a registry secret of a project",
    operation: "detachProjectRegistrySecret",
    fields: [IN_PROJECT, arg("<secret>", "secret_id", "project-registry-secret")],
    confirm: "Remove the registry secret {secret}?",
    done: "Removed {secret}.",
  }),
  verb({
    usage: "registry-secrets cluster attach <name>",
    about: "Let all projects of a cluster pull from a registry",
    operation: "attachClusterRegistrySecret",
    fields: [IN_CLUSTER, ...SECRET_FIELDS],
    view: REGISTRY_SECRET,
  }),
  verb({
    usage: "registry-secrets cluster detach <secret>",
    about: "Remove a registry secret of a cluster",
    operation: "detachClusterRegistrySecret",
    fields: [IN_CLUSTER, arg("<secret>", "secret_id", "cluster-registry-secret")],
    confirm: "Remove the registry secret {secret}?",
    done: "Removed {secret}.",
  }),
];
