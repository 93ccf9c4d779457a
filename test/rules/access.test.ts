import { globSync, readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  acceptedScopes,
  CLOSED_TO_READ_AND_WRITE,
  exampleOf,
  isReading,
  SCOPES,
} from "../../packages/contract/src/index.ts";
import { bindRole, insertCluster, insertProject } from "../../packages/server/src/access/bindings.fixture.ts";
import type { Requirement } from "../../packages/server/src/access/role.ts";
import { definitionId } from "../../packages/server/src/catalog/catalog-file.ts";
import {
  AWS_KEYS,
  provisionedCluster,
  storedCredential,
  WELCOMING_CLOUD,
} from "../../packages/server/src/clusters/clusters.fixture.ts";
import type { Route } from "../../packages/server/src/http/route.ts";
import { newId } from "../../packages/server/src/id.adapter.ts";
import { describedRoutes } from "../../packages/server/src/routes.ts";
import { someTemplate } from "../../packages/server/src/templates/template.fixture.ts";
import type { Answer, Sending } from "../world/client.ts";
import { type Client, startWorld, type World } from "../world/world.ts";
import { CLOSED, FOR_TOKENS_ONLY, OPEN_TO, OPEN_TO_READ, OPEN_TO_WRITE, PUBLIC } from "./cli-access.ts";
import { routeTable } from "./route-table.ts";

const routes = describedRoutes();

type Verdict = "passes" | number;
const ok = "passes";

const PEOPLE = ["nobody", "outsider", "admin elsewhere", "member", "viewer", "editor", "admin", "superuser"] as const;

/** The expected outcomes, by hand: the code under test must not be its own judge. The columns are those of `PEOPLE`. */
const EXPECTED: Record<string, readonly Verdict[]> = {
  nothing: [ok, ok, ok, ok, ok, ok, ok, ok],
  signed_in: [401, ok, ok, ok, ok, ok, ok, ok],
  own_record: [401, 403, 403, 403, 403, 403, 403, 403],
  any_org_admin: [401, 403, ok, 403, 403, 403, ok, ok],
  member: [401, 403, 403, ok, ok, ok, ok, ok],
  "member, hidden": [401, 404, 404, ok, ok, ok, ok, ok],
  admin: [401, 403, 403, 403, 403, 403, ok, ok],
  "admin, hidden": [401, 404, 404, 403, 403, 403, ok, ok],
  concealed_org_admin: [401, 404, 404, 404, 404, 404, ok, ok],
  superuser: [401, 403, 403, 403, 403, 403, 403, ok],
  "member of the cluster": [401, 404, 404, ok, ok, ok, ok, ok],
  "viewer of the cluster": [401, 404, 404, 403, ok, ok, ok, ok],
  "editor of the cluster": [401, 404, 404, 403, 403, ok, ok, ok],
  "admin of the cluster": [401, 404, 404, 403, 403, 403, ok, ok],
  "org_admin of the cluster": [401, 404, 404, 403, 403, 403, ok, ok],
  "viewer of the project": [401, 404, 404, 404, ok, ok, ok, ok],
  "editor of the project": [401, 404, 404, 404, 403, ok, ok, ok],
  "admin of the project": [401, 404, 404, 404, 403, 403, ok, ok],
  "org_admin of the project": [401, 404, 404, 404, 403, 403, ok, ok],
};

function askedBy(requirement: Requirement): string {
  if (requirement.needs === "org_role") return `${requirement.role}${requirement.hidden ? ", hidden" : ""}`;
  if (requirement.needs === "cluster_role") return `${requirement.role} of the cluster`;
  if (requirement.needs === "project_role") return `${requirement.role} of the project`;
  return requirement.needs;
}

function rowOf(requirement: Requirement): readonly Verdict[] {
  const asked = askedBy(requirement);
  const row = EXPECTED[asked];
  if (!row) throw new Error(`Say in EXPECTED who passes a route that needs "${asked}".`);
  return row;
}

const tokenWith = (scope: string) => `CLI token with ${scope}`;

function expectedOf({ operation: { id }, guard }: Route): Record<string, Verdict | undefined> {
  const row = rowOf(guard.requirement);
  const isForTokens = FOR_TOKENS_ONLY.includes(id);
  const people = PEOPLE.map((name, column) => [name, isForTokens && row[column] === ok ? 403 : row[column]]);
  const tokens = SCOPES.map((scope) => {
    const isTaken = PUBLIC.includes(id) || isForTokens || OPEN_TO[scope]?.includes(id);
    return [tokenWith(scope), isTaken ? ok : 403];
  });
  return Object.fromEntries([...people, ...tokens]);
}

