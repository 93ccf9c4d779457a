import { acceptedScopes } from "../../packages/contract/src/index.ts";
import type { Requirement } from "../../packages/server/src/access/role.ts";
import { whoMayCall } from "../../packages/server/src/http/openapi.ts";
import type { Route } from "../../packages/server/src/http/route.ts";

const PREFACE = `# Routes

This table lists every route of the API: who may call it, what a signed-in caller who may not call it gets, and the scopes
of which a CLI token needs one. It is generated from the routes; [access](access.md) has the rules behind it.
`;

const HEAD = ["Method", "Path", "Who may call", "Strangers get", "CLI token scopes"];

/** The table of routes and roles as a Markdown document, aligned as the formatter aligns it. */
export function routeTable(routes: readonly Route[]): string {
  const rows = [...routes].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)).map(cellsOf);
  const widths = HEAD.map((_, column) => Math.max(...[HEAD, ...rows].map((row) => row[column]?.length ?? 0)));
  const rule = widths.map((width) => "-".repeat(width));
  const lines = [HEAD, rule, ...rows].map(
    (row) => `| ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(" | ")} |`,
  );
  return `${PREFACE}\n${lines.join("\n")}\n`;
}

const keyOf = ({ operation }: Route) => `${operation.path} ${operation.method}`;

function cellsOf({ operation, guard: { requirement } }: Route): string[] {
  const { method, path } = operation;
  const accepted = acceptedScopes(operation);
  const scopes = accepted === "any" ? "any" : accepted.map((scope) => `\`${scope}\``).join(", ");
  return [method, `\`${path}\``, whoMayCall(requirement).replace(/\.$/, ""), strangersGet(requirement), scopes];
}

function strangersGet(requirement: Requirement): string {
  if (requirement.needs === "nothing" || requirement.needs === "signed_in") return "";
  if (requirement.needs === "cluster_role" || requirement.needs === "project_role") return "404";
  if (requirement.needs === "concealed_org_admin") return "404";
  return "hidden" in requirement && requirement.hidden ? "404" : "403";
}
