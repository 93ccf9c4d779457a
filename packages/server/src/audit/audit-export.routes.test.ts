import { startWorld } from "@binnacle/world";
import { v7 } from "uuid";
import { afterAll, expect, test } from "vitest";
import { newId } from "../id.adapter.ts";

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
afterAll(() => world.stop());

const SECOND_MS = 1_000;
const DAY_MS = 86_400 * SECOND_MS;
const ago = (ms: number) => new Date(world.clock.now().getTime() - ms);

/** Entries of these times, in their order, and the ids that they get. */
async function enter(orgId: string, times: readonly Date[], changes: object = {}): Promise<string[]> {
  const ids = times.map((at, seq) => v7({ msecs: at.getTime(), seq }));
  await world.database.pool.query(
    `insert into audit_log (id, at, org_id, via, action, resource_type, changes)
     select id, at, $1, 'user', 'app.update', 'app', $4 from unnest($2::uuid[], $3::timestamptz[]) entry (id, at)`,
    [orgId, ids, times, changes],
  );
  return ids;
}

async function part(orgId: string, query = "", api = world.admin.api) {
  const { status, body } = await api.get(`/orgs/${orgId}/audit-log/export?${query}`);
  expect({ query, status }).toEqual({ query, status: 200 });
  return { ...body, ids: body.data.map(({ id }: { id: string }) => id) };
}

async function whole(orgId: string, query = ""): Promise<{ readonly ids: string[]; readonly parts: number[] }> {
  const [ids, parts]: [string[], number[]] = [[], []];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const read: { ids: string[]; next_cursor: string | null } = await part(
      orgId,
      query + (cursor && `&cursor=${cursor}`),
    );
    ids.push(...read.ids);
    parts.push(read.ids.length);
    cursor = read.next_cursor;
  }
  return { ids, parts };
}

test("[AL5401] an export has every entry once, oldest first, in answers of 5,000 at most", async () => {
  const org = await world.org();
  const ids = await enter(
    org,
    Array.from({ length: 5_200 }, (_, index) => ago(DAY_MS - index)),
  );
  expect(await whole(org)).toEqual({ ids, parts: [5_000, 200] });
  const first = await part(org);
  expect(first.data[0]).toMatchObject({
    at: ago(DAY_MS).toISOString(),
    action: "app.update",
    resource: { type: "app" },
  });
  const filtered = await part(org, `since=${ago(2 * DAY_MS).toISOString()}&until=${ago(60_000).toISOString()}`);
  expect(filtered).toMatchObject({ total_count: 5_200, total_capped: false });
});

test("[AL5401] an answer of an export ends before it is larger than 4 MiB, and the next one goes on", async () => {
  const org = await world.org();
  const times = Array.from({ length: 900 }, (_, index) => ago(DAY_MS - index));
  const ids = await enter(org, times, { field: "long ".repeat(2_000) });
  const read = await whole(org);
  expect(read.ids).toEqual(ids);
  expect(read.parts.length).toBeGreaterThan(2);
  expect(Math.max(...read.parts) * 10_000).toBeLessThan(4 * 1024 * 1024);
});

test("[AL5401] an export of a time has the entries of that time, also where others have been dropped or are of another month", async () => {
  const org = await world.org();
  const days = [400, 90, 60, 30, 3];
  const ids = await enter(
    org,
    days.map((day) => ago(day * DAY_MS)),
  );
  const between = (from: number, to: number) =>
    whole(org, `since=${ago(from * DAY_MS).toISOString()}&until=${ago(to * DAY_MS).toISOString()}`);
  expect((await between(90, 30)).ids).toEqual(ids.slice(1, 3));
  expect((await between(89, 2)).ids).toEqual(ids.slice(2));
  expect((await whole(org, "until=1960-01-01T00:00:00Z")).ids).toEqual([]);
  expect((await whole(org, "since=0001-01-01T00:00:00Z")).ids).toEqual(ids);
});

test("[AL5402] an export that goes on behind the last entry of an earlier one has what came since, but for the last minute", async () => {
  const org = await world.org();
  const [before, last = ""] = await enter(org, [ago(120 * SECOND_MS), ago(61 * SECOND_MS)]);
  // A change that is about to be committed may have an older id than one that is there.
  const young = await enter(org, [ago(59 * SECOND_MS), ago(0)]);
  expect((await whole(org)).ids).toEqual([before, last]);
  const late = await enter(org, [ago(60.5 * SECOND_MS)]);
  world.clock.advance(61 * SECOND_MS);
  expect((await part(org, `cursor=${last}`)).ids.slice(0, 3)).toEqual([...late, ...young]);
  const { ids } = await part(org, `cursor=${young.at(-1)}`);
  expect(await part(org, `cursor=${ids.at(-1) ?? young.at(-1)}`)).toMatchObject({ data: [], next_cursor: null });
});

test("[AL5403] an export is for administrators of the organization, and has nothing of another one", async () => {
  const [org, elsewhere] = [await world.org(), await world.org()];
  const [mine] = await enter(org, [ago(3_600 * SECOND_MS)]);
  const [theirs] = await enter(elsewhere, [ago(7_200 * SECOND_MS)]);
  const [admin, member, stranger] = [
    await world.person({ org, role: "admin" }),
    await world.person({ org }),
    await world.person({ org: elsewhere, role: "admin" }),
  ];
  const path = `/orgs/${org}/audit-log/export`;
  expect((await part(org, `cursor=${theirs}`, admin.api)).ids).toEqual([mine]);
  expect((await member.api.get(path)).status).toBe(403);
  expect((await stranger.api.get(path)).status).toBe(403);
  expect((await world.admin.api.get(`/orgs/${newId()}/audit-log/export`)).status).toBe(404);
  expect((await admin.api.get(`${path}?cursor=1`)).status).toBe(422);
});