/** The refusals of guards. Any other answer comes from a handler, so the guard has let the caller pass. */
const GUARD_SAYS = [
  /^401 User not authenticated\.$/,
  /^403 (Only .* may do this\.|This needs the role )/,
  /^403 This operation takes no CLI token/,
  /^403 This operation takes a CLI token and no session/,
  /^403 The CLI token lacks the scope /,
  /^404 (Organization|Cluster|Project|Addon instance|App|Credential|Provisioning job) not found\.$/,
];

/** Values that are written and never read back. */
const SECRETS = {
  app: "secret-value-of-an-app",
  registry: "secret-value-of-a-registry",
  charts: "secret-value-of-charts",
  cloud: AWS_KEYS.secret_access_key,
};

/** No operator is connected here; whoever is told so has passed the guard. */
const NO_OPERATOR = /operator of the cluster/;

/** A name that has to be typed is compared after the guard. */
const OTHER_NAME = /This is not the name of the cluster/;

/** A 422 counts as itself: such a request never got as far as the guard. */
function verdictOf({ status, body }: Answer<{ detail?: string } | null>): Verdict {
  const said = `${status} ${body?.detail}`;
  if (NO_OPERATOR.test(said) || OTHER_NAME.test(JSON.stringify(body))) return ok;
  return status >= 500 || status === 422 || GUARD_SAYS.some((words) => words.test(said)) ? status : ok;
}

const newToken = async (scope: string) =>
  (await world.admin.api.post("/cli-tokens", { name: "laptop", scopes: [scope] })).body;

/** A CLI token of the superuser for each scope. */
async function newTokens(): Promise<Record<string, Client>> {
  const tokens = SCOPES.map(async (scope) => {
    const authorization = `Bearer ${(await newToken(scope)).token}`;
    return [tokenWith(scope), world.anyone.with({ authorization })] as const;
  });
  return Object.fromEntries(await Promise.all(tokens));
}

let world: World;
let callers: Record<string, Client>;
/** Existing values for the parameters of paths, by the path up to the parameter, and for queries and bodies. */
let things: Record<string, string>;

