import { arg, type Command, IN_ORG, send, verb } from "../command.ts";
import { ageColumn, column, type Row, stateColumn, view } from "../output.ts";
import { isTable } from "./app-views.ts";

/** The states that something is in, such as `2 connected, 1 disconnected`. */
const states = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${count} ${name}`)
    .join(", ");

const OVERVIEW = view(
  () => "overview",
  { title: "CLUSTERS", of: ({ clusters }) => states(clusters.by_status) },
  { title: "PROJECTS", of: ({ projects }) => states(projects.by_lifecycle) },
  { title: "APPS", of: ({ apps }) => states(apps.by_phase) },
  { title: "HELD UP", of: ({ apps }) => String(apps.held_up) },
  { title: "DRIFT", of: ({ apps }) => states({ drifted: apps.drifted, blocked: apps.blocked }) },
  { title: "ADDONS", of: ({ addon_instances }) => states(addon_instances.by_phase) },
  { title: "ATTENTION", of: ({ attention }) => String(attention.total) },
);
const ATTENTION = view(
  ({ namespace, name }: Row) => (namespace ? `${namespace}/${name}` : name),
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
const FOUND = view(
  ({ namespace, name }: Row) => (namespace ? `${namespace}/${name}` : name),
  column("KIND", "kind"),
  { title: "NAME", of: ({ namespace, name }) => (namespace ? `${namespace}/${name}` : name) },
  column("IN", "detail"),
  column("ID", "id", true),
);
const FLEET = view(
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
  verb({
    usage: "system",
    about: "Show how the installation is: database, jobs and connected operators",
    operation: "getSystemStatus",
    fields: [],
  }),
  {
    usage: "overview",
    about: "Show what an organization has, and what of it needs attention",
    fields: [IN_ORG],
    uses: ["getOrgOverview"],
    async run(call, { input }) {
      const overview = await send(call, "getOrgOverview", input);
      call.show(OVERVIEW, overview);
      if (!isTable(call) || overview.attention.items.length === 0) return undefined;
      call.host.out.write("\n");
      call.list(ATTENTION, overview.attention.items);
      return undefined;
    },
  },
  {
    usage: "search <text>",
    about: "Find what you can see by a part of its name",
    fields: [arg("<text>", "q")],
    uses: ["search"],
    async run(call, { input }) {
      const place = call.asked.org ? { org_id: await call.find.orgId() } : {};
      call.list(FOUND, [...(await send(call, "search", { ...input, ...place })).results]);
      return undefined;
    },
  },
  verb({
    usage: "members matrix",
    about: "Show all members of an organization with their roles on its clusters and projects",
    operation: "getRoleMatrix",
    fields: [IN_ORG],
  }),
  {
    usage: "fleet",
    about: "Show all clusters of an organization with the counts of their apps",
    fields: [{ ...IN_ORG, to: "org_id" }],
    uses: ["getFleet"],
    async run(call, { input }) {
      call.list(FLEET, [...(await send(call, "getFleet", input)).clusters]);
      return undefined;
    },
  },
];
