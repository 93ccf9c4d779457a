import { arg, type Command, IN_PROJECT, LIMIT, option, taken, verb } from "../command.ts";
import { ageColumn, column, stateColumn, view } from "../output.ts";
import { BINDING, WITH_ROLE } from "./clusters.ts";

const PROJECT = view(
  "name",
  column("NAME", "name"),
  column("NAMESPACE", "namespace"),
  stateColumn("STATE", "lifecycle"),
  column("REASON", "lifecycle_reason"),
  column("MESSAGE", "lifecycle_message", true),
  column("POD SECURITY", "pod_security", true),
  column("ISOLATION", "isolation", true),
  ageColumn("AGE", "created_at"),
  column("CLUSTER ID", "cluster_id", true),
  column("ID", "id", true),
);
const DEFINITION = view(
  "name",
  column("NAME", "name"),
  column("CATEGORY", "category"),
  column("CHART", "chart.version"),
  column("STATEFUL", "stateful"),
  column("DESCRIPTION", "description"),
  column("ID", "id", true),
);
const ADDON = view(
  "name",
  column("NAME", "name"),
  column("NAMESPACE", "namespace"),
  stateColumn("PHASE", "phase"),
  column("CHART", "chart_version"),
  column("REVISION", "revision_number"),
  column("MESSAGE", "phase_message", true),
  ageColumn("AGE", "created_at"),
  column("ID", "id", true),
);
const REVISION = view(
  "revision_number",
  column("REVISION", "revision_number"),
  column("CHART", "chart_version"),
  column("BY", "created_by"),
  column("NOTES", "notes"),
  ageColumn("AGE", "created_at"),
);
const EXPORT = view(
  "key",
  column("ADDON", "addon_instance_name"),
  column("KEY", "key"),
  column("SECRET", "secret"),
  column("PUBLISHED", "published"),
  column("DESCRIPTION", "description"),
);
const SECRET = view(
  "name",
  column("KIND", "kind"),
  column("FROM", "inherited_from"),
  column("SOURCE", "source.name"),
  column("NAME", "name"),
  column("KEYS", "keys"),
  ageColumn("UPDATED", "updated_at"),
);
const THE_PROJECT = arg("<project>", "id", "project");
const THE_ADDON = arg("<addon>", "id", "addon");
const WITH_VALUES = [
  option("--chart-version <version>", "body.chart_version", "of its chart"),
  option("--notes <text>", "body.notes", "why"),
];

