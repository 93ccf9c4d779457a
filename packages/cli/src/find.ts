import { type Client, Forbidden, type Input, type ListName } from "@binnacle/client";
import { CliError, EXIT } from "./host.ts";
import type { Target } from "./state.ts";

export type RefKind =
  | "org"
  | "cluster"
  | "project"
  | "user"
  | "member"
  | "app"
  | "template"
  | "addon"
  | "definition"
  | "credential"
  | "token"
  | "repository"
  | "cluster-registry-secret"
  | "project-registry-secret";

/** The places that the command line names. */
export interface Flags {
  readonly org?: string | undefined;
  readonly project?: string | undefined;
  readonly cluster?: string | undefined;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

type Listed = Readonly<Record<string, unknown>>;
export type AppAddress = { readonly namespace: string; readonly name: string; readonly project_id: string };

interface ListedKind {
  readonly operation: ListName;
  readonly key: string;
  /** What the list needs to be told. */
  readonly place?: "org" | "any";
  readonly parameter: string;
  readonly hasNamespace?: boolean;
}
const listed = (operation: ListName, key = "name", more: Partial<ListedKind> = {}): ListedKind => ({
  operation,
  key,
  parameter: "id",
  ...more,
});

/** The lists that have the names of each kind. */
const LISTED: Readonly<Record<string, ListedKind>> = {
  org: listed("listOrgs", "slug"),
  cluster: listed("listClusters", "name", { place: "org", parameter: "org_id" }),
  project: listed("listProjects"),
  app: listed("listApps", "name", { hasNamespace: true }),
  template: listed("browseTemplateRegistry", "name", { hasNamespace: true }),
  addon: listed("listAddonInstances", "name", { place: "any" }),
  definition: listed("listAddonDefinitions"),
  credential: listed("listCredentials", "name", { place: "org" }),
  token: listed("listCliTokens"),
  repository: listed("listChartRepositories", "name", { place: "org" }),
  member: listed("listMembers", "email", { place: "org" }),
  user: listed("listUsers", "username"),
};
const MOST_NAMES = 500;

/** Finds resources by name or id, as far as the caller may see them. */
export class Finder {
  readonly #client: Client;
  readonly #flags: Flags;
  readonly #target: Target;

  constructor(client: Client, flags: Flags, target: Target) {
    this.#client = client;
    this.#flags = flags;
    this.#target = target;
  }

