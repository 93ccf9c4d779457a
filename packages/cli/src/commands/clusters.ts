import type { Cluster, Metrics, ProvisioningJob, RoleBinding } from "@binnacle/client";
import { arg, type Command, command, inOrg, isTable, listing, option, send, verb } from "../command.ts";
import { ageColumn, column, quantity, sparkline, stateColumn, view } from "../output.ts";
import { preflight } from "../preflight.ts";
import { suspensionText } from "../suspension.ts";
import { clusterDeleted, clusterRegistered, followInstall, planned } from "../waiting.ts";

const CLUSTER = view<Cluster>(
  "name",
  column("NAME", "name"),
  stateColumn("STATUS", "status"),
  column("NODES", "node_count"),
  column("KUBERNETES", "kubernetes_version"),
  column("OPERATOR", "operator_version"),
  column("SKEW", "operator_skew"),
  { title: "UPGRADE", isWide: true, of: ({ operator_upgrade: at }) => at && `${at.phase} to ${at.to_version}` },
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
    of: ({ current_stage: at }) => (at ? [at.stage, at.component].filter(Boolean).join(" ") : null),
  },
  { title: "SUSPENDED", isWide: true, of: ({ suspended }) => suspended?.state ?? null },
  column("MESSAGE", "message", true),
  column("DESCRIPTION", "description", true),
  ageColumn("AGE", "created_at"),
  column("ID", "id", true),
);
export const JOB = view<ProvisioningJob>(
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
export const BINDING = view<RoleBinding>(
  "binding_id",
  column("USER", "user_id"),
  column("ROLE", "role"),
  ageColumn("AGE", "created_at"),
  column("BINDING", "binding_id"),
);
const THE_CLUSTER = arg("<cluster>", "id", "cluster");
const LOSE_VOLUMES = option("--force", "body.force", "also where the data of local volumes is lost", { kind: "flag" });
const ONLY_AS_PLANNED = option("--plan <job>", "body.plan_job_id", "only where it still does what this plan showed");
const BINDING_ROLES = ["viewer", "editor", "admin"] as const;
export const WITH_ROLE = [
  option("--user <user>", "body.user_id", "by name, address or id", { kind: "user" }),
  option("--role <role>", "body.role", "what they may do", { choices: BINDING_ROLES }),
];
export const RANGE = option("--range <range>", "range", "how far back, such as 15m, 1h or 7d");
/** Series as lines of blocks, the newest value at the right. */
export function charts(series: Metrics["series"], width: number) {
  return series.map(({ name, unit, labels, points }) => {
    const values = points.map(([, value = 0]) => value);
    return { name, label: Object.values(labels).join(" "), unit, values, chart: sparkline(values, width) };
  });
}
export const CHART = view<ReturnType<typeof charts>[number]>(
  "name",
  column("SERIES", "name"),
  column("OF", "label"),
  { title: "NOW", of: ({ values, unit }) => (values.length === 0 ? null : quantity(values.at(-1) ?? 0, unit)) },
  { title: "MOST", of: ({ values, unit }) => (values.length === 0 ? null : quantity(Math.max(...values), unit)) },
  column("", "chart"),
);

/** Who has suspended a cluster, why, and whether that holds. */
const suspensionOf = ({ name, suspended }: Cluster): string => suspensionText({ scope: "cluster", name }, suspended);

export const CLUSTER_COMMANDS: readonly Command[] = [
  listing("listClusters", "clusters list", "List the clusters of an organization", {
    fields: [
      inOrg("org_id"),
      option("--status <states>", "status", "only in these states, with commas between them", { kind: "list" }),
      option("--search <text>", "search", "only with this text in their name"),
    ],
    view: CLUSTER,
  }),
  command("getCluster", "clusters show <cluster>", "Show a cluster", {
    fields: [THE_CLUSTER],
    async run(call, { input }) {
      const cluster = await send(call, "getCluster", input);
      call.show(CLUSTER, cluster);
      if (cluster.suspended) call.info(suspensionOf(cluster));
    },
  }),
  command("createCluster", "clusters register <name>", "Register a cluster, or have one made with --provider", {
    fields: [
      inOrg("org_id"),
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
      option("--proxy <address>", "body.egress.proxy", "through which its machines reach what is outside"),
      option(
        "--proxy-exceptions <hosts>",
        "body.egress.no_proxy",
        "that they reach without it, with commas between them",
        {
          kind: "list",
        },
      ),
      { from: "--wait", kind: "flag", help: "until its operator has connected" },
      { from: "--timeout <duration>", help: "how long to wait", preset: "15m" },
    ],
    also: ["getCluster"],
    takesFile: true,
    run: clusterRegistered,
  }),
  verb("updateCluster", "clusters update <cluster>", "Rename or describe a cluster", {
    fields: [
      THE_CLUSTER,
      option("--name <name>", "body.name", "its name"),
      option("--description <text>", "body.description", "what it is for"),
    ],
    view: CLUSTER,
  }),
  verb("getClusterSettings", "clusters settings show <cluster>", "Show the policies of a cluster", {
    fields: [THE_CLUSTER],
  }),
  verb("updateClusterSettings", "clusters settings update <cluster>", "Change the policies of a cluster", {
    fields: [
      THE_CLUSTER,
      option("--pod-security <level>", "body.pod_security", "for its projects", {
        choices: ["privileged", "baseline", "restricted"],
      }),
    ],
    takesFile: true,
  }),
  verb(
    "getInstallInstructions",
    "clusters instructions <cluster>",
    "Show how to install the operator, without credentials",
    { fields: [THE_CLUSTER] },
  ),
  command(
    "rotateClusterToken",
    "clusters install-command <cluster>",
    "Print the command that installs the operator; it holds a new token",
    {
      fields: [THE_CLUSTER],
      async run(call, { args, input }) {
        await call.confirm(`Issue a new token for ${args["cluster"]}? The token in use ends.`);
        const answer = await send(call, "rotateClusterToken", input);
        if (isTable(call)) call.print(`${answer.install_command}\n`);
        else call.show(null, answer);
      },
    },
  ),
  command<"getInstallInstructions">(
    [],
    "clusters preflight <cluster>",
    "Have nodes pull the operator's image by your kubectl, and say what they lack",
    {
      fields: [
        THE_CLUSTER,
        { from: "--all-nodes", kind: "flag", help: "each of its nodes, and not only the one that the scheduler picks" },
        { from: "--kube-context <name>", help: "of kubectl; the current one unless said" },
        { from: "--namespace <namespace>", help: "for the pods", preset: "default" },
        { from: "--timeout <duration>", help: "how long to wait", preset: "3m" },
      ],
      also: ["getInstallInstructions"],
      run: preflight,
    },
  ),
  verb(
    "createAgentCredentials",
    "clusters credentials <cluster>",
    "Issue credentials for an operator that you install yourself",
    { fields: [THE_CLUSTER] },
  ),
  verb(
    "rotateClusterToken",
    "clusters rotate-token <cluster>",
    "Issue a new token; the operator needs it to reconnect",
    { fields: [THE_CLUSTER], confirm: "Issue a new token for {cluster}? The token in use ends." },
  ),
  command<"getClusterBundle">(
    [],
    "clusters install-status <cluster>",
    "Show how far the installation of the platform is",
    {
      fields: [
        THE_CLUSTER,
        { from: "-w, --watch", kind: "flag", help: "until it has ended" },
        { from: "--timeout <duration>", help: "how long to watch", preset: "1h" },
      ],
      also: ["getClusterBundle", "getCluster"],
      run: followInstall,
    },
  ),
  verb("scaleCluster", "clusters scale <cluster> <nodes>", "Set how many nodes a provisioned cluster has", {
    fields: [THE_CLUSTER, arg("<nodes>", "body.desired_node_count", "integer"), LOSE_VOLUMES, ONLY_AS_PLANNED],
    view: JOB,
    done: ({ id }) => `Follow it with: binnacle jobs logs -f ${id}`,
  }),
  verb(
    "replaceNode",
    "clusters replace-node <cluster> <node>",
    "Give a node of a provisioned cluster a new machine; the control plane from its newest snapshot",
    {
      fields: [THE_CLUSTER, arg("<node>", "name"), LOSE_VOLUMES, ONLY_AS_PLANNED],
      view: JOB,
      done: ({ id }) => `Follow it with: binnacle jobs logs -f ${id}`,
    },
  ),
  verb(
    "upgradeKubernetes",
    "clusters upgrade-kubernetes <cluster> <release>",
    "Bring a provisioned cluster to another release of k3s, machine by machine",
    {
      fields: [THE_CLUSTER, arg("<release>", "body.release"), LOSE_VOLUMES],
      view: JOB,
      confirm:
        "Give every machine of {cluster} a successor with {release}? What is changed in Kubernetes in the minutes before the control plane is replaced is lost.",
      done: ({ id }) => `Follow it with: binnacle jobs logs -f ${id}`,
    },
  ),
  command(
    "planCluster",
    "clusters plan <cluster> <action>",
    "Show what a change of size (scale), another machine for a node (replace) or a destruction (destroy) would do",
    {
      fields: [
        THE_CLUSTER,
        { ...arg("<action>", "body.action"), choices: ["scale", "replace", "destroy"] },
        option("--nodes <count>", "body.desired_node_count", "to scale to, the control plane included", {
          kind: "integer",
        }),
        option("--node <node>", "body.node", "to replace, such as agent-1"),
        { from: "--timeout <duration>", help: "how long to wait", preset: "10m" },
      ],
      also: ["getProvisioningJob", "getProvisioningPlan"],
      run: planned,
    },
  ),
  command("getClusterMetrics", "clusters metrics <cluster>", "Chart what a cluster uses", {
    fields: [THE_CLUSTER, RANGE],
    async run(call, { input }) {
      const answer = await send(call, "getClusterMetrics", input);
      if (isTable(call)) call.list(CHART, charts(answer.series, 60));
      else call.show(null, answer);
    },
  }),
  verb("getSshKey", "clusters ssh-key <cluster>", "Print the private key of a provisioned cluster's machines", {
    fields: [THE_CLUSTER],
  }),
  verb("getClusterBundle", "clusters bundle show <cluster>", "Show which bundle is installed", {
    fields: [THE_CLUSTER],
  }),
  verb("recordClusterBundle", "clusters bundle record <cluster>", "Record what an installer has installed", {
    fields: [THE_CLUSTER],
    takesFile: true,
  }),
  verb(
    "reportInstallEvent",
    "clusters bundle event <cluster>",
    "Report a stage of an installation, as an installer does",
    {
      fields: [
        THE_CLUSTER,
        option("--stage <stage>", "body.stage", "such as preflight"),
        option("--status <status>", "body.status", "of the stage", { choices: ["started", "completed", "failed"] }),
        option("--detail <text>", "body.detail", "more about it"),
        option("--reason-code <code>", "body.reason_code", "why it failed"),
      ],
      takesFile: true,
    },
  ),
  listing("listClusterRoles", "clusters rbac list <cluster>", "List who has a role on a cluster", {
    fields: [THE_CLUSTER],
    view: BINDING,
  }),
  verb("grantClusterRole", "clusters rbac grant <cluster>", "Give a user a role on a cluster", {
    fields: [THE_CLUSTER, ...WITH_ROLE],
    view: BINDING,
  }),
  verb("replaceClusterRole", "clusters rbac replace <cluster>", "Give a user another role on a cluster", {
    fields: [THE_CLUSTER, ...WITH_ROLE],
    view: BINDING,
  }),
  verb("revokeClusterRole", "clusters rbac revoke <cluster> <binding>", "Take a role away", {
    fields: [THE_CLUSTER, arg("<binding>", "binding_id")],
    done: "Revoked {binding}.",
  }),
  verb("suspendCluster", "clusters suspend <cluster>", "Keep the operator from touching anything on a cluster", {
    fields: [THE_CLUSTER, option("--reason <text>", "body.reason", "why, for whoever finds it suspended")],
    view: CLUSTER,
    done: suspensionOf,
  }),
  verb(
    "unsuspendCluster",
    "clusters unsuspend <cluster>",
    "End the suspension of a cluster, and apply what was stored meanwhile",
    { fields: [THE_CLUSTER], view: CLUSTER, done: suspensionOf },
  ),
  verb("abandonCluster", "clusters abandon <cluster>", "Give up a cluster that never returns, and free its name", {
    fields: [THE_CLUSTER, arg("<cluster>", "body.name")],
    confirm:
      "Abandon {cluster}? It and its projects take no changes any more, and what is on it stays until its operator returns.",
    done: ({ name, left_behind }) =>
      [
        `Abandoned ${name}. It stays listed until its operator has cleaned up, or until it is deleted.`,
        ...left_behind,
      ].join("\n"),
  }),
  verb("detachCluster", "clusters detach <cluster>", "Let a cluster of your own go, without deleting what runs on it", {
    fields: [THE_CLUSTER, arg("<cluster>", "body.name")],
    confirm:
      "Detach {cluster}? Its projects and apps go from Binnacle, and what runs stays on the cluster, where nobody corrects it any more.",
    done: ({ name, namespaces }) =>
      [
        `${name} is being detached. Its record ends when its operator has let go; \`binnacle clusters show ${name}\` says what that waits for.`,
        `These namespaces stay: ${namespaces.join(", ") || "none"}. Then uninstall the operator: helm uninstall binnacle-operator -n binnacle-system`,
      ].join("\n"),
  }),
  command("deleteCluster", "clusters delete <cluster>", "Delete a cluster, with the machines that were made for it", {
    fields: [THE_CLUSTER, option("--plan <job>", "plan_job_id", "only where it still destroys what this plan showed")],
    also: ["getCluster"],
    run: clusterDeleted,
  }),
];
