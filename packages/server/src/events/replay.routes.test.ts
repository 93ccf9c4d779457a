import { type Following, type Person, startWorld } from "@binnacle/world";
import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { bindRole, insertProject } from "../access/bindings.fixture.ts";
import { inTransaction } from "../database/transaction.ts";
import { newId } from "../id.adapter.ts";
import type { Event } from "./event.ts";
import { logEvents, pruneEventLog } from "./event-log.store.ts";
import { KEPT } from "./event-log.ts";
import { eventOf } from "./events.fixture.ts";

const opened: Following[] = [];
const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
const { org, cluster, admin } = await world.projectWithPeople();
const { kysely: db } = world.database;
let neighbours: { org: string; admin: Person };
beforeAll(async () => {
  neighbours = await world.projectWithPeople();
});
afterEach(() => {
  for (const following of opened.splice(0)) following.leave();
});
afterAll(() => world.stop());

async function follow(person: Person, lastEventId?: string, query = ""): Promise<Following> {
  const api = lastEventId === undefined ? person.api : person.api.with({ "last-event-id": lastEventId });
  const following = await api.follow(`/events/stream?resumable=true${query}`);
  expect(following.status).toBe(200);
  opened.push(following);
  return following;
}

const event = (facts: Partial<Event> = {}) =>
  eventOf({ id: newId(), type: "cluster-status", org_id: org, cluster_id: cluster, ...facts });

async function emit(facts: Partial<Event> = {}): Promise<string> {
  const emitted = event(facts);
  await logEvents(db, [emitted]);
  return emitted.id;
}

/** The id after which a person's stream goes on from now. */
async function cursorOf(person: Person): Promise<string> {
  const stream = await follow(person);
  for (;;) {
    const frame = await stream.nextComment();
    if (frame === null) throw new Error("The stream has ended.");
    if (frame.id) return frame.id;
  }
}

const idsOf = async (stream: Following, count: number) => {
  const ids: string[] = [];
  while (ids.length < count) ids.push((await stream.next())?.data.id);
  return ids;
};

test("[EV3761] a resumed stream gets what it has missed in order, more than one page of it, and then what happens", async () => {
  const cursor = await cursorOf(admin);
  const missed = Array.from({ length: 1_100 }, () => event());
  await logEvents(db, missed);
  const stream = await follow(admin, cursor);
  const live = await emit();
  expect(await idsOf(stream, 1_101)).toEqual([...missed.map(({ id }) => id), live]);
});

test("[EV3761] an event of a change that is committed late comes after those that were committed before it, and is not skipped", async () => {
  const stream = await follow(admin);
  const [late, early] = [event(), event()];
  const written = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const committing = inTransaction(db, async (tx) => {
    await logEvents(tx, [late]);
    written.resolve();
    await release.promise;
  });
  await written.promise;
  await logEvents(db, [early]);
  const first = await stream.next();
  expect(first?.data.id).toBe(early.id);
  release.resolve();
  await committing;
  expect(await idsOf(stream, 1)).toEqual([late.id]);
  expect(await idsOf(await follow(admin, first?.id), 1)).toEqual([late.id]);
});

test("[EV3762] a resumed stream gets what its user may see now, of its filter", async () => {
  const project = await insertProject(db, org, cluster);
  const viewer = await world.person({ org });
  const binding = await bindRole(db, viewer.id, "viewer", { project });
  const cursor = await cursorOf(viewer);
  const seen = await emit({ type: "app", project_id: project });
  await emit({ org_id: neighbours.org, cluster_id: newId() });
  const ofCluster = await emit();
  expect(await idsOf(await follow(viewer, cursor), 2)).toEqual([seen, ofCluster]);
  expect(await idsOf(await follow(viewer, cursor, "&resource_type=cluster"), 1)).toEqual([ofCluster]);
  await db.deleteFrom("role_bindings").where("id", "=", binding).execute();
  expect(await idsOf(await follow(viewer, cursor), 1)).toEqual([ofCluster]);
});

test("[EV3767] a user whose roles have changed meanwhile gets an access event when the stream is resumed", async () => {
  const member = await world.person({ org });
  const cursor = await cursorOf(member);
  const role = { user_id: member.id, role: "viewer" };
  expect((await admin.api.post(`/clusters/${cluster}/rbac`, role)).status).toBe(201);
  const stream = await follow(member, cursor);
  expect((await stream.next())?.event).toBe("access");
});

test.each([
  ["is not one", "nonsense"],
  ["is of another database", "00000000-1"],
])("[EV3764] a stream with a Last-Event-ID that %s begins with a reset and goes on", async (_, id) => {
  const stream = await follow(admin, id);
  expect((await stream.next())?.event).toBe("reset");
  const live = await emit();
  expect(await idsOf(stream, 1)).toEqual([live]);
});

test("[EV3764] a stream with a Last-Event-ID that this database has not reached begins with a reset", async () => {
  const [logId] = (await cursorOf(admin)).split("-");
  expect((await (await follow(admin, `${logId}-999999999`)).next())?.event).toBe("reset");
});

test("[EV3763] [EV3764] what is older than 15 minutes is deleted, and only streams from before that begin with a reset", async () => {
  const before = await cursorOf(admin);
  await emit();
  const after = await cursorOf(admin);
  await sql`update event_log set created_at = clock_timestamp() - make_interval(mins => ${KEPT.minutes + 1})`.execute(
    db,
  );
  await pruneEventLog(db);
  const recent = await emit();
  expect((await (await follow(admin, before)).next())?.event).toBe("reset");
  expect(await idsOf(await follow(admin, after), 1)).toEqual([recent]);
});

test.each([
  ["more than 10,000 events", { count: KEPT.rowsOfOrg + 1, text: "" }],
  ["events of more than 8 MiB", { count: 9, text: "x".repeat(2 ** 20) }],
])("[EV3763] an organization with %s loses its oldest, and no other organization does", async (_, { count, text }) => {
  const [here, there] = [await cursorOf(admin), await cursorOf(neighbours.admin)];
  const theirs = await emit({ org_id: neighbours.org, cluster_id: newId() });
  const flood = Array.from({ length: count }, () => event({ detail: text }));
  for (let at = 0; at < flood.length; at += 500) await logEvents(db, flood.slice(at, at + 500));
  await pruneEventLog(db);
  const { rows } = await sql<{ count: number; bytes: number }>`
    select count(*)::int as count, sum(bytes)::int as bytes from event_log where org_id = ${org}
  `.execute(db);
  expect(rows[0]?.count).toBeLessThanOrEqual(KEPT.rowsOfOrg);
  expect(rows[0]?.bytes).toBeLessThanOrEqual(KEPT.bytesOfOrg);
  expect((await (await follow(admin, here)).next())?.event).toBe("reset");
  expect(await idsOf(await follow(neighbours.admin, there), 1)).toEqual([theirs]);
});
