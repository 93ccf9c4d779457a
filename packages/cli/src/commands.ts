import { ACCOUNT_COMMANDS } from "./account.ts";
import type { Command } from "./command.ts";
import { completionCommands } from "./completion.ts";
import { CONTRACT_FLOOR, contractWarning, readVersion } from "./contract.ts";
import { column, view } from "./output.ts";
import { type Group, VERSION } from "./program.ts";
import { APP_CLUSTER_COMMANDS } from "./resources/app-cluster.ts";
import { APP_COMMANDS } from "./resources/apps.ts";
import { CLUSTER_COMMANDS } from "./resources/clusters.ts";
import { OVERVIEW_COMMANDS } from "./resources/overview.ts";
import { PEOPLE_COMMANDS } from "./resources/people.ts";
import { PLATFORM_COMMANDS } from "./resources/platform.ts";
import { PROJECT_COMMANDS } from "./resources/projects.ts";
import { SECURITY_COMMANDS } from "./resources/security.ts";
import { TEMPLATE_COMMANDS } from "./resources/templates.ts";

const VERSIONS = view(
  "cli",
  column("PROGRAM", "cli"),
  column("NEEDS CONTRACT", "contract_floor"),
  column("SERVER'S CONTRACT", "server.contract"),
  column("SERVER'S BUILD", "server.build"),
);

const VERSION_COMMAND: Command = {
  usage: "version",
  about: "Show the versions of this program and of the control plane",
  fields: [],
  uses: ["getVersion"],
  async run(call) {
    const isConnected = call.state.current ?? call.asked.url ?? call.host.env["BINNACLE_URL"];
    const server = isConnected ? await readVersion(call.client) : null;
    const warning = contractWarning(server?.contract ?? null);
    if (warning) call.say(warning);
    else if (isConnected && !server) call.say("The control plane does not tell its version.");
    call.show(VERSIONS, { cli: VERSION, contract_floor: CONTRACT_FLOOR, server });
    return undefined;
  },
};

export const COMMANDS: readonly Command[] = [
  ...ACCOUNT_COMMANDS,
  ...OVERVIEW_COMMANDS,
  ...APP_COMMANDS,
  ...APP_CLUSTER_COMMANDS,
  ...CLUSTER_COMMANDS,
  ...PROJECT_COMMANDS,
  ...TEMPLATE_COMMANDS,
  ...PLATFORM_COMMANDS,
  ...PEOPLE_COMMANDS,
  ...SECURITY_COMMANDS,
  VERSION_COMMAND,
  ...completionCommands(() => COMMANDS),
];

const under = (heading: string, groups: Readonly<Record<string, string>>): Group[] =>
  Object.entries(groups).map(([path, about]) => ({ path, about, ...(path.includes(" ") ? {} : { heading }) }));

export const GROUPS: readonly Group[] = [
  ...under("Sign in:", { login: "", logout: "", whoami: "", access: "", context: "Switch between control planes" }),
  ...under("At a glance:", { overview: "", search: "", fleet: "" }),
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
  ...under("This program:", { version: "", completion: "" }),
];
