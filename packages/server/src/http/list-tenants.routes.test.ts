import { startWorld } from "@binnacle/world";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { openShop, type Shop, someName } from "../apps/app.fixture.ts";
import { insertAddonInstance, insertApp } from "../projects/contents.fixture.ts";

/** Without a worker, whose chores would wait for the same tables. */
const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
const { kysely: db } = world.database;
const busy = await openShop(world);
const other = await openShop(world);
afterAll(() => world.stop());

const MOST_BYTES = 4 * 1024 * 1024;
const ASKED = 3;
const SOON = { timeout: 20_000 };

/** The lists without pages that a tenant can make long. Each waits for a table with so many connections, which no guard reads. */
const LISTS = [
  {
    of: "exports",
    path: ({ project }: Shop) => `/projects/${project}/available-exports`,
    table: "addon_instances",
    connections: 2,
    refusal: 404,
  },
  {
    of: "secrets",
    path: ({ project }: Shop) => `/projects/${project}/secrets-overview`,
    table: "app_secrets",
    connections: 1,
    refusal: 404,
  },
  { of: "clusters", path: ({ org }: Shop) => `/orgs/${org}/fleet`, table: "apps", connections: 1, refusal: 403 },
  {
    of: "roles",
    path: ({ org }: Shop) => `/orgs/${org}/role-matrix`,
    table: "row_counts",
    connections: 1,
    refusal: 403,
  },
] as const;

const placeOf = ({ org, cluster, project, namespace }: Shop) => ({
  ...{ org_id: org, cluster_id: cluster, project_id: project, namespace },
});

/** An export and a secret. */
async function fillWithLittle(shop: Shop): Promise<void> {
  await insertAddonInstance(db, placeOf(shop), someName(), { exports: { host: "x" } });
  const app = await insertApp(db, placeOf(shop), someName());
  await sql`insert into app_secrets (id, app_id, component, key, sealed_value, updated_at)
    values (gen_random_uuid(), ${app}, 'web', 'TOKEN', 'x', now())`.execute(db);
}

/** More of everything than an answer has room for. */
async function fillWithMuch(shop: Shop): Promise<void> {
  const keys = Array.from({ length: 10 }, (_, index) => [`${"k".repeat(20_000)}_${index}`, "x"]);
  for (let made = 0; made < 25; made++)
    await insertAddonInstance(db, placeOf(shop), someName(), { exports: Object.fromEntries(keys) });
  const app = await insertApp(db, placeOf(shop), someName());
  await sql`insert into app_secrets (id, app_id, component, key, sealed_value, updated_at)
    select gen_random_uuid(), ${app}, 'many-' || component, key || repeat('k', 240), 'x', now()
    from generate_series(100, 199) component, generate_series(100, 299) key`.execute(db);
  await sql`insert into clusters (id, org_id, name, created_at, updated_at)
    select gen_random_uuid(), ${shop.org}, 'cluster-' || made, now(), now() from generate_series(1, 10001) made`.execute(
    db,
  );
  await sql`with crowd as (
      insert into users (id, name, username, email, password_hash, tier_name, created_at, updated_at)
      select gen_random_uuid(), 'Member ' || made, 'crowd-' || made, 'crowd-' || made || '@example.com', 'none', tier_name, now(), now()
      from users, generate_series(1, 60) made where id = ${shop.admin.id} returning id
    ), joined as (
      insert into memberships (org_id, user_id, role, created_at, updated_at) select ${shop.org}, id, 'member', now(), now() from crowd
    ), shops as (
      insert into projects (id, org_id, cluster_id, name, namespace, created_at, updated_at)
      select gen_random_uuid(), ${shop.org}, ${shop.cluster}, 'shop-' || made, 'shop-' || made, now(), now()
      from generate_series(1001, 1500) made returning id
    ) insert into role_bindings (id, user_id, project_id, role, created_at, updated_at)
    select gen_random_uuid(), crowd.id, shops.id, 'viewer', now(), now() from crowd, shops`.execute(db);
}

beforeAll(async () => {
  await fillWithLittle(other);
  await fillWithMuch(busy);
});

async function waitingFor(table: string): Promise<number | undefined> {
  const { rows } = await sql<{ waiting: number }>`
    select count(*)::int as waiting from pg_locks where relation = ${table}::regclass and not granted`.execute(db);
  return rows[0]?.waiting;
}

test.each(LISTS)(
  "[PG5402] while the $of of one organization are read and waited for, a member of another reads theirs at once and none of the others",
  async ({ path, table, connections, refusal }) => {
    const whole = await other.admin.api.get(path(other));
    const holder = await world.database.pool.connect();
    onTestFinished(async () => {
      await holder.query("rollback");
      holder.release();
    });
    await holder.query(`begin; lock table ${table}`);
    const asked = Array.from({ length: ASKED }, () => busy.admin.api.get(path(busy)));
    await vi.waitFor(async () => expect(await waitingFor(table)).toBe(connections), SOON);
    expect((await other.member.api.get(path(busy))).status).toBe(refusal);
    // Meanwhile the further lists of the user would have come as far as the first.
    for (let turn = 0; turn < 20; turn++) {
      expect((await other.member.api.get("/user/me")).status).toBe(200);
      expect(await waitingFor(table)).toBe(connections);
    }
    // It is not behind the others: it has its connections, and waits for the table as they do.
    const own = other.admin.api.get(path(other));
    await vi.waitFor(async () => expect(await waitingFor(table)).toBe(2 * connections), SOON);
    expect((await other.admin.api.get("/user/me")).status).toBe(200);
    expect(await waitingFor(table)).toBe(2 * connections);
    await holder.query("commit");
    const { status, body } = await own;
    expect([status, body]).toEqual([200, whole.body]);
    expect(body).toMatchObject({ total_count: body.data.length, next_cursor: null });
    for (const answer of await Promise.all(asked)) {
      expect([answer.status, answer.body.next_cursor]).toEqual([200, expect.any(String)]);
      expect(Buffer.byteLength(JSON.stringify(answer.body))).toBeLessThan(MOST_BYTES);
      expect(answer.body.total_count).toBeGreaterThan(answer.body.data.length);
    }
  },
);
