import type { ChartRepository } from "@binnacle/client";
import { arg, type Command, inOrg, listing, option, verb } from "../command.ts";
import { ageColumn, column, view } from "../output.ts";

const REPOSITORY = view<ChartRepository>(
  "name",
  column("NAME", "name"),
  column("URL", "url"),
  column("USERNAME", "username"),
  ageColumn("AGE", "created_at"),
  column("ID", "id", true),
);

export const CHART_REPOSITORY_COMMANDS: readonly Command[] = [
  listing("listChartRepositories", "chart-repositories list", "List the chart repositories of an organization", {
    fields: [inOrg("id")],
    view: REPOSITORY,
  }),
  verb("getChartRepository", "chart-repositories show <repository>", "Show a chart repository", {
    fields: [inOrg("id"), arg("<repository>", "repository_id", "repository")],
    view: REPOSITORY,
  }),
  verb("createChartRepository", "chart-repositories create <name>", "Store the access to a chart repository", {
    fields: [
      inOrg("id"),
      arg("<name>", "body.name"),
      option("--address <url>", "body.url", "https:// or oci://"),
      option("--username <name>", "body.username", "there"),
      { from: "--password", to: "body.password", kind: "secret", help: "the password", isRequired: true },
    ],
    view: REPOSITORY,
  }),
  verb("updateChartRepository", "chart-repositories update <repository>", "Change the access to a chart repository", {
    fields: [
      inOrg("id"),
      arg("<repository>", "repository_id", "repository"),
      option("--name <name>", "body.name", "its name"),
      option("--address <url>", "body.url", "https:// or oci://"),
      option("--username <name>", "body.username", "there"),
      { from: "--password", to: "body.password", kind: "secret", help: "the password" },
    ],
    view: REPOSITORY,
  }),
  verb("deleteChartRepository", "chart-repositories delete <repository>", "Delete the access to a chart repository", {
    fields: [inOrg("id"), arg("<repository>", "repository_id", "repository")],
    confirm: "Delete the chart repository {repository}?",
    done: "Deleted {repository}.",
  }),
];
