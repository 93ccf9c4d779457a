import { ACCOUNT_COMMANDS } from "./account.ts";
import type { Command } from "./command.ts";
import { completionCommands } from "./completion.ts";
import { column, view } from "./output.ts";
import { type Group, VERSION } from "./program.ts";
import { APP_COMMANDS } from "./resources/apps.ts";
import { CLUSTER_COMMANDS } from "./resources/clusters.ts";
import { PEOPLE_COMMANDS } from "./resources/people.ts";
import { WORKSPACE_COMMANDS } from "./resources/workspace.ts";

const VERSIONS = view(
  "cli",
  column("PROGRAM", "cli"),
  column("NEEDS CONTRACT", "contract_floor"),
  column("SERVER'S CONTRACT", "server.contract"),
  column("SERVER'S BUILD", "server.build"),
);

/** The oldest contract of a control plane that this program works with. */
const CONTRACT_FLOOR = 2;

const VERSION_COMMAND: Command = {
  usage: "version",
  about: "Show the versions of this program and of the control plane",
  fields: [],
  uses: ["getVersion"],
  async run(call) {
    const isConnected = call.state.current ?? call.asked.url ?? call.host.env["BINNACLE_URL"];
    const server = isConnected ? await call.client.call("getVersion") : null;
    if (server && server.contract < CONTRACT_FLOOR) {
      call.say(
        `warning: this program needs contract ${CONTRACT_FLOOR} or newer; the control plane has ${server.contract}.`,
      );
    }
    call.show(VERSIONS, { cli: VERSION, contract_floor: CONTRACT_FLOOR, server });
    return undefined;
  },
};

export const COMMANDS: readonly Command[] = [
  ...ACCOUNT_COMMANDS,
  ...APP_COMMANDS,
  ...CLUSTER_COMMANDS,
  ...WORKSPACE_COMMANDS,
  ...PEOPLE_COMMANDS,
  VERSION_COMMAND,
  ...completionCommands(() => COMMANDS),
];

export const GROUPS: readonly Group[] = [
  { path: "context", about: "Switch between control planes" },
  { path: "apps", about: "Deploy and operate apps" },
  { path: "clusters", about: "Register and operate clusters" },
  { path: "projects", about: "Projects: namespaces on clusters, with their policies and roles" },
  { path: "templates", about: "Stack templates: apps with parameters" },
  { path: "addons", about: "Databases, caches and other addons" },
  { path: "jobs", about: "Provisioning jobs" },
  { path: "bundles", about: "Versions of the platform on clusters" },
  { path: "credentials", about: "Access to infrastructure providers" },
  { path: "chart-repositories", about: "Access to private chart repositories" },
  { path: "registry-secrets", about: "Access to private image registries" },
  { path: "orgs", about: "Organizations and their settings" },
  { path: "members", about: "Members of an organization" },
  { path: "users", about: "Users, for superusers" },
  { path: "tokens", about: "CLI tokens for automation" },
  { path: "sessions", about: "Your sessions, and devices that ask for one" },
  { path: "tiers", about: "Rate limits" },
  { path: "tasks", about: "Background tasks" },
  { path: "apps secrets", about: "Secrets of a component" },
  { path: "clusters settings", about: "Policies of a cluster" },
  { path: "clusters bundle", about: "The platform on a cluster" },
  { path: "clusters rbac", about: "Roles on a cluster" },
  { path: "projects policy", about: "Policies of a project" },
  { path: "projects rbac", about: "Roles in a project" },
  { path: "orgs settings", about: "Settings of an organization" },
  { path: "registry-secrets project", about: "Of a project" },
  { path: "registry-secrets cluster", about: "Of a cluster" },
  { path: "tiers limits", about: "Rate limits of a tier" },
];
