import { randomBytes } from "node:crypto";
import { folder, packedChart, serve } from "../../packages/charts/src/chart.fixture.ts";
import { SCOPES } from "../../packages/contract/src/states.ts";
import { createTokens } from "../../packages/server/src/accounts/tokens.adapter.ts";
import { Client } from "../world/client.ts";
import { type SimulatedOperator, simulateOperator } from "../world/simulated-operator.ts";
import type { DocumentedOperation } from "./document.ts";
import type { Random } from "./random.ts";

/** Somebody, or something, that sends requests. */
export interface Actor {
  readonly name: string;
  /** Of the user; null where there is none. */
  readonly userId: string | null;
  readonly headers: Readonly<Record<string, string>>;
  /** If true, every operation that needs a credential answers 401. */
  readonly isRefused: boolean;
}

/** Parameters that belong together, such as the namespace, the name and the project of one app. */
export type Place = Readonly<Record<string, string>>;

const MOST_KEPT = 12;
/** Requests that are refused for their sender's address must not be those that keep the world going. */
const KEEPER = { "x-forwarded-for": "198.51.100.1" };
const CHART = "web";

/** The names under which the id of a thing is known: as a field, and as the part of a path that it follows. */
const FIELDS: Readonly<Record<string, string>> = {
  org_id: "orgs",
  cluster_id: "clusters",
  project_id: "projects",
  user_id: "user",
  users: "user",
  members: "user",
  workload_id: "apps",
  addon_instance_id: "addon-instances",
  addon_definition_id: "addon-definitions",
  definition_id: "addon-definitions",
  credential_id: "credentials",
  secret_id: "registry-secrets",
  repository_id: "chart-repositories",
};

/**
 * A small company on a running server: organizations, people of every role, clusters with and without an operator, projects,
 * apps, templates, addons. Requests wear it out, so it is made anew every now and then, beside what is left of it.
 */
export class FuzzWorld {
  readonly #api: Client;
  readonly #base: string;
  readonly #signingKey: string;
  readonly #known = new Map<string, string[]>();
  readonly #places = { apps: [] as Place[], templates: [] as Place[] };
  #admin: Client;
  #adminId = "";
  #actors: readonly Actor[] = [];
  #operator: SimulatedOperator | null = null;
  readonly #chartRepository: string;

  constructor(url: string, { signingKey, chartRepository }: { signingKey: string; chartRepository: string }) {
    this.#base = url;
    this.#signingKey = signingKey;
    this.#chartRepository = chartRepository;
    this.#api = new Client(`${url}/api/v1`, KEEPER);
    this.#admin = this.#api;
  }

  get actors(): readonly Actor[] {
    return this.#actors;
  }

