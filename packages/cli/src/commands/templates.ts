import { type CatalogTemplate, NotFound, type StackTemplate, type StackTemplateSummary } from "@binnacle/client";
import { WAITING, waited } from "../app-outcome.ts";
import {
  arg,
  type Command,
  command,
  inOrg,
  inProject,
  isTable,
  listAll,
  listing,
  option,
  send,
  verb,
} from "../command.ts";
import { CliError, EXIT } from "../host.ts";
import { column, view } from "../output.ts";

type Listed = StackTemplateSummary | StackTemplate | CatalogTemplate;
const TEMPLATE = view<Listed>(
  ({ namespace, name }) => `${namespace}/${name}`,
  { title: "NAME", of: ({ namespace, name }) => `${namespace}/${name}` },
  column("VERSION", "version"),
  column("SCOPE", "scope"),
  column("TAGS", "tags"),
  column("DESCRIPTION", "description"),
);
const TEMPLATE_DETAILS = view<StackTemplate | CatalogTemplate>(
  ({ namespace, name }) => `${namespace}/${name}`,
  ...TEMPLATE.columns,
  {
    title: "PARAMETERS",
    of: ({ parameters }) =>
      parameters.map(({ name, default: preset }) => (preset === undefined ? name : `${name}=${preset}`)).join(", "),
  },
  { title: "COMPONENTS", of: ({ components }) => components.map(({ name }) => name).join(", ") },
);
const THE_TEMPLATE = arg("<template>", "*", "template", "as namespace/name, or the name alone");

export const TEMPLATE_COMMANDS: readonly Command[] = [
  listing("listStackTemplates", "templates list", "List the stack templates you can see", {
    fields: [
      option("--namespace <namespace>", "namespace", "only those of a namespace"),
      option("--scope <scope>", "scope", "only those of a scope", {
        choices: ["project", "cluster", "organization", "global"],
      }),
    ],
    view: TEMPLATE,
  }),
  listing("browseTemplateRegistry", "templates registry", "Browse the templates of the catalog", {
    fields: [
      option("--search <text>", "search", "in names and descriptions"),
      option("--tag <tag>", "tag", "only those with a tag"),
    ],
    view: TEMPLATE,
  }),
  command("getStackTemplate", "templates show <template>", "Show a template and its parameters", {
    fields: [THE_TEMPLATE],
    also: ["browseTemplateRegistry"],
    async run(call, { input }) {
      try {
        call.show(TEMPLATE_DETAILS, await send(call, "getStackTemplate", input));
      } catch (error) {
        if (!(error instanceof NotFound)) throw error;
        // The catalog's own are stored when they are first deployed.
        const shipped = await listAll(call, "browseTemplateRegistry", {});
        const found = shipped.find(({ namespace, name }) => namespace === input.namespace && name === input.name);
        if (!found) throw error;
        call.show(TEMPLATE_DETAILS, found);
      }
    },
  }),
  command("deployStackTemplate", "templates deploy <template>", "Deploy a template into a project", {
    fields: [
      THE_TEMPLATE,
      inProject("body.project_id"),
      option("--name <name>", "body.name", "of the app; the template's unless given"),
      option("--set <key=value>", "body.parameters", "a parameter; may be repeated", { kind: "map" }),
      ...WAITING,
    ],
    also: ["getApp"],
    async run(call, { input, options }) {
      const made = await send(call, "deployStackTemplate", input);
      const { namespace, deploy_name: name } = made;
      const app = await send(call, "getApp", { namespace, name, project_id: input.body.project_id });
      call.info(made.message);
      return waited(call, app, options, () => call.show(null, made));
    },
  }),
  verb("createStackTemplate", "templates create", "Create a template from a file", {
    takesFile: true,
    fields: [inOrg("body.org_id")],
    view: TEMPLATE_DETAILS,
  }),
  verb("updateStackTemplate", "templates update <template>", "Change a template from a file", {
    fields: [THE_TEMPLATE],
    takesFile: true,
    view: TEMPLATE_DETAILS,
  }),
  command("createStackTemplateFromYaml", "templates validate <file>", "Check a template file; --create stores it too", {
    fields: [
      { from: "<file>", kind: "file", preset: "template.yaml" },
      option("--create", "body.create", "store it if it is valid", { kind: "flag" }),
    ],
    async run(call, { args, options, input }) {
      const file = args["file"] ?? "";
      const text = await call.host.readFile(file);
      call.readAs(file, text);
      const body = { ...input.body, file: new Blob([text]) };
      const answer = await send(call, "createStackTemplateFromYaml", { body });
      if ("valid" in answer && !answer.valid) {
        const lines = answer.errors.map(({ loc, msg }) => `${loc.join(".")}: ${msg}`);
        throw new CliError(lines.join("\n       "), EXIT.usage);
      }
      call.info(options["create"] ? "The template is stored." : "The template is valid.");
      if (!isTable(call)) call.show(null, answer);
    },
  }),
  verb("createStackTemplateFromApp", "templates from-app <app> <name>", "Make a template from a running app", {
    fields: [
      arg("<app>", "*", "app"),
      arg("<name>", "body.name"),
      option("--template-version <version>", "body.version", "of the template"),
    ],
    takesFile: true,
    view: TEMPLATE_DETAILS,
  }),
  verb("createStackTemplateFromChart", "templates from-chart", "Make a template from a chart, described in a file", {
    fields: [inOrg("body.org_id")],
    takesFile: true,
    view: TEMPLATE_DETAILS,
  }),
  verb("inspectChart", "templates inspect-chart <repo> <name>", "Show the values that a chart takes", {
    fields: [
      arg("<repo>", "repo"),
      arg("<name>", "name"),
      option("--chart-version <version>", "version", "of the chart"),
    ],
  }),
  verb("deleteStackTemplate", "templates delete <template>", "Delete a template; apps that came from it stay", {
    fields: [THE_TEMPLATE],
    confirm: "Delete the template {template}?",
    done: "Deleted {template}.",
  }),
];