beforeAll(async () => {
  // Whoever may look into a chart is told that it is not there, by a repository that is.
  world = await startWorld({ env: { BINNACLE_CHART_HOSTS: "127.0.0.1" }, clouds: { aws: WELCOMING_CLOUD } });
  const { admin: superuser, anyone } = world;
  const { kysely: db } = world.database;
  const [org, elsewhere] = [await world.org(), await world.org()];
  // The cluster also keeps the organization from being deleted by the one who may.
  const cluster = await insertCluster(db, org);
  const project = await insertProject(db, org, cluster);
  const [viewer, editor] = [await world.person({ org }), await world.person({ org })];
  await bindRole(db, viewer.id, "viewer", { cluster });
  await bindRole(db, editor.id, "editor", { cluster });

  callers = {
    nobody: anyone,
    outsider: (await world.person()).api,
    "admin elsewhere": (await world.person({ org: elsewhere, role: "admin" })).api,
    member: (await world.person({ org })).api,
    viewer: viewer.api,
    editor: editor.api,
    admin: (await world.person({ org, role: "admin" })).api,
    superuser: superuser.api,
    ...(await newTokens()),
  };

  const bystander = await world.person({ org });
  const limit = await superuser.api.post("/tier/free/rate_limit", { path: "/nowhere", limit: 1, period: 1 });
  const addon = definitionId("postgresql");
  const instance = { name: "here-already", project_id: project, addon_definition_id: addon };
  const namespace = `project-${project}`;
  const app = {
    name: "here-already",
    project_id: project,
    components: [{ name: "web", workload_spec: {}, secrets: { API_KEY: SECRETS.app } }],
  };
  await superuser.api.post("/apps", app);
  const deployed = await superuser.api.get(`/apps/${namespace}/${app.name}/deployments?project_id=${project}`);
  const addonInstance = (await superuser.api.post("/addon-instances", { ...instance, name: "attached" })).body.id;
  const [leaving, grantee] = [await insertProject(db, org, cluster), await world.person({ org })];
  const pulling = { name: "here-already", server_url: "ghcr.io", username: "robot", password: SECRETS.registry };
  const pullSecret = async (place: string) => (await superuser.api.post(`${place}/registry-secrets`, pulling)).body.id;
  const privateCharts = {
    name: "here-already",
    url: "https://here.example.com",
    username: "robot",
    password: SECRETS.charts,
  };
  const chartRepository = (await superuser.api.post(`/orgs/${org}/chart-repositories`, privateCharts)).body.id;
  // It is in use, so that nobody who may deletes it.
  const credential = await storedCredential(superuser.api, org);
  const provisioned = await provisionedCluster(superuser.api, org, credential);
  const operatorUpgrade = newId();
  const times = { created_at: new Date(), updated_at: new Date() };
  const asked = { to_version: "0.1.0", batch_size: 1, stop_on_failure: true };
  const ended = { status: "succeeded", cancel_requested_at: null, finished_at: null } as const;
  await db
    .insertInto("operator_upgrades")
    .values({ id: operatorUpgrade, org_id: org, digest: null, created_by: null, ...asked, ...ended, ...times })
    .execute();
  things = {
    "/addon-definitions/{id}": addon,
    "/addon-instances/{id}": (await superuser.api.post("/addon-instances", instance)).body.id,
    "/apps/{namespace}": namespace,
    "/apps/{namespace}/{name}": app.name,
    "/apps/{namespace}/{name}/attach-addon/{addon_instance_id}": addonInstance,
    "/apps/{namespace}/{name}/components/{component}": "web",
    "/apps/{namespace}/{name}/components/{component}/secrets/{key}": "API_KEY",
    "/apps/{namespace}/{name}/deployments/{deployment_id}": deployed.body.data[0].deployment_id,
    "/apps/{namespace}/{name}/runs/{run_id}": deployed.body.data[0].deployment_id,
    "/auth/cli/device/{user_code}": "BCDF-GHJK",
    "/bundles/{version}": "1.3",
    "/bundles/{version}/diff/{other}": "1.4",
    "/cli-tokens/{id}": (await newToken("clusters:read")).id,
    "/clusters/{id}": cluster,
    "/clusters/{id}/nodes/{name}": "agent-1",
    "/clusters/{id}/registry-secrets/{secret_id}": await pullSecret(`/clusters/${cluster}`),
    "/credentials/{id}": credential,
    "/orgs/{id}": org,
    "/orgs/{id}/chart-repositories/{repository_id}": chartRepository,
    "/orgs/{id}/members/{user_id}": bystander.id,
    "/orgs/{org_id}": org,
    "/orgs/{org_id}/operator-upgrades/{id}": operatorUpgrade,
    "/projects/{id}": leaving,
    "/projects/{id}/registry-secrets/{secret_id}": await pullSecret(`/projects/${leaving}`),
    "/provisioning-jobs/{id}": provisioned.provisioning_job_id,
    "/sessions/{id}": (await bystander.api.get("/sessions")).body.data[0].id,
    "/stack-templates/from-app/{namespace}": namespace,
    "/stack-templates/from-app/{namespace}/{name}": app.name,
    "/stack-templates/{namespace}": namespace,
    "/stack-templates/{namespace}/{name}": await someTemplate(superuser.api, org, namespace),
    "/tasks/task/{id}": (await superuser.api.post("/tasks/task", { kind: "ping" })).body.id,
    "/tier/{tier_name}": "free",
    "/tier/{tier_name}/rate_limit/{id}": limit.body.id,
    "/user/{id}": bystander.id,
    "?against": deployed.body.data[0].deployment_id,
    "?binding_id": await bindRole(db, grantee.id, "viewer", { project: leaving }),
    "?name": "nothing",
    "?org_id": org,
    "?project_id": project,
    "?q": "here",
    "?repo": world.url,
    "body.addon_instance_id": addonInstance,
    "body.cluster_id": cluster,
    "body.project_id": project,
    "body.user_id": grantee.id,
  };
});
afterAll(() => world?.stop());

function thing(name: string): string {
  const id = things[name];
  if (!id) throw new Error(`Say in things what ${name} stands for.`);
  return id;
}

/** The address with everything filled in that has to be. */
function addressOf({ path, query }: Route["operation"]): string {
  const filled = path.replace(/\{\w+\}/g, (name, at: number) => thing(path.slice(0, at) + name));
  const {
    required = [],
    properties = {},
    anyOf: [alternative] = [],
  } = (query ?? {}) as {
    required?: string[];
    properties?: Record<string, object>;
    anyOf?: { required: string[] }[];
  };
  const asked = [...required, ...(alternative?.required ?? [])].filter(
    (name) => !("default" in (properties[name] ?? {})),
  );
  const values = asked.map((name): [string, string] => [name, thing(`?${name}`)]);
  return values.length === 0 ? filled : `${filled}?${new URLSearchParams(values).toString()}`;
}

function sendingOf({ body, bodyType }: Route["operation"]): Sending {
  if (!body) return {};
  const given = exampleOf(body) as Record<string, unknown>;
  const example = Object.fromEntries(
    Object.entries(given).map(([field, value]) => [field, things[`body.${field}`] ?? value]),
  );
  if (bodyType === "multipart/form-data") return { parts: example as Record<string, string> };
  return bodyType === "application/x-www-form-urlencoded"
    ? { form: example as Record<string, string> }
    : { body: example };
}