export const PROJECT_COMMANDS: readonly Command[] = [
  verb({
    usage: "projects list",
    about: "List the projects you can see",
    operation: "listProjects",
    fields: [
      { from: "--on <cluster>", to: "cluster_id", kind: "cluster", help: "only those of a cluster" },
      option("--lifecycle <states>", "lifecycle", "only in these states, with commas between them", { kind: "list" }),
      option("--search <text>", "search", "only with this text in their name"),
    ],
    isList: true,
    view: PROJECT,
  }),
  verb({
    usage: "projects show <project>",
    about: "Show a project",
    operation: "getProject",
    fields: [THE_PROJECT],
    view: PROJECT,
  }),
  verb({
    usage: "projects create <name>",
    about: "Create a project, which is a namespace on a cluster",
    operation: "createProject",
    fields: [
      { from: "--cluster", to: "body.cluster_id", kind: "cluster" },
      arg("<name>", "body.name"),
      option("--pod-security <level>", "body.pod_security", "for its pods", {
        choices: ["privileged", "baseline", "restricted"],
      }),
      option("--isolation <mode>", "body.isolation", "of its network", { choices: ["namespace", "none"] }),
    ],
    view: PROJECT,
  }),
  verb({
    usage: "projects policy show <project>",
    about: "Show the policies of a project",
    operation: "getProjectPolicy",
    fields: [THE_PROJECT],
  }),
  verb({
    usage: "projects policy update <project>",
    about: "Change the policies of a project",
    operation: "updateProjectPolicy",
    fields: [
      THE_PROJECT,
      option("--pod-security <level>", "body.pod_security", "for its pods", {
        choices: ["privileged", "baseline", "restricted"],
      }),
      option("--isolation <mode>", "body.isolation", "of its network", { choices: ["namespace", "none"] }),
    ],
    takesFile: true,
  }),
  verb({
    usage: "projects exports <project>",
    about: "List what the addons of a project export",
    operation: "listAvailableExports",
    fields: [THE_PROJECT],
    isList: true,
    view: EXPORT,
  }),
  verb({
    usage: "projects secrets <project>",
    about: "List the keys of all secrets in a project",
    operation: "getSecretsOverview",
    fields: [THE_PROJECT],
    isList: true,
    view: SECRET,
  }),
  verb({
    usage: "projects rbac list <project>",
    about: "List who has a role in a project",
    operation: "listProjectRoles",
    fields: [THE_PROJECT],
    isList: true,
    view: BINDING,
  }),
  verb({
    usage: "projects rbac grant <project>",
    about: "Give a user a role in a project",
    operation: "grantProjectRole",
    fields: [THE_PROJECT, ...WITH_ROLE],
    view: BINDING,
  }),
  verb({
    usage: "projects rbac replace <project>",
    about: "Give a user another role in a project",
    operation: "replaceProjectRole",
    fields: [THE_PROJECT, ...WITH_ROLE],
    view: BINDING,
  }),
  verb({
    usage: "projects rbac revoke <project> <binding>",
    about: "Take a role away",
    operation: "revokeProjectRole",
    fields: [THE_PROJECT, arg("<binding>", "binding_id")],
    done: "Revoked {binding}.",
  }),
  verb({
    usage: "projects delete <project>",
    about: "Delete a project with everything in it",
    operation: "deleteProject",
    fields: [THE_PROJECT],
    preview: "previewProjectDeletion",
    confirm: "Delete the project {project} with its apps and addons?",
    done: "{project} is being deleted.",
    view: PROJECT,
  }),
  verb({
    usage: "addons catalog",
    about: "List the addons that can be installed",
    operation: "listAddonDefinitions",
    isList: true,
    view: DEFINITION,
  }),
  verb({
    usage: "addons definition <definition>",
    about: "Show an addon of the catalog",
    operation: "getAddonDefinition",
    fields: [arg("<definition>", "id", "definition")],
  }),
  {
    usage: "addons list",
    about: "List the addon instances of --project, or of an organization",
    fields: [
      option("--phase <phases>", "phase", "only in these phases, with commas between them", { kind: "list" }),
      option("--search <text>", "search", "only with this text in their name or namespace"),
      LIMIT,
    ],
    uses: ["listAddonInstances"],
    async run(call, { options, input }) {
      const limit = options["limit"] as number | undefined;
      call.list(ADDON, await taken(call, "listAddonInstances", { ...(await call.find.place()), ...input }, limit));
      return undefined;
    },
  },
  verb({
    usage: "addons show <addon>",
    about: "Show an addon instance",
    operation: "getAddonInstance",
    fields: [THE_ADDON],
    view: ADDON,
  }),
  verb({
    usage: "addons create <name> <definition>",
    about: "Install an addon into a project",
    operation: "createAddonInstance",
    fields: [
      { ...IN_PROJECT, to: "body.project_id" },
      arg("<name>", "body.name"),
      arg("<definition>", "body.addon_definition_id", "definition"),
      ...WITH_VALUES,
    ],
    takesFile: true,
    view: ADDON,
  }),
  verb({
    usage: "addons update <addon>",
    about: "Change the values or the version of an addon",
    operation: "updateAddonInstance",
    fields: [
      THE_ADDON,
      ...WITH_VALUES,
      option("--allow-downgrade", "body.allow_downgrade", "to an older version, which may not read the data", {
        kind: "flag",
      }),
    ],
    takesFile: true,
    view: ADDON,
  }),
  verb({
    usage: "addons history <addon>",
    about: "List the revisions of an addon",
    operation: "listAddonRevisions",
    fields: [THE_ADDON],
    isList: true,
    view: REVISION,
  }),
  verb({
    usage: "addons rollback <addon>",
    about: "Restore an earlier revision of an addon",
    operation: "rollBackAddonInstance",
    fields: [
      THE_ADDON,
      option("--to <revision>", "body.revision_number", "its number", { kind: "integer" }),
      option("--allow-downgrade", "body.allow_downgrade", "to an older version, which may not read the data", {
        kind: "flag",
      }),
    ],
    view: ADDON,
  }),
  verb({
    usage: "addons delete <addon>",
    about: "Delete an addon instance",
    operation: "deleteAddonInstance",
    fields: [THE_ADDON],
    preview: "previewAddonInstanceDeletion",
    confirm: "Delete the addon {addon}?",
    done: "Deleted {addon}.",
  }),
];
