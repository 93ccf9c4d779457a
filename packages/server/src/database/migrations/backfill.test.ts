import type { ComponentSpec } from "@binnacle/contract";
import { type FreshDatabase, freshDatabase } from "@binnacle/world/database";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { insertCluster } from "../../access/bindings.fixture.ts";
import { firstDeployment, someApp, WEB, workload } from "../../apps/app.fixture.ts";
import { insertionOf } from "../../apps/app.store.ts";
import { dispatchResources } from "../../dispatch/dispatch.store.ts";
import { newId } from "../../id.adapter.ts";
import { runTogether } from "../prepared.adapter.ts";
import { inTransaction, type Queries } from "../transaction.ts";
import { templateScope } from "./0005_template_scope.ts";
import { ingressHosts } from "./0006_ingress_hosts.ts";
import { noQuota } from "./0026_no_quota.ts";
import { credentialSettings } from "./0035_credential_settings.ts";

let fresh: FreshDatabase;
let db: Queries;
beforeAll(async () => {
  fresh = await freshDatabase();
  db = fresh.database.kysely;
});
afterAll(() => fresh?.drop());

async function org(): Promise<string> {
  const id = newId();
  const times = { created_at: new Date(), updated_at: new Date() };
  await db
    .insertInto("orgs")
    .values({ id, name: id, slug: id, settings: "{}", ...times })
    .execute();
  return id;
}

async function project(orgId: string, namespace: string) {
  const [id, cluster] = [newId(), await insertCluster(db, orgId)];
  const times = { created_at: new Date(), updated_at: new Date() };
  await db
    .insertInto("projects")
    .values({ id, org_id: orgId, cluster_id: cluster, name: namespace, namespace, ...times })
    .execute();
  return { id, cluster };
}

async function oldTemplate(orgId: string, namespace: string, scope: string): Promise<string> {
  const id = newId();
  await sql`insert into stack_templates (id, org_id, namespace, name, version, scope, components, parameters, created_at, updated_at)
    values (${id}, ${orgId}, ${namespace}, ${`t-${id}`}, '1.0.0', ${scope}, '[]', '[]', now(), now())`.execute(db);
  return id;
}

test("[TP48] the migration gives templates the project or cluster that their namespace says, and none where it says several", async () => {
  await sql`alter table stack_templates drop column project_id, drop column cluster_id`.execute(db);
  await sql`drop index projects_by_namespace`.execute(db);
  const [mine, theirs] = [await org(), await org()];
  const shop = await project(mine, "shop");
  await project(theirs, "shop");
  await project(mine, "twice");
  await project(mine, "twice");
  const expected = new Map<string, [string | null, string | null]>([
    [await oldTemplate(mine, "shop", "project"), [shop.id, null]],
    [await oldTemplate(mine, "shop", "cluster"), [null, shop.cluster]],
    [await oldTemplate(mine, "shop", "organization"), [null, null]],
    [await oldTemplate(mine, "shop", "global"), [null, null]],
    [await oldTemplate(mine, "twice", "project"), [null, null]],
    [await oldTemplate(mine, "twice", "cluster"), [null, null]],
    [await oldTemplate(mine, "nowhere", "project"), [null, null]],
    [await oldTemplate(mine, "nowhere", "cluster"), [null, null]],
  ]);
  await templateScope.up(db);
  const rows = await db.selectFrom("stack_templates").select(["id", "project_id", "cluster_id"]).execute();
  expect(new Map(rows.map(({ id, project_id, cluster_id }) => [id, [project_id, cluster_id]]))).toEqual(expected);
});

test("[AP70] the migration gives apps the hosts that they declare, also where two projects share one", async () => {
  await sql`drop table ingress_hosts`.execute(db);
  const org_id = await org();
  const [one, other] = [await project(org_id, "one"), await project(org_id, "other")];
  const at = (name: string, host: string) => workload(name, { workload_spec: { ingress: { host } } });
  const app = async ({ id: project_id, cluster: cluster_id }: typeof one, components: ComponentSpec[]) => {
    const id = newId();
    const app = someApp({ id, org_id, cluster_id, project_id, name: id, components });
    await inTransaction(db, (tx) => runTogether(tx, [insertionOf(app, firstDeployment(app))]));
    return (host: string) => ({ app_id: id, host, cluster_id, project_id });
  };
  const two = await app(one, [at("a", "a.example.com"), at("b", "*.b.example.com"), at("c", "a.example.com"), WEB]);
  const same = await app(other, [at("a", "a.example.com")]);
  await app(one, [WEB]);
  await app(one, []);
  await ingressHosts.up(db);
  const rows = await db.selectFrom("ingress_hosts").selectAll().orderBy("app_id").orderBy("host").execute();
  expect(rows).toEqual([two("*.b.example.com"), two("a.example.com"), same("a.example.com")]);
});

test("[PR72] the migration removes a project's quota, and tells its cluster of it and of no other project", async () => {
  const org_id = await org();
  const [capped, free] = [await project(org_id, "capped"), await project(org_id, "free")];
  for (const { id, cluster } of [capped, free]) {
    const dispatched = { kind: "project" as const, resourceId: id, key: `project/${id}` };
    await inTransaction(db, (tx) => dispatchResources(tx, cluster, [dispatched], new Date()));
  }
  await sql`update projects set quota = '{"pods": 1}' where id = ${capped.id}`.execute(db);
  await noQuota.up(db);
  const { rows } = await sql<{ resource_id: string; quota: object | null; generation: number; is_pending: boolean }>`
    select resource_id, quota, generation::int, desired.revision = clusters.revision and clusters.revision = 2 as is_pending
    from desired_resources desired join projects on projects.id = resource_id
      join clusters on clusters.id = desired.cluster_id
    where projects.org_id = ${org_id}`.execute(db);
  expect(new Map(rows.map(({ resource_id, ...row }) => [resource_id, row]))).toEqual(
    new Map([
      [capped.id, { quota: null, generation: 2, is_pending: true }],
      [free.id, { quota: null, generation: 1, is_pending: false }],
    ]),
  );
});

test("[CR293] the migration keeps the id of a credential's key and its sealed secret", async () => {
  await sql`alter table cloud_credentials drop column settings`.execute(db);
  const [org_id, keyed, bare] = [await org(), newId(), newId()];
  for (const [id, keyId, secret] of [
    [keyed, "AKIAEXAMPLE", "sealed"],
    [bare, null, null],
  ]) {
    await sql`insert into cloud_credentials (id, org_id, name, provider, access_key_id, sealed_secret, created_at, updated_at)
      values (${id}, ${org_id}, ${id}, 'aws', ${keyId}, ${secret}, now(), now())`.execute(db);
  }
  await credentialSettings.up(db);
  const rows = await db.selectFrom("cloud_credentials").select(["id", "settings", "sealed_secret"]).execute();
  expect(new Map(rows.map(({ id, ...row }) => [id, row]))).toEqual(
    new Map([
      [keyed, { settings: { access_key_id: "AKIAEXAMPLE" }, sealed_secret: "sealed" }],
      [bare, { settings: {}, sealed_secret: null }],
    ]),
  );
});
