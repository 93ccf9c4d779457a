import type { Version } from "@binnacle/client";
import { VERSION } from "./call.ts";
import { type Command, command } from "./command.ts";
import { ACCOUNT_COMMANDS } from "./commands/account.ts";
import { ADDON_COMMANDS } from "./commands/addons.ts";
import { ALIAS_COMMANDS } from "./commands/aliases.ts";
import { API_COMMAND } from "./commands/api.ts";
import { APP_CLUSTER_COMMANDS } from "./commands/app-cluster.ts";
import { APP_EDIT_COMMANDS } from "./commands/app-edits.ts";
import { APP_COMMANDS } from "./commands/apps.ts";
import { BUNDLE_COMMANDS } from "./commands/bundles.ts";
import { CHART_REPOSITORY_COMMANDS } from "./commands/chart-repositories.ts";
import { CLUSTER_COMMANDS } from "./commands/clusters.ts";
import { COMPLETION_COMMAND } from "./commands/completion.ts";
import { CREDENTIAL_COMMANDS } from "./commands/credentials.ts";
import { EXPLAIN_COMMAND } from "./commands/explain.ts";
import { GITOPS_COMMANDS } from "./commands/gitops.ts";
import { JOB_COMMANDS } from "./commands/jobs.ts";
import { OPERATOR_UPGRADE_COMMANDS } from "./commands/operator-upgrades.ts";
import { ORG_COMMANDS } from "./commands/orgs.ts";
import { OVERVIEW_COMMANDS } from "./commands/overview.ts";
import { PROJECT_COMMANDS } from "./commands/projects.ts";
import { REGISTRY_SECRET_COMMANDS } from "./commands/registry-secrets.ts";
import { SYSTEM_COMMANDS } from "./commands/system.ts";
import { TEMPLATE_COMMANDS } from "./commands/templates.ts";
import { TOKEN_COMMANDS } from "./commands/tokens.ts";
import { USER_COMMANDS } from "./commands/users.ts";
import { CONTRACT_FLOOR, contractWarning, readVersion } from "./contract.ts";
import { column, view } from "./output.ts";
import type { Group } from "./program.ts";
import { shortcuts } from "./shortcuts.ts";

interface Versions {
  readonly cli: string;
  readonly contract_floor: number;
  readonly server: Version | null;
}

const VERSIONS = view<Versions>(
  "cli",
  column("PROGRAM", "cli"),
  column("NEEDS CONTRACT", "contract_floor"),
  { title: "SERVER'S CONTRACT", of: ({ server }) => server && String(server.contract) },
  { title: "SERVER'S BUILD", of: ({ server }) => server?.build },
);

const VERSION_COMMAND = command("getVersion", "version", "Show the versions of this program and of the control plane", {
  async run(call) {
    const isConnected = call.state.current ?? call.asked.url ?? call.host.env["BINNACLE_URL"];
    const server = isConnected ? await readVersion(call.client, (sentence) => call.info(sentence)) : null;
    const warning = contractWarning(server?.contract ?? null);
    if (warning) call.info(warning);
    call.show(VERSIONS, { cli: VERSION, contract_floor: CONTRACT_FLOOR, server });
  },
});

const LONG_COMMANDS: readonly Command[] = [
  ...ACCOUNT_COMMANDS,
  ...OVERVIEW_COMMANDS,
  ...APP_COMMANDS,
  ...APP_EDIT_COMMANDS,
  ...APP_CLUSTER_COMMANDS,
  ...PROJECT_COMMANDS,
  ...ADDON_COMMANDS,
  ...TEMPLATE_COMMANDS,
  ...CLUSTER_COMMANDS,
  ...OPERATOR_UPGRADE_COMMANDS,
  ...GITOPS_COMMANDS,
  ...JOB_COMMANDS,
  ...BUNDLE_COMMANDS,
  ...CREDENTIAL_COMMANDS,
  ...CHART_REPOSITORY_COMMANDS,
  ...REGISTRY_SECRET_COMMANDS,
  ...ORG_COMMANDS,
  ...USER_COMMANDS,
  ...TOKEN_COMMANDS,
  ...SYSTEM_COMMANDS,
  EXPLAIN_COMMAND,
  API_COMMAND,
  ...ALIAS_COMMANDS,
  VERSION_COMMAND,
  COMPLETION_COMMAND,
];

export const COMMANDS: readonly Command[] = [...shortcuts(LONG_COMMANDS), ...LONG_COMMANDS];

const under = (heading: string, groups: Readonly<Record<string, string>>): Group[] =>
  Object.entries(groups).map(([path, about]) => ({ path, about, ...(path.includes(" ") ? {} : { heading }) }));

export const GROUPS: readonly Group[] = [
  ...under("Sign in:", { login: "", logout: "", whoami: "", access: "", context: "Switch between control planes" }),
  ...under("At a glance:", { overview: "", search: "", fleet: "", system: "", explain: "" }),
  ...under("Every day:", { deploy: "", status: "", logs: "", open: "" }),
  ...under("Apps:", {
    apps: "Deploy and operate apps",
    "apps secrets": "Secrets of a component",
    "apps runs": "One-off runs of a component",
    projects: "Projects: namespaces on clusters, with their policies and roles",
    "projects policy": "Policies of a project",
    "projects rbac": "Roles in a project",
    addons: "Databases, caches and other addons",
    templates: "Stack templates: apps with parameters",
    events: "",
  }),
  ...under("Clusters:", {
    clusters: "Register and operate clusters",
    "clusters settings": "Policies of a cluster",
    "clusters bundle": "The platform on a cluster",
    "clusters rbac": "Roles on a cluster",
    gitops: "Desired state in Git",
    jobs: "Provisioning jobs",
    bundles: "Versions of the platform on clusters",
    credentials: "Access to infrastructure providers",
    "chart-repositories": "Access to private chart repositories",
    "registry-secrets": "Access to private image registries",
    "registry-secrets project": "Of a project",
    "registry-secrets cluster": "Of a cluster",
  }),
  ...under("People and access:", {
    orgs: "Organizations and their settings",
    "orgs settings": "Settings of an organization",
    members: "Members of an organization",
    users: "Users, for superusers",
    tokens: "CLI tokens for automation",
    sessions: "Your sessions, and devices that ask for one",
    audit: "",
    tiers: "Rate limits",
    "tiers limits": "Rate limits of a tier",
    tasks: "Background tasks",
  }),
  ...under("This program:", { api: "", alias: "Your own names for commands", version: "", completion: "" }),
];
