import { NotFound } from "@binnacle/client";
import { arg, type Command, IN_PROJECT, option, send, taken, verb } from "../command.ts";
import { WAITING, waited } from "../deploy.ts";
import { CliError, EXIT } from "../host.ts";
import { ageColumn, column, type Row, stateColumn, view } from "../output.ts";
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
const TEMPLATE = view(
  ({ namespace, name }) => `${namespace}/${name}`,
  { title: "NAME", of: ({ namespace, name }) => `${namespace}/${name}` },
  column("VERSION", "version"),
  column("SCOPE", "scope"),
  column("TAGS", "tags"),
  column("DESCRIPTION", "description"),
);
const TEMPLATE_DETAILS = view(
  ({ namespace, name }) => `${namespace}/${name}`,
  ...TEMPLATE.columns,
  {
    title: "PARAMETERS",
    of: ({ parameters }) =>
      parameters
        ?.map(({ name, default: preset }: Row) => (preset === undefined ? name : `${name}=${preset}`))
        .join(", "),
  },
  { title: "COMPONENTS", of: ({ components }) => components?.map(({ name }: Row) => name).join(", ") },
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
const THE_TEMPLATE = arg("<template>", "*", "template", "as namespace/name, or the name alone");
const THE_ADDON = arg("<addon>", "id", "addon");
const WITH_VALUES = [
  option("--chart-version <version>", "body.chart_version", "of its chart"),
  option("--notes <text>", "body.notes", "why"),
];

export const WORKSPACE_COMMANDS: readonly Command[] = [
  verb({
    usage: "projects list",
    about: "List the projects you can see",
    operation: "listProjects",
    fields: [{ from: "--on <cluster>", to: "cluster_id", kind: "cluster", help: "only those of a cluster" }],
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
    confirm: "Delete the project {project} with its apps and addons?",
    done: "{project} is being deleted.",
    view: PROJECT,
  }),

  verb({
    usage: "templates list",
    about: "List the stack templates you can see",
    operation: "listStackTemplates",
    fields: [
      option("--namespace <namespace>", "namespace", "only those of a namespace"),
      option("--scope <scope>", "scope", "only those of a scope", {
        choices: ["project", "cluster", "organization", "global"],
      }),
    ],
    isList: true,
    view: TEMPLATE,
  }),
  verb({
    usage: "templates registry",
    about: "Browse the templates of the catalog",
    operation: "browseTemplateRegistry",
    fields: [
      option("--search <text>", "search", "in names and descriptions"),
      option("--tag <tag>", "tag", "only those with a tag"),
    ],
    isList: true,
    view: TEMPLATE,
  }),
  {
    usage: "templates show <template>",
    about: "Show a template and its parameters",
    fields: [THE_TEMPLATE],
    uses: ["getStackTemplate", "browseTemplateRegistry"],
    async run(call, { input }) {
      try {
        call.show(TEMPLATE_DETAILS, await send(call, "getStackTemplate", input));
      } catch (error) {
        if (!(error instanceof NotFound)) throw error;
        // The catalog's own are stored when they are first deployed.
        const shipped = await taken(call, "browseTemplateRegistry", {});
        const found = shipped.find(({ namespace, name }) => namespace === input["namespace"] && name === input["name"]);
        if (!found) throw error;
        call.show(TEMPLATE_DETAILS, found);
      }
      return undefined;
    },
  },
  {
    usage: "templates deploy <template>",
    about: "Deploy a template into a project",
    fields: [
      THE_TEMPLATE,
      { from: "--project", to: "body.project_id", kind: "project" },
      option("--name <name>", "body.name", "of the app; the template's unless given"),
      option("--set <key=value>", "body.parameters", "a parameter; may be repeated", { kind: "map" }),
      ...WAITING,
    ],
    uses: ["deployStackTemplate", "getApp"],
    async run(call, { input, options }) {
      const made: Row = await send(call, "deployStackTemplate", input);
      const { project_id } = input["body"] as Row;
      const app = await call.client.call("getApp", { namespace: made.namespace, name: made.deploy_name, project_id });
      call.say(made.message);
      const outcome = await waited(call, app, options);
      if (outcome === undefined && call.format.kind !== "table" && call.format.kind !== "wide") call.show(null, made);
      return outcome;
    },
  },
  verb({
    usage: "templates create",
    about: "Create a template from a file",
    operation: "createStackTemplate",
    takesFile: true,
    fields: [{ from: "--org", to: "body.org_id", kind: "org" }],
    view: TEMPLATE_DETAILS,
  }),
  verb({
    usage: "templates update <template>",
    about: "Change a template from a file",
    operation: "updateStackTemplate",
    fields: [THE_TEMPLATE],
    takesFile: true,
    view: TEMPLATE_DETAILS,
  }),
  {
    usage: "templates validate <file>",
    about: "Check a template file; --create stores it too",
    fields: [{ from: "--create", kind: "flag", help: "store it if it is valid" }],
    uses: ["createStackTemplateFromYaml"],
    async run(call, { args, options }) {
      const file = args["file"] ?? "";
      const text = await call.host.readFile(file);
      call.readAs(file, text);
      const body = { file: new Blob([text]), ...(options["create"] ? { create: true } : {}) };
      const answer: Row = await send(call, "createStackTemplateFromYaml", { body });
      if (answer.valid === false) {
        const lines = answer.errors.map(({ loc, msg }: Row) => `${loc.join(".")}: ${msg}`);
        throw new CliError(lines.join("\n       "), EXIT.usage);
      }
      call.say(options["create"] ? "The template is stored." : "The template is valid.");
      return undefined;
    },
  },
  verb({
    usage: "templates from-app <app> <name>",
    about: "Make a template from a running app",
    operation: "createStackTemplateFromApp",
    fields: [
      arg("<app>", "*", "app"),
      arg("<name>", "body.name"),
      option("--template-namespace <namespace>", "body.namespace", "of the template"),
      option("--template-version <version>", "body.version", "of the template"),
    ],
    takesFile: true,
    view: TEMPLATE_DETAILS,
  }),
  verb({
    usage: "templates from-chart",
    about: "Make a template from a chart, described in a file",
    operation: "createStackTemplateFromChart",
    fields: [{ from: "--org", to: "body.org_id", kind: "org" }],
    takesFile: true,
    view: TEMPLATE_DETAILS,
  }),
  verb({
    usage: "templates inspect-chart <repo> <name>",
    about: "Show the values that a chart takes",
    operation: "inspectChart",
    fields: [
      arg("<repo>", "repo"),
      arg("<name>", "name"),
      option("--chart-version <version>", "version", "of the chart"),
    ],
  }),
  verb({
    usage: "templates delete <template>",
    about: "Delete a template; apps that came from it stay",
    operation: "deleteStackTemplate",
    fields: [THE_TEMPLATE],
    confirm: "Delete the template {template}?",
    done: "Deleted {template}.",
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
  verb({
    usage: "addons list",
    about: "List addon instances",
    operation: "listAddonInstances",
    fields: [{ from: "--in <project>", to: "project_id", kind: "project", help: "only those of a project" }],
    isList: true,
    view: ADDON,
  }),
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
    about: "Delete an addon instance and its data",
    operation: "deleteAddonInstance",
    fields: [THE_ADDON],
    confirm: "Delete the addon {addon} and its data?",
    done: "Deleted {addon}.",
  }),
];
