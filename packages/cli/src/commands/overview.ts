import type { AttentionItem, FleetCluster, OrgOverview, SearchResult } from "@binnacle/client";
import { arg, type Command, command, inOrg, isTable, listing, send } from "../command.ts";
import { events } from "../following.ts";
import { ageColumn, column, stateColumn, view } from "../output.ts";

/** The states that something is in, such as `2 connected, 1 disconnected`. */
const states = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${count} ${name}`)
    .join(", ");
const OVERVIEW = view<OrgOverview>(
  () => "overview",
  { title: "CLUSTERS", of: ({ clusters }) => states(clusters.by_status) },
  { title: "PROJECTS", of: ({ projects }) => states(projects.by_lifecycle) },
  { title: "APPS", of: ({ apps }) => states(apps.by_phase) },
  { title: "HELD UP", of: ({ apps }) => String(apps.held_up) },
  { title: "DRIFT", of: ({ apps }) => states({ drifted: apps.drifted, blocked: apps.blocked }) },
  { title: "ADDONS", of: ({ addon_instances }) => states(addon_instances.by_phase) },
  { title: "ATTENTION", of: ({ attention }) => String(attention.total) },
);
const ATTENTION = view<AttentionItem>(
  ({ namespace, name }) => (namespace ? `${namespace}/${name}` : name),
  column("KIND", "kind"),
  {
    title: "NAME",
    of: ({ namespace, name, others }) =>
      `${namespace ? `${namespace}/` : ""}${name}${others > 0 ? ` and ${others} more` : ""}`,
  },
  { title: "REASON", of: ({ severity, reason }) => ({ text: reason, tone: severity === "failed" ? "bad" : "warn" }) },
  column("CAUSE", "cause"),
  column("ACTION", "action"),
  ageColumn("SINCE", "since"),
  column("MESSAGE", "message"),
  column("ID", "id", true),
);
const FOUND = view<SearchResult>(
  ({ namespace, name }) => (namespace ? `${namespace}/${name}` : name),
  column("KIND", "kind"),
  { title: "NAME", of: ({ namespace, name }) => (namespace ? `${namespace}/${name}` : name) },
  column("IN", "detail"),
  column("ID", "id", true),
);
const FLEET = view<FleetCluster>(
  "name",
  column("NAME", "name"),
  stateColumn("STATUS", "status"),
  { title: "STALE", of: ({ stale }) => (stale ? { text: "yes", tone: "warn" } : "no") },
  column("APPS", "apps"),
  column("FAILING", "failing"),
  column("HELD UP", "held_up"),
  column("ID", "id", true),
);

export const OVERVIEW_COMMANDS: readonly Command[] = [
  command("getOrgOverview", "overview", "Show what an organization has, and what of it needs attention", {
    fields: [inOrg("id")],
    async run(call, { input }) {
      const overview = await send(call, "getOrgOverview", input);
      call.show(OVERVIEW, overview);
      if (!isTable(call) || overview.attention.items.length === 0) return undefined;
      call.print("\n");
      call.list(ATTENTION, overview.attention.items);
      return undefined;
    },
  }),
  command("search", "search <text>", "Find what you can see by a part of its name", {
    fields: [arg("<text>", "q")],
    async run(call, { input }) {
      const place = call.asked.org ? { org_id: await call.find.orgId() } : {};
      call.list(FOUND, (await send(call, "search", { ...input, ...place })).results);
    },
  }),
  listing("getFleet", "fleet", "Show all clusters of an organization with the counts of their apps", {
    fields: [inOrg("org_id")],
    view: FLEET,
  }),
  command("streamEvents", "events", "Follow what happens, also of one --project or --cluster", {
    fields: [
      { from: "-f, --follow", kind: "flag", help: "what it does anyway" },
      {
        from: "--type <type>",
        to: "resource_type",
        help: "only events about such resources",
        choices: ["cluster", "project", "workload", "build", "addon", "app", "activity", "all"],
      },
      { from: "--limit <count>", kind: "integer", help: "end after so many" },
    ],
    run: events,
  }),
];
