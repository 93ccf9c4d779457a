import { arg, type Command, IN_ORG, option, send, verb } from "../command.ts";
import { ageColumn, column, quantity, type Row, sparkline, stateColumn, view } from "../output.ts";
import { clusterDeleted, clusterRegistered, followInstall, planned } from "../waiting.ts";

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
  {
    title: "STAGE",
    isWide: true,
    of: ({ current_stage: at }) => at && [at.stage, at.component].filter(Boolean).join(" "),
  },
  column("MESSAGE", "message", true),
  column("DESCRIPTION", "description", true),
  ageColumn("AGE", "created_at"),
  column("ID", "id", true),
);
export const JOB = view(
  "id",
  column("ID", "id"),
  { title: "ACTION", of: ({ action, dry_run }) => (dry_run ? `plan of ${action}` : action) },
  stateColumn("STATUS", "status"),
  column("PHASE", "phase"),
  { title: "PROGRESS", of: ({ progress_pct }) => `${progress_pct}%` },
  column("ATTEMPTS", "attempts", true),
  column("ERROR", "error_message", true),
  ageColumn("AGE", "created_at"),
);
export const BINDING = view(
  "binding_id",
  column("USER", "user_id"),
  column("ROLE", "role"),
  ageColumn("AGE", "created_at"),
  column("BINDING", "binding_id"),
);
const THE_CLUSTER = arg("<cluster>", "id", "cluster");
const BINDING_ROLES = ["viewer", "editor", "admin"] as const;
export const WITH_ROLE = [
  option("--user <user>", "body.user_id", "by name, address or id", { kind: "user" }),
  option("--role <role>", "body.role", "what they may do", { choices: BINDING_ROLES }),
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
    fields: [
      { ...IN_ORG, to: "org_id" },
      option("--status <states>", "status", "only in these states, with commas between them", { kind: "list" }),
      option("--search <text>", "search", "only with this text in their name"),
    ],
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
    uses: ["getClusterBundle", "getCluster"],
    run: followInstall,
  },
  verb({
    usage: "clusters scale <cluster> <nodes>",
    about: "Set how many nodes a provisioned cluster has",
    operation: "scaleCluster",
    fields: [THE_CLUSTER, arg("<nodes>", "body.desired_node_count", "integer")],
    view: JOB,
    done: ({ id }) => `Follow it with: binnacle jobs logs -f ${id}`,
  }),
  {
    usage: "clusters plan <cluster> <action>",
    about: "Show what a change of size (scale) or a destruction (destroy) would do",
    fields: [
      THE_CLUSTER,
      { ...arg("<action>", "body.action"), choices: ["scale", "destroy"] },
      option("--nodes <count>", "body.desired_node_count", "to scale to, the control plane included", {
        kind: "integer",
      }),
      { from: "--timeout <duration>", help: "how long to wait", preset: "10m" },
    ],
    uses: ["planCluster", "getProvisioningJob", "getProvisioningPlan"],
    run: planned,
  },
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
    about: "Give up a cluster that never returns, and free its name",
    operation: "abandonCluster",
    fields: [THE_CLUSTER, arg("<cluster>", "body.name")],
    confirm:
      "Abandon {cluster}? It and its projects take no changes any more, and what is on it stays until its operator returns.",
    done: ({ name, left_behind }) =>
      [
        `Abandoned ${name}. It stays listed until its operator has cleaned up, or until it is deleted.`,
        ...left_behind,
      ].join("\n"),
  }),
  {
    usage: "clusters delete <cluster>",
    about: "Delete a cluster, with the machines that were made for it",
    fields: [THE_CLUSTER],
    uses: ["deleteCluster", "getCluster"],
    run: clusterDeleted,
  },
];
