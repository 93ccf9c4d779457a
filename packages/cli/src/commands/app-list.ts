import type { App, AppListItem, AppSummary } from "@binnacle/client";
import { type Command, command, LIMIT, limitOf, listAll, option } from "../command.ts";
import { ageColumn, column, stateColumn, view } from "../output.ts";
import { showList, WATCH } from "../watching.ts";
import { APP } from "./app-views.ts";

const SUMMARY = view<AppSummary>(
  ({ namespace, name }) => `${namespace}/${name}`,
  { title: "NAME", of: ({ namespace, name }) => `${namespace}/${name}` },
  stateColumn("PHASE", "phase"),
  { title: "READY", of: ({ ready, desired }) => `${ready}/${desired}` },
  stateColumn("DRIFT", "drift_state"),
  column("CLUSTER", "cluster_name"),
  column("IMAGES", "images"),
  ageColumn("SINCE", "phase_since"),
  column("REASON", "phase_reason", true),
  column("MESSAGE", "phase_message", true),
  { title: "BY", isWide: true, of: ({ last_deployment }) => last_deployment?.created_by },
  column("ID", "id", true),
);

const FILTERS = [
  option("--phase <phases>", "phase", "only in these phases, with commas between them", { kind: "list" }),
  option("--drift <state>", "drift", "only in this drift state", {
    choices: ["unknown", "in_sync", "drifted", "blocked_sync"],
  }),
  option("--search <text>", "search", "only with this text in their name, namespace or image"),
  option("--sort <order>", "sort", "with a minus in front: descending", {
    choices: ["name", "-name", "phase", "project", "cluster", "deployed_at", "-deployed_at"],
  }),
  { from: "--on <cluster>", to: "cluster_id", kind: "cluster", help: "only those on a cluster" } as const,
];

/** The whole apps, newest first; or their summaries, where something is said about which ones and how. */
export const APP_LIST: Command = command(
  "listAppSummaries",
  "apps list",
  "List the apps you can see, or those of --project; filtered and sorted by the options",
  {
    fields: [...FILTERS, LIMIT, WATCH],
    also: ["listApps", "listProjectApps"],
    async run(call, given) {
      const { input } = given;
      const isPlaced = Boolean(call.asked.project ?? call.target.project);
      const limit = limitOf(given);
      if (Object.keys(input).length > 0) {
        const place = isPlaced ? { project_id: await call.find.projectId() } : {};
        await showList(call, given, SUMMARY, () => listAll(call, "listAppSummaries", { ...place, ...input }, limit));
        return undefined;
      }
      const id = isPlaced ? await call.find.projectId() : null;
      await showList<App | AppListItem>(call, given, APP, () =>
        id === null ? listAll(call, "listApps", {}, limit) : listAll(call, "listProjectApps", { id }, limit),
      );
      return undefined;
    },
  },
);
