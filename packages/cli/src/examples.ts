import type { Command, Field } from "./command.ts";

/** What people would type for an argument, by its kind or else by its name. */
const OF_KIND: Readonly<Record<string, string>> = {
  app: "shop/front",
  cluster: "edge",
  project: "shop",
  org: "acme",
  user: "ada",
  member: "ada@example.com",
  template: "shared/web",
  addon: "db",
  definition: "postgresql",
  credential: "aws",
  token: "ci",
  repository: "charts",
  "cluster-registry-secret": "ghcr",
  "project-registry-secret": "ghcr",
  integer: "3",
};
const OF_NAME: Readonly<Record<string, string>> = {
  id: "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11",
  binding: "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11",
  run: "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11",
  key: "API_KEY",
  keys: "API_KEY",
  version: "1.2",
  other: "1.3",
  node: "agent-1",
  file: "template.yaml",
  reason: "CrashLoopBackOff",
  text: "front",
  code: "BCDF-GHJK",
  tier: "free",
  path: "/user/me",
  kind: "ping",
  shell: "bash",
  method: "GET",
  action: "destroy",
  image: "nginx:1.30",
  username: "ada",
  from: "prod",
  to: "production",
  url: "https://binnacle.example.com",
  expansion: "'logs shop/front --follow'",
};
/** What a name is of, by the noun of the command. */
const OF_NOUN: Readonly<Record<string, string>> = {
  alias: "tail",
  "chart-repositories": "charts",
  "registry-secrets": "ghcr",
  addons: "db",
  clusters: "edge",
  context: "prod",
  credentials: "aws",
  orgs: "acme",
  projects: "shop",
  templates: "web",
  tokens: "ci",
};

/** The options with which a command is usually called. */
const OPTIONS: Readonly<Record<string, string>> = {
  "addons create": "--project shop",
  "addons rollback": "--to 2",
  "apps deploy": "-f binnacle.yaml --rollback-on-failure",
  "apps diff": "--revision 3 4",
  "apps init": "--image nginx:1.30 --port 80",
  "apps list": "--phase failed,degraded",
  "apps logs": "--follow --since 15m --grep error",
  "apps rollback": "--to 3",
  "apps secrets set": "--value-stdin",
  audit: "--action app. --since 2026-01-31",
  deploy: "-f binnacle.yaml",
  events: "--project shop",
  "members add": "--username ada --role admin",
  "members change": "--role admin",
  "projects create": "--cluster edge",
  "tokens create": "--scopes read,write --expires-in-days 30 --for-project shop",
  login: "--name prod",
  logs: "--follow",
  "clusters rbac grant": "--user ada --role editor",
  "clusters rbac replace": "--user ada --role admin",
  "projects rbac grant": "--user ada --role editor",
  "projects rbac replace": "--user ada --role admin",
  "projects policy update": "--pod-security restricted",
  "templates deploy": "--project shop --name front --set replicas=2",
};

/** A line that a person could type, for the help of a command. */
export function exampleOf({ usage, fields, takesFile, notes }: Command): string | null {
  if (notes?.includes("Example: ")) return null;
  const words = usage.split(" ");
  const path = words.filter((word) => !/^[<[]/.test(word));
  const args = words.slice(path.length).map((word) => argumentOf(word, path[0] ?? "", fields));
  const given = OPTIONS[path.join(" ")] ?? (takesFile && args.every((word) => !word) ? "-f request.yaml" : "");
  const secret = fields.find(({ kind, isRequired }) => kind === "secret" && isRequired);
  return ["binnacle", ...path, ...args, given, secret && `${secret.from}-stdin`].filter(Boolean).join(" ");
}

function argumentOf(word: string, noun: string, fields: readonly Field[]): string {
  const name = word.replace(/[<>[\].]/g, "");
  if (name === "command") return "-- date";
  const field = fields.find(({ from }) => from === word);
  if (name === "name" && OF_NOUN[noun]) return OF_NOUN[noun];
  return OF_KIND[field?.kind ?? ""] ?? OF_KIND[name] ?? OF_NAME[name] ?? OF_KIND[name.replace(/s$/, "")] ?? "front";
}
