import { randomBytes } from "node:crypto";
import {
  AddonBody,
  AppBody,
  DEFAULT_POLICY,
  type DesiredKind,
  ProjectBody,
  RegistrySecretsBody,
} from "@binnacle/contract";
import { startWorld } from "@binnacle/world";
import { Kysely, PostgresDialect } from "kysely";
import { afterAll, expect, test } from "vitest";
import { POSTGRESQL } from "../addons/addon.fixture.ts";
import { openShop, type Shop, someName, WEB } from "../apps/app.fixture.ts";
import { type Catalog, loadCatalog } from "../catalog/catalog.adapter.ts";
import type { Tables } from "../database/tables.ts";
import type { Queries } from "../database/transaction.ts";
import type { PendingRow } from "../dispatch/kind.ts";
import { dispatchedKinds } from "../dispatched-kinds.ts";
import { Fault } from "../fault.ts";
import { compileCheck } from "../http/validation.ts";
import { newId } from "../id.adapter.ts";
import { listeningLog } from "../jobs/jobs.fixture.ts";
import { createVault, parseVaultKeys } from "../vault/vault.ts";
import { createBodySource } from "./bodies.runner.ts";

const VAULT_KEYS = `test:${randomBytes(32).toString("base64")}`;

let log: ReturnType<typeof listeningLog>;

const world = await startWorld({ env: { BINNACLE_ROLES: "api", BINNACLE_VAULT_KEYS: VAULT_KEYS } });
const catalog = await loadCatalog();
afterAll(() => world.stop());

function source(options: { db?: Queries; addons?: Catalog["addons"]; vaultKeys?: string } = {}) {
  const { db = world.database.kysely, addons = catalog.addons, vaultKeys = VAULT_KEYS } = options;
  log = listeningLog();
  return createBodySource({ db, kinds: dispatchedKinds(createVault(parseVaultKeys(vaultKeys)), { addons }), log });
}

/** A project with something of every kind in it, and with secrets of every kind. */
async function furnishedProject(shop: Shop) {
  const { api } = world.admin;
  const project = (await api.post("/projects", { name: someName(), cluster_id: shop.cluster })).body;
  const components = [
    { ...WEB, secrets: { API_KEY: "app secret" } },
    { name: "db", type: "addon", addon_spec: { definition_id: POSTGRESQL } },
  ];
  const app = (await api.post("/apps", { name: someName(), project_id: project.id, components })).body;
  const values = { auth: { password: "addon secret" } };
  const addon = { name: someName(), project_id: project.id, addon_definition_id: POSTGRESQL, values };
  const instance = (await api.post("/addon-instances", addon)).body;
  const registry = { name: "hub", server_url: "ghcr.io", username: "robot", password: "registry secret" };
  await api.post(`/projects/${project.id}/registry-secrets`, registry);
  return { project, app, instance };
}

const pendingRows = (clusterId: string): Promise<PendingRow[]> =>
  world.database.kysely.selectFrom("desired_resources").selectAll().where("cluster_id", "=", clusterId).execute();

/** Nothing of it is refused. */
async function bodiesOf(bodies: ReturnType<typeof source>, rows: readonly PendingRow[]) {
  return [...(await bodies.bodiesOf(rows))].map(([row, body]) => {
    if (body instanceof Fault) throw body;
    return [row, body] as const;
  });
}

const FORMS: Record<DesiredKind, ReturnType<typeof compileCheck>> = {
  project: compileCheck({ body: ProjectBody }),
  app: compileCheck({ body: AppBody }),
  addon_instance: compileCheck({ body: AddonBody }),
  registry_secrets: compileCheck({ body: RegistrySecretsBody }),
};

test("[DS7] every resource of a cluster gets a body that is valid by its schema, with secrets only in the secret part", async () => {
  const shop = await openShop(world);
  const { project, app, instance } = await furnishedProject(shop);
  const rows = await pendingRows(shop.cluster);
  const bodies = await bodiesOf(source(), rows);
  const of = (kind: DesiredKind) => bodies.find(([row]) => row.kind === kind)?.[1];
  expect(rows.map(({ kind }) => kind).toSorted()).toEqual(["addon_instance", "app", "project", "registry_secrets"]);
  for (const [row, body] of bodies) {
    expect(FORMS[row.kind]({ path: {}, query: {}, cookie: {}, body: structuredClone(body) })).toEqual([]);
    expect(JSON.stringify(body.spec)).not.toMatch(/(app|addon|registry) secret/);
  }
  expect(of("project")?.spec).toEqual({
    org_id: shop.org,
    name: project.name,
    namespace: project.name,
    policy: DEFAULT_POLICY,
  });
  expect(of("app")).toMatchObject({
    spec: { name: app.name, components: [{ name: "web" }, { name: "db", release: { chart: { name: "postgres" } } }] },
    secret: { secrets: { web: { API_KEY: "app secret" } }, values: { db: { auth: { username: "app" } } } },
  });
  expect(of("addon_instance")).toMatchObject({
    spec: { name: instance.name, chart: { version: instance.chart_version } },
    secret: { values: { auth: { username: "app", password: "addon secret" }, persistence: { enabled: true } } },
  });
  expect(of("registry_secrets")).toMatchObject({
    spec: { names: ["hub-registry-project"] },
    secret: { registries: [{ server: "ghcr.io", password: "registry secret" }] },
  });
  expect(log.warn).not.toHaveBeenCalled();
});

