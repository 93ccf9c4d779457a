import { type Client, startWorld } from "@binnacle/world";
import { sql } from "kysely";
import { afterAll, expect, test } from "vitest";
import { insertCluster, insertProject } from "../access/bindings.fixture.ts";
import { insertInstance, openShop } from "../apps/app.fixture.ts";
import { auditEntries } from "../audit/audit.store.ts";
import { connectOperator } from "../clusters/clusters.fixture.ts";
import { inTransaction } from "../database/transaction.ts";

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
const shop = await openShop(world);
const { kysely: db } = world.database;
const [east, west] = [await insertCluster(db, shop.org), await insertCluster(db, shop.org)];
const rename = (id: string, name: string) => db.updateTable("clusters").set({ name }).where("id", "=", id).execute();
await rename(east, "Prod_East 50%");
await rename(west, "prod-west");
await connectOperator(db, west, world.clock.now(), 600_000);
afterAll(() => world.stop());

async function idsIn(path: string, api: Client = world.admin.api): Promise<string[]> {
  const { status, body } = await api.get(path);
  expect({ path, status }).toEqual({ path, status: 200 });
  expect(body.total_count).toBe(body.data.length);
  return body.data.map(({ id }: { id: string }) => id);
}

test("[PG6] [PG7] clusters are filtered by their status and their name", async () => {
  const clusters = (filter: string) => idsIn(`/orgs/${shop.org}/clusters?${filter}`, shop.member.api);
  expect(await clusters("status=connected")).toEqual([west]);
  expect(await clusters("status=connected&status=pending")).toEqual([west, east, shop.cluster]);
  expect(await clusters("status=pending&search=PROD")).toEqual([east]);
  expect(await clusters("search=prod")).toEqual([west, east]);
  expect(await clusters("search=d_east 50%25")).toEqual([east]);
  expect(await clusters("search=")).toHaveLength(3);
  for (const wildcard of ["%25w", "prod%25west", "prod.west", "p*"])
    expect(await clusters(`search=${wildcard}`)).toEqual([]);
  const page = await shop.member.api.get(`/orgs/${shop.org}/clusters?search=prod&items_per_page=1&page=2`);
  expect(page.body).toMatchObject({ data: [{ id: east }], total_count: 2, has_more: false });
});

test("[PG6] [PG7] projects are filtered by organization, lifecycle and name, as far as they are visible", async () => {
  const { kysely: db } = world.database;
  const ready = await insertProject(db, shop.org, west);
  const columns = { lifecycle: "ready" as const, name: "pay-roll" };
  await db.updateTable("projects").set(columns).where("id", "=", ready).execute();
  const elsewhere = await world.org();
  await insertProject(db, elsewhere, await insertCluster(db, elsewhere));
  const projects = (filter: string, api?: Client) => idsIn(`/projects?${filter}`, api);
  expect(await projects(`org_id=${shop.org}`)).toEqual([ready, shop.project]);
  expect(await projects(`org_id=${shop.org}&lifecycle=ready`)).toEqual([ready]);
  expect(await projects(`org_id=${shop.org}&lifecycle=ready&lifecycle=pending`)).toEqual([ready, shop.project]);
  expect(await projects(`search=PAY-&cluster_id=${west}`)).toEqual([ready]);
  expect(await projects(`search=pay-&cluster_id=${east}`)).toEqual([]);
  expect(await projects("search=pay_roll")).toEqual([]);
  expect(await projects(`org_id=${shop.org}`, shop.viewer.api)).toEqual([shop.project]);
  expect(await projects("search=pay", shop.viewer.api)).toEqual([]);
});

test("[PG6] addon instances are filtered by phase and name", async () => {
  const [ready, leaving] = [
    await insertInstance(world, shop, "orders-db"),
    await insertInstance(world, shop, "cache", "deleting"),
  ];
  const instances = (filter: string, api?: Client) => idsIn(`/addon-instances?org_id=${shop.org}${filter}`, api);
  expect(await instances("&phase=ready")).toEqual([ready]);
  expect(await instances("&phase=deleting&phase=ready", shop.viewer.api)).toEqual([leaving, ready]);
  expect(await instances("&search=ORDERS")).toEqual([ready]);
  expect(await instances(`&search=${shop.namespace}&phase=deleting`)).toEqual([leaving]);
  expect(await instances("&search=orders", shop.member.api)).toEqual([]);
});

test("[PG6] [PG7] users are found by name, username and email address, and never beyond those who are visible", async () => {
  const { id, username, email } = shop.viewer;
  const found = (text: string, api?: Client) => idsIn(`/users?search=${encodeURIComponent(text)}`, api);
  expect(await found(username.toUpperCase())).toEqual([id]);
  expect(await found(email, shop.editor.api)).toEqual([id]);
  expect(await found(email, shop.stranger.api)).toEqual([]);
  expect(await found("administrator")).toEqual([world.admin.id]);
  expect(await found("%")).toEqual([]);
});

