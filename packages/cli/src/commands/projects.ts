import type { AvailableExport, Project, VisibleSecret } from "@binnacle/client";
import { arg, type Command, command, confirmLosses, inCluster, listing, option, send, verb } from "../command.ts";
import { WAIT_OPTIONS } from "../outcome.ts";
import { ageColumn, column, stateColumn, view } from "../output.ts";
import { projectGone, projectWaited } from "../project-outcome.ts";
import { suspensionText } from "../suspension.ts";
import { BINDING, WITH_ROLE } from "./clusters.ts";

const PROJECT = view<Project>(
  "name",
  column("NAME", "name"),
  column("NAMESPACE", "namespace"),
  stateColumn("STATE", "lifecycle"),
  column("REASON", "lifecycle_reason"),
  { title: "SUSPENDED", isWide: true, of: ({ suspended }) => suspended?.state ?? null },
  column("MESSAGE", "lifecycle_message", true),
  column("POD SECURITY", "pod_security", true),
  column("ISOLATION", "isolation", true),
  ageColumn("AGE", "created_at"),
  column("CLUSTER ID", "cluster_id", true),
  column("ID", "id", true),
);
const EXPORT = view<AvailableExport>(
  "key",
  column("ADDON", "addon_instance_name"),
  column("KEY", "key"),
  column("SECRET", "secret"),
  column("PUBLISHED", "published"),
  column("DESCRIPTION", "description"),
);
const SECRET = view<VisibleSecret>(
  "name",
  column("KIND", "kind"),
  column("FROM", "inherited_from"),
  { title: "SOURCE", of: ({ source }) => source.name },
  column("NAME", "name"),
  column("KEYS", "keys"),
  ageColumn("UPDATED", "updated_at"),
);
const THE_PROJECT = arg("<project>", "id", "project");
const POLICIES = [
  option("--pod-security <level>", "body.pod_security", "for its pods", {
    choices: ["privileged", "baseline", "restricted"],
  }),
  option("--isolation <mode>", "body.isolation", "of its network", { choices: ["namespace", "none"] }),
];

/** Who has suspended a project, or its cluster, why, and whether that holds. */
const suspensionOf = ({ name, suspended }: Project): string => suspensionText({ scope: "project", name }, suspended);

export const PROJECT_COMMANDS: readonly Command[] = [
  listing("listProjects", "projects list", "List the projects you can see", {
    fields: [
      { from: "--on <cluster>", to: "cluster_id", kind: "cluster", help: "only those of a cluster" },
      option("--lifecycle <states>", "lifecycle", "only in these states, with commas between them", { kind: "list" }),
      option("--search <text>", "search", "only with this text in their name"),
    ],
    view: PROJECT,
  }),
  command("getProject", "projects show <project>", "Show a project", {
    fields: [THE_PROJECT],
    async run(call, { input }) {
      const project = await send(call, "getProject", input);
      call.show(PROJECT, project);
      if (project.suspended) call.info(suspensionOf(project));
    },
  }),
  command("createProject", "projects create <name>", "Create a project, which is a namespace on a cluster", {
    fields: [inCluster("body.cluster_id"), arg("<name>", "body.name"), ...POLICIES, ...WAIT_OPTIONS],
    also: ["getProject"],
    run: async (call, { input, options }) =>
      projectWaited(call, await send(call, "createProject", input), options, PROJECT),
  }),
  command<"getProject">([], "projects wait <project>", "Wait until the cluster has confirmed a project", {
    fields: [THE_PROJECT, WAIT_OPTIONS[1]],
    also: ["getProject"],
    run: async (call, { input, options }) =>
      projectWaited(call, await send(call, "getProject", input), { ...options, wait: true }, PROJECT),
  }),
  verb("getProjectPolicy", "projects policy show <project>", "Show the policies of a project", {
    fields: [THE_PROJECT],
  }),
  verb("updateProjectPolicy", "projects policy update <project>", "Change the policies of a project", {
    fields: [THE_PROJECT, ...POLICIES],
    takesFile: true,
  }),
  listing("listAvailableExports", "projects exports <project>", "List what the addons of a project export", {
    fields: [THE_PROJECT],
    view: EXPORT,
  }),
  listing("getSecretsOverview", "projects secrets <project>", "List the keys of all secrets in a project", {
    fields: [THE_PROJECT],
    view: SECRET,
  }),
  listing("listProjectRoles", "projects rbac list <project>", "List who has a role in a project", {
    fields: [THE_PROJECT],
    view: BINDING,
  }),
  verb("grantProjectRole", "projects rbac grant <project>", "Give a user a role in a project", {
    fields: [THE_PROJECT, ...WITH_ROLE],
    view: BINDING,
  }),
  verb("replaceProjectRole", "projects rbac replace <project>", "Give a user another role in a project", {
    fields: [THE_PROJECT, ...WITH_ROLE],
    view: BINDING,
  }),
  verb("revokeProjectRole", "projects rbac revoke <project> <binding>", "Take a role away", {
    fields: [THE_PROJECT, arg("<binding>", "binding_id")],
    done: "Revoked {binding}.",
  }),
  verb("suspendProject", "projects suspend <project>", "Keep the operator from touching anything in a project", {
    fields: [THE_PROJECT, option("--reason <text>", "body.reason", "why, for whoever finds it suspended")],
    view: PROJECT,
    done: suspensionOf,
  }),
  verb(
    "unsuspendProject",
    "projects unsuspend <project>",
    "End the suspension of a project, and apply what was stored meanwhile",
    { fields: [THE_PROJECT], view: PROJECT, done: suspensionOf },
  ),
  command("deleteProject", "projects delete <project>", "Delete a project with everything in it", {
    fields: [THE_PROJECT, ...WAIT_OPTIONS],
    also: ["previewProjectDeletion", "getProject"],
    async run(call, { input, options, args }) {
      const name = args["project"] ?? input.id;
      const question = `Delete the project ${name} with its apps and addons?`;
      await confirmLosses(call, "previewProjectDeletion", input, question);
      await send(call, "deleteProject", input);
      return projectGone(call, input.id, name, options);
    },
  }),
];