  /** Nobody changes the record of the one superuser there is: nothing could be made anew afterwards. */
  isSpared(method: string, target: string): boolean {
    return method !== "GET" && target.includes(this.#adminId);
  }

  known(field: string): readonly string[] {
    return this.#known.get(FIELDS[field] ?? field) ?? [];
  }

  place(operation: DocumentedOperation, actor: Actor, random: Random): Place | null {
    if (operation.path === "/user/{id}" && actor.userId && random.chance(0.5)) return { id: actor.userId };
    if (operation.path.endsWith("/inspect-chart")) return { repo: this.#chartRepository, name: CHART };
    const isOfApp = /^\/(apps|stack-templates\/from-app)\/\{namespace\}/.test(operation.path);
    const places = isOfApp ? this.#places.apps : this.#places.templates;
    const isOfTemplate = operation.path.startsWith("/stack-templates/{namespace}");
    return (isOfApp || isOfTemplate) && places.length > 0 ? random.pick(places) : null;
  }

  /** Remembers the ids in an answer. */
  learn({ path }: DocumentedOperation, body: unknown): void {
    const { data = [body] } = (body ?? {}) as { data?: unknown };
    const collection = path.split("/").findLast((part) => !part.startsWith("{")) ?? "";
    for (const item of Array.isArray(data) ? data.slice(0, 5) : []) {
      if (typeof item !== "object" || item === null) continue;
      const record = item as Record<string, unknown>;
      if (record["id"] !== this.#adminId) this.#remember(FIELDS[collection] ?? collection, record["id"]);
      for (const field of ["binding_id", "deployment_id", "revision_id", "user_code", "device_code"])
        this.#remember(field, record[field]);
    }
  }

  async close(): Promise<void> {
    await this.#operator?.stop();
  }

  async renew(): Promise<void> {
    const mark = randomBytes(4).toString("hex");
    const keeper = await this.#signIn("admin", "binnacle");
    this.#admin = keeper.api;
    const admin = keeper.api;
    this.#adminId = (await admin.get("/user/me")).body.id;

    const orgId = await this.#make("/orgs", { name: `Fuzz ${mark}` }, "orgs");
    const otherOrgId = await this.#make("/orgs", { name: `Other ${mark}` }, "orgs");
    const [owner, editor, viewer, member, stranger, leaver] = await Promise.all(
      ["owner", "editor", "viewer", "member", "stranger", "leaver"].map((role) =>
        this.#person(`${role}${mark}`.slice(0, 20)),
      ),
    );
    if (!owner || !editor || !viewer || !member || !stranger || !leaver) throw new Error("Somebody is missing.");
    await admin.post(`/orgs/${orgId}/members`, { user_id: owner.id, role: "admin" });
    for (const { id } of [editor, viewer, member, leaver]) {
      await admin.post(`/orgs/${orgId}/members`, { user_id: id, role: "member" });
    }
    await admin.post(`/orgs/${otherOrgId}/members`, { user_id: stranger.id, role: "admin" });

    const cluster = await this.#created(`/orgs/${orgId}/clusters`, { name: `with operator ${mark}` });
    this.#remember("clusters", cluster.id);
    await this.#make(`/orgs/${orgId}/clusters`, { name: `without operator ${mark}` }, "clusters");
    const keys = { region: "eu-central-1", access_key_id: "AKIAIOSFODNN7EXAMPLE", secret_access_key: "s3cret/s3cret" };
    const credential = { name: `aws ${mark}`, provider: "aws", ...keys };
    const credential_id = await this.#make(`/orgs/${orgId}/credentials`, credential, "credentials");
    const provisioned = { name: `cloud ${mark}`, provider: "aws", credential_id };
    const { provisioning_job_id } = await this.#created(`/orgs/${orgId}/clusters`, provisioned);
    this.#remember("provisioning-jobs", provisioning_job_id);
    await this.#operator?.stop();
    this.#operator = simulateOperator({ url: this.#base, token: cluster.connection_token as string });

    const namespace = `shop-${mark}`;
    const project = {
      id: await this.#make("/projects", { name: namespace, cluster_id: cluster.id }, "projects"),
      namespace,
    };
    this.#remember("namespace", namespace);
    for (const [{ id }, role] of [
      [editor, "editor"],
      [viewer, "viewer"],
    ] as const) {
      const { body } = await admin.post(`/projects/${project.id}/rbac`, { user_id: id, role });
      this.#remember("binding_id", body.binding_id);
    }
    await this.#fill(project, orgId, mark);
    this.#seedKnownTexts();
    this.#actors = await this.#castOf({ owner, editor, viewer, member, stranger, leaver }, project.id);
  }

  /** Creates the contents of a project. */
  async #fill(project: { id: string; namespace: string }, orgId: string, mark: string): Promise<void> {
    const definitions = (await this.#admin.get("/addon-definitions")).body.data as Definition[];
    for (const { id, chart } of definitions) {
      this.#remember("addon-definitions", id);
      for (const version of chart.versions) this.#remember("chart_version", version);
    }
    const instance = { name: `db-${mark}`, project_id: project.id, addon_definition_id: definitions[0]?.id };
    const addon_instance_id = await this.#make("/addon-instances", instance, "addon-instances");
    const components = [
      {
        name: "web",
        workload_spec: { image: "nginx:1.29", replicas: 2, ports: [{ name: "http", port: 80 }] },
        secrets: { API_KEY: "a secret of theirs" },
      },
      { name: "worker", depends_on: ["web"], workload_spec: { image: "busybox:1.37" } },
    ];
    for (const name of [`front-${mark}`, `back-${mark}`]) {
      const app = await this.#created("/apps", { name, project_id: project.id, components });
      this.#remember("apps", app.id);
      const address = { namespace: project.namespace, name, project_id: project.id };
      const query = `?project_id=${project.id}`;
      const { body } = await this.#admin.get(`/apps/${project.namespace}/${name}/deployments${query}`);
      const deployment_id = body.data[0].deployment_id as string;
      keep(this.#places.apps, { ...address, component: "web", key: "API_KEY", deployment_id, addon_instance_id });
    }
    const template = {
      namespace: project.namespace,
      name: `stack-${mark}`,
      org_id: orgId,
      scope: "organization",
      parameters: [{ name: "image", type: "string", default: "nginx:1.29" }],
      components: [{ name: "web", workload_spec: { image: `\${image}` } }],
    };
    await this.#created("/stack-templates", template);
    keep(this.#places.templates, { namespace: project.namespace, name: template.name, org_id: orgId });
    const registry = {
      name: `ghcr-${mark}`,
      server_url: "ghcr.io",
      username: "robot",
      password: "a registry's secret",
    };
    await this.#make(`/projects/${project.id}/registry-secrets`, registry, "registry-secrets");
    const repository = {
      name: `charts ${mark}`,
      url: `https://charts-${mark}.example.com`,
      username: "robot",
      password: "a repository's secret",
    };
    await this.#make(`/orgs/${orgId}/chart-repositories`, repository, "chart-repositories");
    const limit = { path: `/x/${mark}`, limit: 5, period: 60 };
    await this.#make("/tier/free/rate_limit", limit, "rate_limit");
    // Tasks are limited for everybody; one of an earlier time does as well.
    this.#remember("task", (await this.#admin.post("/tasks/task", { kind: "ping" })).body.id);
  }

  /** Texts that mean something to the server, whoever sends them. */
  #seedKnownTexts(): void {
    const texts: Record<string, readonly string[]> = {
      tier_name: ["free", "pro"],
      tier: ["free", "pro"],
      version: ["1.3", "1.4", "1.0.0"],
      other: ["1.3", "1.4"],
      bundle_version: ["1.3", "1.4"],
      profiles: ["security", "observability"],
      component: ["longhorn", "web"],
      component_name: ["web", "worker"],
      repo: [this.#chartRepository, "https://127.0.0.1:1", "http://169.254.169.254", "oci://charts.invalid/x"],
      chart: [CHART],
      path: ["replicaCount", "image.tag"],
      username: ["admin"],
      password: ["binnacle", "a long enough password"],
      current_password: ["binnacle", "a long enough password"],
    };
    for (const [field, values] of Object.entries(texts)) this.#known.set(field, [...values]);
  }

  async #castOf(people: Readonly<Record<string, Person>>, projectId: string): Promise<Actor[]> {
    const { owner, leaver } = people;
    const fuzzAdmin = await this.#signIn("admin", "binnacle");
    const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
    const superuser = { ...fuzzAdmin, id: this.#adminId };
    const signedIn = Object.entries({ superuser, ...people }).map(([name, { id, token, cookie }]) => ({
      name,
      userId: id,
      headers: { ...bearer(token), cookie },
      isRefused: false,
    }));
    const tokenOf = async (name: string, person: Person | undefined, fields: object) => {
      const { body } = await (person as Person).api.post("/cli-tokens", { name, ...fields });
      return { name, userId: null, headers: bearer(body.token), isRefused: false };
    };
    const tokens = await Promise.all([
      ...SCOPES.map((scope) => tokenOf(`CLI token ${scope}`, owner, { scopes: [scope] })),
      tokenOf("CLI token of a project", owner, { scopes: ["read", "write"], project_id: projectId }),
      tokenOf("CLI token of the leaver", leaver, { scopes: ["read"] }),
    ]);
    const gone = await this.#signIn("admin", "binnacle");
    await gone.api.send("POST", "/logout", { headers: { cookie: gone.cookie } });
    const expired = await (await createTokens(this.#signingKey, () => new Date(0))).sign("access", {
      sessionId: this.#adminId,
      userId: this.#adminId,
      expiresAtMs: 60_000,
    });
    const refused: Record<string, Record<string, string>> = {
      nobody: {},
      "logged-out token": bearer(gone.token),
      "expired token": bearer(expired),
      "tampered token": bearer(`${fuzzAdmin.token.slice(0, -4)}AAAA`),
      "unknown CLI token": bearer(`bnc_${"x".repeat(43)}`),
      "no token at all": { authorization: "Bearer" },
      "another scheme": { authorization: "Basic YWRtaW46YmlubmFjbGU=" },
      "very long token": bearer("x".repeat(8_000)),
    };
    const strangers = Object.entries(refused).map(([name, headers]) => ({
      name,
      userId: null,
      headers,
      isRefused: true,
    }));
    return [...signedIn, ...tokens, ...strangers];
  }

  async #signIn(username: string, password: string): Promise<{ token: string; cookie: string; api: Client }> {
    const answer = await this.#api.send("POST", "/login", { form: { username, password } });
    if (answer.status !== 200) throw new Error(`${username} cannot sign in: ${JSON.stringify(answer.body)}`);
    const token = answer.body.access_token as string;
    const cookie = answer.headers.get("set-cookie")?.split(";")[0] ?? "";
    return { token, cookie, api: this.#api.with({ authorization: `Bearer ${token}` }) };
  }

  async #person(username: string): Promise<Person> {
    const password = "a long enough password";
    const body = { name: "Somebody", username, email: `${username}@example.com`, password };
    const { id } = await this.#created("/user", body);
    this.#remember("user", id);
    this.#remember("email", body.email);
    return { id: String(id), ...(await this.#signIn(username, password)) };
  }

  async #created(path: string, body: object): Promise<Record<string, unknown>> {
    const answer = await this.#admin.post(path, body);
    if (answer.status !== 201) throw new Error(`POST ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  async #make(path: string, body: object, kind: string): Promise<string> {
    const { id } = await this.#created(path, body);
    this.#remember(kind, id);
    return String(id);
  }

  #remember(kind: string, id: unknown): void {
    if (typeof id !== "string") return;
    const ids = this.#known.get(kind) ?? [];
    this.#known.set(kind, ids);
    keep(ids, id);
  }
}

interface Definition {
  readonly id: string;
  readonly chart: { readonly versions: readonly string[] };
}

interface Person {
  readonly id: string;
  readonly token: string;
  readonly cookie: string;
  readonly api: Client;
}

/** The newest few: older ones have mostly been deleted by now. */
function keep<T>(items: T[], item: T): void {
  items.push(item);
  if (items.length > MOST_KEPT) items.shift();
}

/** A chart repository on this machine, for the server to look into. */
export function serveCharts() {
  const index = `entries:\n  ${CHART}:\n  - { version: 1.0.0, urls: [${CHART}.tgz] }\n`;
  return serve(folder({ "/index.yaml": index, [`/${CHART}.tgz`]: packedChart(CHART, "1.0.0").archive }));
}
