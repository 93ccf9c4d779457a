import type { RateLimit, Task, Tier } from "@binnacle/client";
import { arg, type Command, listing, option, verb } from "../command.ts";
import { ageColumn, column, stateColumn, view } from "../output.ts";

const TIER = view<Tier>("name", column("NAME", "name"), ageColumn("AGE", "created_at"));
const RATE_LIMIT = view<RateLimit>(
  "id",
  column("PATH", "path"),
  column("LIMIT", "limit"),
  column("PERIOD", "period"),
  column("NAME", "name"),
  column("ID", "id"),
);
const TASK = view<Task>(
  "id",
  column("ID", "id"),
  column("KIND", "kind"),
  stateColumn("STATUS", "status"),
  column("ATTEMPTS", "attempts"),
  column("ERROR", "error_message"),
  ageColumn("AGE", "created_at"),
);

export const SYSTEM_COMMANDS: readonly Command[] = [
  verb("getSystemStatus", "system", "Show how the installation is: database, jobs and connected operators"),
  listing("listTiers", "tiers list", "List the tiers of rate limits", { view: TIER }),
  listing("listRateLimits", "tiers limits list <tier>", "List the rate limits of a tier", {
    fields: [arg("<tier>", "tier_name")],
    view: RATE_LIMIT,
  }),
  verb("getRateLimit", "tiers limits show <tier> <id>", "Show a rate limit", {
    fields: [arg("<tier>", "tier_name"), arg("<id>", "id")],
    view: RATE_LIMIT,
  }),
  verb("createRateLimit", "tiers limits create <tier> <path>", "Limit the requests to a path", {
    fields: [
      arg("<tier>", "tier_name"),
      arg("<path>", "body.path"),
      option("--limit <count>", "body.limit", "so many requests", { kind: "integer" }),
      option("--period <seconds>", "body.period", "in so many seconds", { kind: "integer" }),
      option("--name <name>", "body.name", "a name for it"),
    ],
    view: RATE_LIMIT,
  }),
  verb("updateRateLimit", "tiers limits update <tier> <id>", "Change a rate limit", {
    fields: [
      arg("<tier>", "tier_name"),
      arg("<id>", "id"),
      option("--path <path>", "body.path", "the path"),
      option("--limit <count>", "body.limit", "so many requests", { kind: "integer" }),
      option("--period <seconds>", "body.period", "in so many seconds", { kind: "integer" }),
      option("--name <name>", "body.name", "a name for it"),
    ],
    view: RATE_LIMIT,
  }),
  verb("deleteRateLimit", "tiers limits delete <tier> <id>", "Delete a rate limit", {
    fields: [arg("<tier>", "tier_name"), arg("<id>", "id")],
    confirm: "Delete the rate limit {id}?",
    done: "Deleted {id}.",
  }),
  verb("createTask", "tasks create <kind>", "Start a task: ping or resync_cluster", {
    fields: [
      arg("<kind>", "body.kind"),
      option("--of <cluster>", "body.payload.cluster_id", "the cluster to look at again", { kind: "cluster" }),
    ],
    takesFile: true,
  }),
  verb("getTask", "tasks show <id>", "Show a task", { fields: [arg("<id>", "id")], view: TASK }),
];