test("[CT41] no read that the scope `read` opens contains a secret value", async () => {
  const reads = routes.filter(({ operation: { id, successType } }) => OPEN_TO_READ.includes(id) && !successType);
  const statuses = await Promise.all(
    reads.map(async ({ operation }) => {
      const { status, body } = await (callers[tokenWith("read")] as Client).get(addressOf(operation));
      const shown = Object.values(SECRETS).filter((secret) => JSON.stringify(body).includes(secret));
      expect({ id: operation.id, shown }).toEqual({ id: operation.id, shown: [] });
      return status;
    }),
  );
  // Few have nothing to read: a chart that is not there, what an operator is asked for, what was removed.
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(reads.length - 9);
});

describe("every route lets pass exactly those it names", () => {
  test.each(routes.map((route) => [`${route.operation.method} ${route.operation.path}`, route] as const))(
    "[AC1] the route %s lets exactly those callers pass that it names",
    async (_, route) => {
      const { operation } = route;
      const [address, sending] = [addressOf(operation), sendingOf(operation)];
      // Tokens that revoke themselves are not those of the other routes.
      const everybody = FOR_TOKENS_ONLY.includes(operation.id) ? { ...callers, ...(await newTokens()) } : callers;
      const verdicts = Object.entries(everybody).map(async ([name, api]) => {
        return [name, verdictOf(await api.send(operation.method, address, sending))] as const;
      });
      expect(Object.fromEntries(await Promise.all(verdicts))).toEqual(expectedOf(route));
    },
  );
});

describe("which operations a CLI token opens", () => {
  const ids = routes.map(({ operation }) => operation.id);

  test("[AC17] every operation is decided by hand to be open or closed to CLI tokens", () => {
    const decided = [...OPEN_TO_READ, ...OPEN_TO_WRITE, ...CLOSED, ...PUBLIC, ...FOR_TOKENS_ONLY];
    expect(decided.toSorted(), "Add new operations to a list in test/rules/cli-access.ts").toEqual(ids.toSorted());
  });

  test("[AC17] the contract opens to each scope the operations that were decided", () => {
    const opened = (scope: string) =>
      routes.flatMap(({ operation }) => (acceptedScopes(operation).includes(scope as never) ? [operation.id] : []));
    const expected = Object.entries(OPEN_TO).map(([scope, of]) => [scope, of.toSorted()]);
    expect(SCOPES.map((scope) => [scope, opened(scope).toSorted()])).toEqual(expected);
    expect(Object.keys(CLOSED_TO_READ_AND_WRITE).toSorted()).toEqual(CLOSED.toSorted());
  });

  test("[AC17] the scope `read` opens nothing but reads, and `write` opens no read", () => {
    const readings = (of: readonly string[]) =>
      new Set(routes.flatMap(({ operation }) => (of.includes(operation.id) ? [isReading(operation)] : [])));
    expect([readings(OPEN_TO_READ), readings(OPEN_TO_WRITE)]).toEqual([new Set([true]), new Set([false])]);
    const upgraded = routes.filter(({ operation }) => operation.method === "GET" && !isReading(operation));
    expect(upgraded.map(({ operation }) => operation.id)).toEqual(["execComponent"]);
  });
});

test("[AC2] the table of routes in docs/spec/routes.md is written from the routes", () => {
  const file = new URL("../../docs/spec/routes.md", import.meta.url);
  if (process.env["UPDATE"]) writeFileSync(file, routeTable(routes));
  expect(readFileSync(file, "utf8"), "Bring it up to date: UPDATE=1 vitest run test/rules/access.test.ts").toBe(
    routeTable(routes),
  );
});

/** They change memberships and role bindings, or show them as such. */
const STORES_OF_ROLES = [
  "accounts/own-record.store.ts",
  "accounts/user.store.ts",
  "bindings/binding.store.ts",
  "orgs/org.store.ts",
];
const READS_ROLES = /(?:from|join|into|table)\W{1,2}(?:memberships|role_bindings)\b/i;

test("[AC14] no store outside of access/ reads roles to decide who sees what", () => {
  const root = new URL("../../packages/server/src/", import.meta.url);
  const sources = globSync("**/*.ts", { cwd: root.pathname }).filter((path) => !/\.(test|fixture)\.ts$/.test(path));
  const readers = sources.filter((path) => READS_ROLES.test(readFileSync(new URL(path, root), "utf8")));
  const elsewhere = readers.filter((path) => !/^(access|database\/migrations)\//.test(path));
  expect(elsewhere.sort()).toEqual(STORES_OF_ROLES);
  expect(readers).toContain("access/visibility.store.ts");
});
