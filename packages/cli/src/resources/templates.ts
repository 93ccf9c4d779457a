import { NotFound } from "@binnacle/client";
import { arg, type Command, IN_ORG, option, send, taken, verb } from "../command.ts";
import { WAITING, waited } from "../deploy.ts";
import { CliError, EXIT } from "../host.ts";
import { ageColumn, column, type Row, view } from "../output.ts";

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
const REPOSITORY = view(
  "name",
  column("NAME", "name"),
  column("URL", "url"),
  column("USERNAME", "username"),
  ageColumn("AGE", "created_at"),
  column("ID", "id", true),
);
const THE_TEMPLATE = arg("<template>", "*", "template", "as namespace/name, or the name alone");

export const TEMPLATE_COMMANDS: readonly Command[] = [
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
];