test("[DS1] an empty project has a body with organization, name and namespace, and an empty set of pull secrets", async () => {
  const shop = await openShop(world);
  const { body } = await world.admin.api.post("/projects", { name: someName(), cluster_id: shop.cluster });
  const bodies = await source().bodiesOf(await pendingRows(shop.cluster));
  expect(Object.fromEntries([...bodies].map(([{ kind }, sent]) => [kind, sent]))).toEqual({
    project: {
      spec: { org_id: shop.org, name: body.name, namespace: body.name, policy: DEFAULT_POLICY },
      secret: {},
    },
    registry_secrets: { spec: { project_id: body.id, namespace: body.name, names: [] }, secret: { registries: [] } },
  });
});

test("[DS7] the bodies of several clusters take as many queries as those of one, and each cluster gets its own", async () => {
  const [one, other] = [await openShop(world), await openShop(world)];
  for (const { cluster } of [one, other]) {
    const secret = { name: "mirror", server_url: "quay.io", username: "robot", password: cluster };
    await world.admin.api.post(`/clusters/${cluster}/registry-secrets`, secret);
  }
  await furnishedProject(one);
  for (let count = 0; count < 2; count++) await furnishedProject(other);
  const queries: string[] = [];
  const dialect = new PostgresDialect({ pool: world.database.pool });
  const db = new Kysely<Tables>({ dialect, log: ({ query }) => void queries.push(query.sql) });
  const bodies = source({ db });
  await bodies.bodiesOf(await pendingRows(one.cluster));
  const ofOne = queries.splice(0).length;
  const ofBoth = await bodiesOf(bodies, [...(await pendingRows(one.cluster)), ...(await pendingRows(other.cluster))]);
  expect([queries.length, ofOne]).toEqual([7, 7]);
  const inherited = ofBoth.flatMap(([row, body]) =>
    "registries" in body.secret
      ? body.secret.registries
          .filter(({ name }) => name.endsWith("cluster"))
          .map(({ password }) => [row.cluster_id, password])
      : [],
  );
  expect(inherited.length).toBeGreaterThan(2);
  for (const [cluster, password] of inherited) expect(password).toBe(cluster);
  queries.splice(0);
  expect((await bodies.bodiesOf([])).size).toBe(0);
  expect(queries).toEqual([]);
});

test("[DS8] a removed row has no body, and neither has a row whose resource is gone", async () => {
  const shop = await openShop(world);
  await furnishedProject(shop);
  const rows = await pendingRows(shop.cluster);
  const removed = rows.map((row) => ({ ...row, removed_at: new Date() }));
  const strangers = rows.map((row) => ({ ...row, resource_id: newId() }));
  expect((await source().bodiesOf([...removed, ...strangers])).size).toBe(0);
});

const kindsWithBody = async (bodies: ReturnType<typeof source>, rows: PendingRow[]) =>
  [...(await bodies.bodiesOf(rows)).keys()].map(({ kind }) => kind).toSorted();

test("[DS9] a row whose definition has left the catalog is refused, and that is logged once", async () => {
  const shop = await openShop(world);
  await furnishedProject(shop);
  const rows = await pendingRows(shop.cluster);
  const bodies = source({ addons: [] });
  for (let time = 0; time < 3; time++) {
    const made = await bodies.bodiesOf(rows);
    const refused = [...made].filter(([, body]) => body instanceof Fault).map(([{ kind }]) => kind);
    expect(refused.toSorted()).toEqual(["addon_instance", "app"]);
    expect(made.size).toBe(4);
  }
  expect(log.warn.mock.calls.map(([{ kind }]) => kind).toSorted()).toEqual(["addon_instance", "app"]);
});

test("[DS9] a row whose secret cannot be decrypted is left out, and that is logged once without its content", async () => {
  const shop = await openShop(world);
  await furnishedProject(shop);
  const rows = await pendingRows(shop.cluster);
  const bodies = source({ vaultKeys: `test:${randomBytes(32).toString("base64")}` });
  for (let time = 0; time < 3; time++) expect(await kindsWithBody(bodies, rows)).toEqual(["project"]);
  expect(log.warn).toHaveBeenCalledTimes(3);
  const { rows: sealed } = await world.database.pool.query<{ sealed_value: string }>(
    "select sealed_value from app_secrets",
  );
  const words = log.warn.mock.calls
    .map(([fields, text]) => `${JSON.stringify(fields)} ${fields.err} ${text}`)
    .join("\n");
  expect(words).not.toMatch(/(app|addon|registry) secret/);
  for (const { sealed_value } of sealed) expect(words).not.toContain(sealed_value);
});
