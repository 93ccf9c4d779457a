import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import type { OrgRole } from "@binnacle/contract";
import { bindRole, insertCluster, insertProject } from "../../packages/server/src/access/bindings.fixture.ts";
import { createPasswords } from "../../packages/server/src/accounts/password.adapter.ts";
import type { Bus } from "../../packages/server/src/bus/bus.ts";
import { loadCatalog } from "../../packages/server/src/catalog/catalog.adapter.ts";
import type { CloudProviders } from "../../packages/server/src/cloud/provider.ts";
import { parseConfig } from "../../packages/server/src/config.ts";
import { startControlPlane } from "../../packages/server/src/control-plane.ts";
import type { Database } from "../../packages/server/src/database/connection.adapter.ts";
import type { GitAccess } from "../../packages/server/src/gitops/git-access.ts";
import { createLog } from "../../packages/server/src/log.adapter.ts";
import { createVault, parseVaultKeys, type Vault } from "../../packages/server/src/vault/vault.ts";
import { Client } from "./client.ts";
import { TestClock } from "./clock.ts";
import { freshDatabase } from "./database.ts";

export { type Answer, Client, type Sending } from "./client.ts";
export { TestClock } from "./clock.ts";
export { type Following, parseFrame } from "./follow.ts";

export interface Person {
  readonly id: string;
  readonly username: string;
  readonly email: string;
  readonly password: string;
  readonly token: string;
  readonly cookie: string;
  readonly api: Client;
}

export interface OrgWithPeople {
  readonly org: string;
  readonly admin: Person;
  readonly member: Person;
  readonly stranger: Person;
}

export interface ProjectWithPeople extends OrgWithPeople {
  readonly cluster: string;
  readonly project: string;
  readonly namespace: string;
  readonly editor: Person;
  readonly viewer: Person;
}

/** A whole control plane in this process, on a database and a clock of its own. */
export interface World {
  readonly url: string;
  /** The address of `/metrics` outside `local`. */
  readonly metricsUrl: string | null;
  readonly clock: TestClock;
  readonly database: Database;
  readonly databaseUrl: string;
  /** The control plane's own. */
  readonly bus: Bus;
  /** With the keys of the control plane. */
  readonly vault: Vault;
  /** Every line that was logged so far. */
  readonly logged: readonly string[];
  /** Nobody in particular. */
  readonly anyone: Client;
  /** The seeded superuser. */
  readonly admin: Person;
  readonly demoOrgId: string;
  login(username: string, password: string, api?: Client): Promise<{ token: string; cookie: string }>;
  /** A new user, signed in; a member of the given organization where one is given. */
  person(options?: { org?: string; role?: OrgRole }): Promise<Person>;
  org(name?: string): Promise<string>;
  /** A new organization, an administrator and a member of it, and a stranger, who is not in it. */
  orgWithPeople(): Promise<OrgWithPeople>;
  /** The same with a project on a cluster, and members who have a role on that project alone. */
  projectWithPeople(): Promise<ProjectWithPeople>;
  stop(): Promise<void>;
}

export interface WorldOptions {
  readonly env?: Record<string, string>;
  /** Another replica: the same database and keys as an earlier world's. */
  readonly beside?: World;
  /** None, unless a test brings some. */
  readonly clouds?: CloudProviders;
  /** None that can be reached, unless a test brings some. */
  readonly git?: GitAccess;
  readonly clock?: TestClock;
  /** Its worker runs provisioning jobs. Otherwise they stay as a test has brought them. */
  readonly provisions?: boolean;
}

const SIGNING_KEY = randomBytes(32).toString("base64url");
const VAULT_KEYS = `test:${randomBytes(32).toString("base64")}`;

/** The worlds of a test process share the catalog, which takes a quarter of a second to read. */
const catalog = loadCatalog();

/** Real hashes that cost little: most tests sign somebody in, and few are about the cost of it. */
const passwords = createPasswords({ memoryCost: 64, timeCost: 1, parallelism: 1 });