  /** The parameters that address what a text names. */
  async resolve(kind: RefKind, text: string | undefined): Promise<Readonly<Record<string, unknown>> | string> {
    switch (kind) {
      case "org":
        return this.orgId(text);
      case "cluster":
        return this.clusterId(text);
      case "project":
        return this.projectId(text);
      case "app":
        return this.app(text ?? "");
      case "template":
        return this.#template(text ?? "");
      case "user":
        return this.#userId(text ?? "");
      case "member":
        return this.#one("member", text, () => this.#orgList("listMembers"), ["email", "name"], "user_id");
      case "addon":
        return this.#one("addon instance", text, async () => this.#all("listAddonInstances", await this.place()));
      case "definition":
        return this.#one("addon definition", text, () => this.#all("listAddonDefinitions"));
      case "credential":
        return this.#one("credential", text, () => this.#orgList("listCredentials"));
      case "token":
        return this.#one("token", text, () => this.#all("listCliTokens"));
      case "repository":
        return this.#one("chart repository", text, () => this.#orgList("listChartRepositories"));
      case "cluster-registry-secret":
        return this.#one("registry secret", text, async () =>
          this.#all("listClusterRegistrySecrets", { id: await this.clusterId() }),
        );
      case "project-registry-secret":
        return this.#one("registry secret", text, async () =>
          this.#all("listProjectRegistrySecrets", { id: await this.projectId() }),
        );
    }
  }

  async orgId(text = this.#flags.org ?? this.#target.org ?? undefined): Promise<string> {
    if (text) return this.#one("organization", text, () => this.#orgsFor(text), ["slug", "name"]);
    return onlyOne("organization", "--org", await this.#all("listOrgs"));
  }

  /** A superuser may name an organization without belonging to it. */
  async #orgsFor(text: string): Promise<readonly Listed[]> {
    const own = await this.#all("listOrgs");
    if (own.some(({ slug, name }) => slug === text || name === text)) return own;
    return this.#all("listOrgs", { all: true }).catch((error: unknown) => {
      if (error instanceof Forbidden) return own;
      throw error;
    });
  }

  async clusterId(text = this.#flags.cluster): Promise<string> {
    if (text) return this.#one("cluster", text, () => this.#clusters());
    return onlyOne("cluster", "--cluster", await this.#clusters());
  }

  async projectId(text = this.#flags.project ?? this.#target.project ?? undefined): Promise<string> {
    if (text) return this.#one("project", text, () => this.#projects(), ["name", "namespace"]);
    return onlyOne("project", "--project", await this.#projects());
  }

  /** The project that is named, or else the organization, as a filter of a list. */
  async place(): Promise<{ readonly project_id: string } | { readonly org_id: string }> {
    const isPlaced = Boolean(this.#flags.project ?? this.#target.project);
    return isPlaced ? { project_id: await this.projectId() } : { org_id: await this.orgId() };
  }

  /** Names that another command takes, for a shell that completes them. */
  async names(kind: string, typed: string, signal: AbortSignal): Promise<readonly string[]> {
    const list = LISTED[kind];
    if (!list) return [];
    const place =
      list.place === "org" ? { [list.parameter]: await this.orgId() } : list.place ? await this.place() : {};
    const rows: Listed[] = [];
    for await (const row of this.#client.pages(list.operation, place as Input<ListName>, { signal })) {
      rows.push(row as Listed);
      if (rows.length >= MOST_NAMES) break;
    }
    const plain = rows.map((row) => String(row[list.key]));
    if (!list.hasNamespace) return plain;
    const full = rows.map((row) => `${String(row["namespace"])}/${String(row[list.key])}`);
    return typed.includes("/") || !plain.some((name) => name.startsWith(typed)) ? full : plain;
  }

  /** An app by `name`, or by `namespace/name`, in the named project or in whichever has it. */
  async app(text: string): Promise<AppAddress> {
    const [first = "", second] = text.split("/");
    const [namespace, name] = second === undefined ? [null, first] : [first, second];
    const isPlaced = Boolean(this.#flags.project ?? this.#target.project);
    const query = isPlaced && namespace === null ? { project_id: await this.projectId() } : {};
    const named = (await this.#all("listApps", query)).filter(
      (app) => (app["name"] === name && (namespace === null || app["namespace"] === namespace)) || app["id"] === text,
    );
    const found = preferred(named);
    const [app] = found;
    if (!app) throw notFound("app", text, "binnacle apps list");
    if (found.length > 1) {
      const places = found.map((it) => [it["namespace"], it["name"]].join("/"));
      const isSame = new Set(places).size === 1;
      throw new CliError(
        `There are ${found.length} apps "${text}": ${isSame ? "on several clusters" : places.join(", ")}.`,
        EXIT.usage,
        "add --project <project>",
      );
    }
    return { namespace: String(app["namespace"]), name: String(app["name"]), project_id: String(app["project_id"]) };
  }

  async #template(text: string): Promise<Readonly<Record<string, unknown>>> {
    const [first = "", second] = text.split("/");
    const org = this.#flags.org ? { org_id: await this.orgId() } : {};
    if (second !== undefined) return { namespace: first, name: second, ...org };
    const stored = (await this.#all("listStackTemplates")).filter(({ name }) => name === first);
    const shipped = (await this.#all("browseTemplateRegistry")).filter(({ name }) => name === first);
    const namespaces = [...new Set([...stored, ...shipped].map(({ namespace }) => String(namespace)))];
    if (namespaces.length === 0) throw notFound("template", text, "binnacle templates list");
    if (namespaces.length > 1) {
      throw new CliError(
        `There are templates "${text}" in: ${namespaces.join(", ")}.`,
        EXIT.usage,
        `write ${namespaces[0]}/${text}`,
      );
    }
    return { namespace: namespaces[0], name: first, ...org };
  }

  /** Only superusers see all users; others know the members of their organization. */
  async #userId(text: string): Promise<string> {
    if (UUID.test(text)) return text.toLowerCase();
    const users = await this.#all("listUsers");
    const keys = ["username", "email", "name"];
    if (users.some((user) => keys.some((key) => user[key] === text)))
      return this.#one("user", text, async () => users, keys);
    return this.#one("user", text, () => this.#orgList("listMembers"), ["email", "name"], "user_id");
  }

  async #clusters(): Promise<readonly Listed[]> {
    const isPlaced = Boolean(this.#flags.org ?? this.#target.org);
    const orgs = isPlaced ? [await this.orgId()] : (await this.#all("listOrgs")).map(({ id }) => String(id));
    return (await Promise.all(orgs.map((org_id) => this.#all("listClusters", { org_id })))).flat();
  }

  async #projects(): Promise<readonly Listed[]> {
    const cluster = this.#flags.cluster ? { cluster_id: await this.clusterId() } : {};
    const org = this.#flags.org ? await this.orgId() : null;
    return (await this.#all("listProjects", cluster)).filter(({ org_id }) => org === null || org_id === org);
  }

  #orgList(name: "listMembers" | "listCredentials" | "listChartRepositories"): Promise<readonly Listed[]> {
    return this.orgId().then((id) => this.#all(name, { id }));
  }

  async #all<N extends ListName>(name: N, input: object = {}): Promise<readonly Listed[]> {
    const rows: Listed[] = [];
    for await (const row of this.#client.pages(name, input as Input<N>)) rows.push(row as Listed);
    return rows;
  }

  async #one(
    noun: string,
    text = "",
    list: () => Promise<readonly Listed[]>,
    keys: readonly string[] = ["name"],
    id = "id",
  ): Promise<string> {
    if (UUID.test(text)) return text.toLowerCase();
    const rows = await list();
    const found = preferred(rows.filter((row) => keys.some((key) => row[key] === text)));
    if (found.length === 1) return String(found[0]?.[id]);
    if (found.length === 0) {
      const names = rows.map((row) => String(row[keys[0] ?? "name"]));
      throw notFound(noun, text, null, names);
    }
    const ids = found.map((row) => String(row[id]));
    throw new CliError(`There are ${found.length} ${noun}s "${text}". Use an id: ${ids.join(", ")}.`);
  }
}

function notFound(noun: string, text: string, fix: string | null, names: readonly string[] = []): CliError {
  const some = names.slice(0, 10).join(", ") + (names.length > 10 ? ", …" : "");
  const known = some ? ` There are: ${some}.` : "";
  return new CliError(`There is no ${noun} "${text}" that you can see.${known}`, EXIT.notFound, fix);
}

const LEAVING: ReadonlySet<unknown> = new Set(["abandoned", "detaching", "cluster_abandoned", "cluster_detached"]);

/** The names of a cluster that was given up and of what was on it are free, so what has such a name now is meant. */
function preferred(rows: readonly Listed[]): readonly Listed[] {
  const kept = rows.filter(
    ({ status, lifecycle, phase_reason }) =>
      !LEAVING.has(status) && lifecycle !== "cleanup_degraded" && !LEAVING.has(phase_reason),
  );
  return kept.length > 0 ? kept : rows;
}

function onlyOne(noun: string, flag: string, listed: readonly Listed[]): string {
  const rows = preferred(listed);
  if (rows.length === 1) return String(rows[0]?.["id"]);
  if (rows.length === 0)
    throw new CliError(
      `There is no ${noun} that you can see.`,
      EXIT.notFound,
      `binnacle ${noun === "organization" ? "org" : noun}s --help`,
    );
  const names = rows.slice(0, 10).map(({ name }) => String(name));
  // What is proposed should work: a cluster that waits for its operator, or has lost it, does nothing.
  const proposed = String((rows.find(({ status }) => status === "connected") ?? rows[0])?.["name"]);
  throw new CliError(
    `Name the ${noun}. There are: ${names.join(", ")}${rows.length > 10 ? ", …" : ""}.`,
    EXIT.usage,
    `add ${flag} ${proposed}`,
  );
}
