import type {
  App,
  AppListItem,
  ComponentSecret,
  ComponentStatus,
  Deployment,
  DeploymentChange,
  DeploymentListItem,
  PodStatus,
  ResourceNode,
} from "@binnacle/client";
import { arg, type Call, type Given, option, send } from "../command.ts";
import type { AppAddress } from "../find.ts";
import { CliError, EXIT, printable } from "../host.ts";
import { ageColumn, type Colors, column, painted, state, stateColumn, view } from "../output.ts";
import { suspensionText } from "../suspension.ts";

export const THE_APP = arg("<app>", "*", "app", "as name or namespace/name");

export const ofComponent = <const P extends string>(to: P) =>
  option("--component <name>", to, "the component; needed where there are several");

/** The named component, or the only workload. */
export async function componentOf(call: Call, { input, options }: Given<AppAddress>): Promise<string> {
  if (typeof options["component"] === "string") return options["component"];
  const { namespace, name: appName, project_id } = input;
  const app = await send(call, "getApp", { namespace, name: appName, project_id });
  const names = app.components.filter(({ type = "workload" }) => type === "workload").map(({ name }) => name);
  if (names.length === 1 && names[0]) return names[0];
  throw new CliError(
    `Name the component. There are: ${names.join(", ")}.`,
    EXIT.usage,
    `add --component ${names[0] ?? "<name>"}`,
  );
}

const ready = ({
  components_status: rows,
  components,
}: Pick<App | AppListItem, "components_status" | "components">): string => {
  const sum = (field: "ready" | "desired") => rows.reduce((total, row) => total + (row[field] ?? 0), 0);
  return rows.length > 0 ? `${sum("ready")}/${sum("desired")}` : `0/${components.length}`;
};

export const APP = view<App | AppListItem>(
  ({ namespace, name }) => `${namespace}/${name}`,
  { title: "NAME", of: ({ namespace, name }) => `${namespace}/${name}` },
  stateColumn("PHASE", "phase"),
  { title: "READY", of: ready },
  column("REVISION", "revision"),
  { title: "DRIFT", of: ({ drift }) => state(drift.state) },
  ageColumn("AGE", "created_at"),
  { title: "SUSPENDED", isWide: true, of: ({ suspended }) => suspended?.state ?? null },
  column("REASON", "phase_reason", true),
  column("MESSAGE", "phase_message", true),
  column("DESCRIPTION", "description", true),
  column("ID", "id", true),
);
/** Who has suspended an app, why, and whether that holds. */
export const suspensionOf = ({ namespace, name, suspended }: Pick<App, "namespace" | "name" | "suspended">): string =>
  suspensionText({ scope: "app", name: `${namespace}/${name}` }, suspended);

export const COMPONENT = view<ComponentStatus>(
  "name",
  column("COMPONENT", "name"),
  stateColumn("PHASE", "phase"),
  { title: "READY", of: ({ ready: count, desired }) => `${count}/${desired}` },
  column("RESTARTS", "restarts"),
  column("IMAGE", "image"),
  column("REASON", "reason"),
  column("MESSAGE", "message"),
);
export const POD = view<PodStatus>(
  "name",
  column("POD", "name"),
  column("PHASE", "phase"),
  column("RESTARTS", "restarts"),
  column("NODE", "node"),
  column("REASON", "reason"),
  ageColumn("AGE", "started_at"),
);
export const DEPLOYMENT = view<Deployment | DeploymentListItem>(
  "revision",
  column("REVISION", "revision"),
  column("OPERATION", "operation"),
  stateColumn("STATUS", "status"),
  column("BY", "created_by"),
  ageColumn("AGE", "created_at"),
  column("CHANGE", "summary"),
  column("MESSAGE", "message"),
  column("ID", "deployment_id", true),
);
export const CHANGE = view<DeploymentChange>(
  "path",
  {
    title: "",
    of: ({ change }) =>
      change === "added"
        ? { text: "+", tone: "good" }
        : change === "removed"
          ? { text: "-", tone: "bad" }
          : { text: "~", tone: "warn" },
  },
  column("FIELD", "path"),
  { title: "BEFORE", of: ({ before }) => shortened(before) },
  { title: "AFTER", of: ({ after }) => shortened(after) },
);
export const SECRET = view<ComponentSecret>(
  "key",
  column("KEY", "key"),
  column("CHART VALUE", "chart_value"),
  ageColumn("UPDATED", "updated_at"),
);

const shortened = (value: unknown): string | null =>
  value === undefined ? null : typeof value === "string" ? value : JSON.stringify(value);

/** The nodes as lines, each below its parent. */
export function tree(nodes: readonly ResourceNode[], colors: Colors): string {
  const childrenOf = Map.groupBy(nodes, ({ parent_id }) => parent_id);
  const lines = (node: ResourceNode, before: string, branch: string, next: string): string[] => {
    const children = childrenOf.get(node.id) ?? [];
    const counts = node.desired === null ? "" : ` ${node.ready ?? 0}/${node.desired}`;
    const restarts = node.restarts ? `, ${node.restarts} restarts` : "";
    const why = node.status === "ready" ? "" : (node.message ?? node.reason ?? "");
    const text = [
      `${before}${branch}${colors.dim(node.kind)} ${printable(node.name)}`,
      painted(colors, state(node.status), `${node.status}${counts}${restarts}`),
      ...(why ? [colors.dim(printable(why))] : []),
    ].join("  ");
    return [
      text,
      ...children.flatMap((child, index) =>
        index === children.length - 1
          ? lines(child, before + next, "└─ ", "   ")
          : lines(child, before + next, "├─ ", "│  "),
      ),
    ];
  };
  return `${(childrenOf.get(null) ?? []).flatMap((root) => lines(root, "", "", "")).join("\n")}\n`;
}