test("[PG8] the audit log is filtered by action, person, resource and time", async () => {
  const org = await world.org();
  const ada = await world.person({ org, role: "admin" });
  world.clock.advance(60_000);
  const middle = world.clock.now().toISOString();
  await ada.api.put(`/orgs/${org}`, { name: `renamed ${org}` });
  const actions = async (filter: string) => {
    const { status, body } = await ada.api.get(`/orgs/${org}/audit-log?${filter}`);
    expect({ filter, status }).toEqual({ filter, status: 200 });
    expect(body.total_count).toBe(body.data.length);
    return body.data.map(({ action }: { action: string }) => action);
  };
  const all = await actions("");
  expect(all).toContain("org.create");
  expect(await actions("action=org.u")).toEqual(["org.update"]);
  expect(await actions("action=org.")).toEqual(all.filter((action: string) => action.startsWith("org.")));
  expect(await actions("action=org_u")).toEqual([]);
  expect(await actions(`actor_id=${ada.id}&action=org`)).toEqual(["org.update"]);
  expect(await actions(`since=${middle}`)).toEqual(["org.update"]);
  expect(await actions(`until=${middle}`)).toEqual(all.slice(1));
  expect(await actions(`resource_type=org&resource_id=${org}&since=${middle}`)).toEqual(["org.update"]);
  expect(await actions(`resource_id=${ada.id}&action=org.create`)).toEqual([]);
});

test("[PG22] [PG23] the audit log is read behind its cursor while entries come, and what a filter leaves is counted up to a limit", async () => {
  const org = await world.org();
  await sql`
    insert into audit_log (id, at, org_id, actor_id, via, action, resource_type, changes)
    select gen_random_uuid(), ${world.clock.now()}::timestamptz - made * interval '1 second', ${org}, ${world.admin.id}, 'user',
      case when made = 10100 then 'app.rare' else 'app.create' end, 'app', '{}' from generate_series(1, 10100) made
  `.execute(db);
  const read = async (filter: string) => (await world.admin.api.get(`/orgs/${org}/audit-log?${filter}`)).body;
  expect(await read("action=app.&items_per_page=1")).toMatchObject({ total_count: 10_000, total_capped: true });
  expect(await read("action=app.r")).toMatchObject({ total_count: 1, total_capped: false, has_more: false });
  expect(await read("items_per_page=1")).toMatchObject({ total_count: 10_101, total_capped: false });

  const since = new Date(world.clock.now().getTime() - 250_500).toISOString();
  const ids: string[] = [];
  let cursor: string | null = "";
  for (let pages = 1; cursor !== null; pages += 1) {
    const page = await read(`since=${since}&action=app.&items_per_page=100${cursor && `&cursor=${cursor}`}`);
    expect(page).toMatchObject({ page: pages, total_count: 249 + pages, has_more: page.next_cursor !== null });
    ids.push(...page.data.map(({ id }: { id: string }) => id));
    cursor = page.next_cursor;
    // An entry that comes meanwhile moves no row to another page.
    await sql`insert into audit_log (id, at, org_id, via, action, resource_type, changes)
      values (gen_random_uuid(), ${world.clock.now()}, ${org}, 'user', 'app.create', 'app', '{}')`.execute(db);
  }
  expect([ids.length, new Set(ids).size]).toEqual([250, 250]);
  const { status, body } = await world.admin.api.get(`/orgs/${org}/audit-log?cursor=${"z".repeat(33)}`);
  expect([status, body.detail[0].loc]).toEqual([422, ["query", "cursor"]]);
});

test("[PG8] a filter of the audit log is found by an index, however many other entries an organization has", async () => {
  const org = await world.org();
  await sql`
    insert into audit_log (id, at, org_id, via, action, resource_type, changes)
    select gen_random_uuid(), now() - made * interval '1 second', ${org}, 'user', 'app.create', 'app', '{}'
    from generate_series(1, 20000) made
  `.execute(db);
  await sql`analyze audit_log`.execute(db);
  const early = new Date(Date.now() - 19_900_000).toISOString();
  for (const filter of [
    { action: "tier." },
    { resource_type: "tier" },
    { until: early },
    { since: new Date().toISOString() },
  ]) {
    const read = await inTransaction(db, async (tx) => {
      await auditEntries(tx, org, filter, { limit: 51, offset: 0, behind: null }).execute();
      return (
        await sql<{ rows: number }>`
        select seq_tup_read + idx_tup_fetch as rows from pg_stat_xact_user_tables where relname = 'audit_log'`.execute(
          tx,
        )
      ).rows[0]?.rows;
    });
    expect({ filter, isFew: Number(read) < 1_000 }).toEqual({ filter, isFew: true });
  }
});

test.each([
  ["/projects?lifecycle=gone", ["query", "lifecycle", 0], "enum"],
  ["/projects?org_id=x", ["query", "org_id"], "uuid_parsing"],
  [`/projects?search=${"x".repeat(101)}`, ["query", "search"], "string_too_long"],
  ["/users?search=a%0Ab", ["query", "search"], "string_pattern_mismatch"],
  ["/addon-instances?org_id=ORG&phase=gone", ["query", "phase", 0], "enum"],
  ["/orgs/ORG/clusters?status=gone", ["query", "status", 0], "enum"],
  ["/orgs/ORG/audit-log?since=yesterday", ["query", "since"], "datetime_parsing"],
  ["/orgs/ORG/audit-log?actor_id=me", ["query", "actor_id"], "uuid_parsing"],
  ["/orgs/ORG/audit-log?action=%0A", ["query", "action"], "string_pattern_mismatch"],
])("[PG9] %s is a 422", async (path, loc, type) => {
  const { status, body } = await world.admin.api.get(path.replace("ORG", shop.org));
  expect({ status, detail: body.detail }).toMatchObject({ status: 422, detail: [{ loc, type }] });
});