export async function startWorld(options: WorldOptions = {}): Promise<World> {
  const clock = options.beside?.clock ?? options.clock ?? new TestClock();
  const fresh = options.beside ? null : await freshDatabase();
  const database = (options.beside ?? fresh)?.database as Database;
  const databaseUrl = options.beside?.databaseUrl ?? fresh?.url ?? "";
  const dataDir = await mkdtemp(join(tmpdir(), "binnacle-world-"));
  const logged: string[] = [];
  const sink = new Writable({
    write(chunk, _encoding, done) {
      logged.push(String(chunk));
      done();
    },
  });
  const config = parseConfig({
    BINNACLE_PORT: "0",
    BINNACLE_METRICS_PORT: "0",
    BINNACLE_SANDBOX: "off",
    BINNACLE_DATA_DIR: dataDir,
    BINNACLE_SECRET_KEY: SIGNING_KEY,
    BINNACLE_VAULT_KEYS: VAULT_KEYS,
    DATABASE_URL: databaseUrl,
    // Clusters are only made where the image of their operator is known.
    ...(options.env?.["BINNACLE_IMAGES_DIR"] ? {} : { BINNACLE_IMAGE_REGISTRY: "registry.example.com" }),
    ...options.env,
  });
  const plane = await startControlPlane(config, {
    log: createLog("debug", sink),
    clouds: options.clouds ?? {},
    ...(options.git ? { git: options.git } : {}),
    clock: clock.now,
    catalog: await catalog,
    passwords: await passwords,
    provisions: options.provisions ?? false,
  });
  const anyone = new Client(`${plane.url}/api/v1`);

  const login = (username: string, password: string, api = anyone) => loggedIn(api, username, password);
  const adminLogin = config.adminEmail ?? "admin";
  const adminPassword = config.secrets.adminPassword ?? "binnacle";
  const { token, cookie } = await login(adminLogin, adminPassword);
  const adminApi = anyone.with({ authorization: `Bearer ${token}` });
  const me = (await adminApi.get("/user/me")).body;
  const admin: Person = { ...me, password: adminPassword, token, cookie, api: adminApi };

  const people = peopleOf(anyone, adminApi, database);

  return {
    url: plane.url,
    metricsUrl: plane.metricsUrl,
    vault: createVault(parseVaultKeys(options.env?.["BINNACLE_VAULT_KEYS"] ?? VAULT_KEYS)),
    clock,
    database,
    databaseUrl,
    bus: plane.bus,
    logged,
    anyone,
    admin,
    demoOrgId: me.organizations[0]?.id,
    login,
    ...people,
    async stop() {
      await plane.stop();
      await fresh?.drop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

async function loggedIn(api: Client, username: string, password: string) {
  const answer = await api.send("POST", "/login", { form: { username, password } });
  if (answer.status !== 200) throw new Error(`login of ${username} was refused: ${JSON.stringify(answer.body)}`);
  const cookie = answer.headers.get("set-cookie")?.split(";")[0] ?? "";
  return { token: answer.body.access_token as string, cookie };
}

/** Makes people and organizations by the API, as a superuser would. */
function peopleOf(anyone: Client, adminApi: Client, database: Database) {
  async function person({ org, role = "member" }: { org?: string; role?: OrgRole } = {}): Promise<Person> {
    const username = `u${randomBytes(6).toString("hex")}`;
    const password = `pass ${username}`;
    const email = `${username}@example.com`;
    const created = await adminApi.post("/user", { name: "Somebody", username, email, password });
    if (org) await adminApi.post(`/orgs/${org}/members`, { user_id: created.body.id, role });
    const { token, cookie } = await loggedIn(anyone, username, password);
    return { ...created.body, password, token, cookie, api: anyone.with({ authorization: `Bearer ${token}` }) };
  }

  const newOrg = async (name = `org ${randomBytes(6).toString("hex")}`): Promise<string> =>
    (await adminApi.post("/orgs", { name })).body.id;

  async function orgWithPeople(): Promise<OrgWithPeople> {
    const org = await newOrg();
    const [admin, member] = [await person({ org, role: "admin" }), await person({ org })];
    return { org, admin, member, stranger: await person() };
  }

  async function projectWithPeople(): Promise<ProjectWithPeople> {
    const people = await orgWithPeople();
    const { org } = people;
    const cluster = await insertCluster(database.kysely, org);
    const project = await insertProject(database.kysely, org, cluster);
    const [editor, viewer] = [await person({ org }), await person({ org })];
    await bindRole(database.kysely, editor.id, "editor", { project });
    await bindRole(database.kysely, viewer.id, "viewer", { project });
    return { ...people, cluster, project, namespace: `project-${project}`, editor, viewer };
  }

  return { person, org: newOrg, orgWithPeople, projectWithPeople };
}
