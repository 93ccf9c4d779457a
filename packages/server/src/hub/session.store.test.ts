import { TestClock } from "@binnacle/world/clock";
import { type FreshDatabase, freshDatabase } from "@binnacle/world/database";
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { insertCluster } from "../access/bindings.fixture.ts";
import type { Bus } from "../bus/bus.ts";
import { createAgentTokens } from "../clusters/agent-token.adapter.ts";
import { hubClusters } from "../clusters/hub-clusters.runner.ts";
import type { Queries } from "../database/transaction.ts";
import type { Event } from "../events/event.ts";
import { newId } from "../id.adapter.ts";
import { announceDisconnected, announceLapsed } from "./connection-status.runner.ts";
import { FACTS } from "./operator.fixture.ts";
import type { HubClusters } from "./ports.ts";
import {
  type Admission,
  type Arrival,
  admit,
  admitTogether,
  type HeldSession,
  LEASE_MS,
  releaseSessions,
  renewLeases,
  storeFacts,
} from "./session.store.ts";

const HUB = "hub a";
const AT = { id: HUB, url: "http://10.0.0.7:8081" };
const clock = new TestClock();
let fresh: FreshDatabase;
let db: Queries;
let org: string;
let cluster: string;
let clusters: HubClusters;
let heard: Event[];
const bus = { publish: (_: string, event: Event) => void heard.push(event) } as unknown as Bus;

beforeAll(async () => {
  fresh = await freshDatabase();
  db = fresh.database.kysely;
  clusters = hubClusters(db, await createAgentTokens("unused", clock.now), clock.now);
  org = newId();
  const times = { created_at: clock.now(), updated_at: clock.now() };
  const settings = JSON.stringify({ drift_policy: "report" });
  await db
    .insertInto("orgs")
    .values({ id: org, name: "O", slug: "o", description: null, settings, ...times })
    .execute();
});
afterAll(() => fresh?.drop());
beforeEach(async () => {
  heard = [];
  await db.deleteFrom("cluster_sessions").execute();
  cluster = await insertCluster(db, org);
});

const arrival = (fields: Partial<Arrival> = {}): Arrival => ({
  clusterId: cluster,
  tokenVersion: 1,
  operatorVersion: "0.1.0",
  facts: FACTS,
  canUpgrade: false,
  suspends: false,
  detaches: false,
  ...fields,
});
const arrive = ({ hubId = HUB, ...fields }: Partial<Arrival> & { hubId?: string } = {}) =>
  admit(db, { id: hubId, url: AT.url }, arrival(fields), clock.now());

async function admitted(fields: Parameters<typeof arrive>[0] = {}) {
  const admission = await arrive(fields);
  if (admission.refused !== null) throw new Error(admission.refused);
  return admission;
}

const sessionOf = (id: string) =>
  db.selectFrom("cluster_sessions").selectAll().where("cluster_id", "=", id).executeTakeFirst();
const clusterOf = (id: string) => db.selectFrom("clusters").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
const set = (fields: { token_floor?: number; deletion_requested_at?: Date }) =>
  db.updateTable("clusters").set(fields).where("id", "=", cluster).execute();
/** Leases are judged by the clock of the database, so a test moves the leases. */
const pass = (milliseconds: number) =>
  sql`update cluster_sessions set lease_until = lease_until - ${milliseconds} * interval '1 millisecond'`.execute(db);
/** What is left of a lease by the clock of the database. */
async function leftMs(id: string): Promise<number> {
  const { rows } = await sql<{ left: number }>`
    select extract(epoch from lease_until - now())::float8 * 1000 as left from cluster_sessions where cluster_id = ${id}`.execute(
    db,
  );
  return rows[0]?.left ?? Number.NaN;
}
const held = (epoch: number, heartbeatAt: Date | null = null) => ({
  clusterId: cluster,
  epoch,
  tokenVersion: 1,
  heartbeatAt,
});

describe("admission", () => {
  test("[HB20] an admission takes the session of a cluster, and a later one takes it over with a higher epoch", async () => {
    const first = await admitted();
    expect(first).toMatchObject({ orgId: org, driftPolicy: "report", leaseBefore: null });
    const lease = (await sessionOf(cluster))?.lease_until;
    const second = await admitted({ hubId: "hub b" });
    expect(second.epoch).toBeGreaterThan(first.epoch);
    expect(second.leaseBefore).toEqual(lease);
    expect(await sessionOf(cluster)).toMatchObject({ hub_id: "hub b", epoch: second.epoch, token_version: 1 });
  });

  test("[HB20] many admissions at once get an epoch each, and the highest one holds the session", async () => {
    const admissions = await Promise.all(Array.from({ length: 8 }, () => admitted()));
    const epochs = admissions.map(({ epoch }) => epoch);
    expect(new Set(epochs).size).toBe(8);
    expect((await sessionOf(cluster))?.epoch).toBe(Math.max(...epochs));
  });

  test.each<[string, { token_floor?: number; deletion_requested_at?: Date }, Admission["refused"]]>([
    ["below the floor", { token_floor: 2 }, "revoked"],
    ["at the floor", { token_floor: 1 }, null],
    ["about to be deleted", { deletion_requested_at: new Date() }, "deleted"],
  ])("[HB3] an operator with a token or cluster %s is admitted or refused accordingly", async (_, fields, refused) => {
    await set(fields);
    expect(await arrive()).toMatchObject({ refused });
    expect((await sessionOf(cluster)) === undefined).toBe(refused !== null);
    expect((await clusterOf(cluster)).first_connected_at === null).toBe(refused !== null);
  });

  test("[HB3] an operator of an unknown cluster is refused", async () => {
    expect(await arrive({ clusterId: newId() })).toEqual({ refused: "deleted" });
  });

  test("[HB66] many operators are admitted in one call, each with its own outcome", async () => {
    const others = await Promise.all([insertCluster(db, org), insertCluster(db, org), insertCluster(db, org)]);
    const [floored, doomed, other] = others;
    await db.updateTable("clusters").set({ token_floor: 2 }).where("id", "=", floored).execute();
    await db.updateTable("clusters").set({ deletion_requested_at: new Date() }).where("id", "=", doomed).execute();
    const earlier = await admitted({ clusterId: other, hubId: "hub b" });
    const lease = (await sessionOf(other))?.lease_until;
    const gone = newId();
    const ids = [cluster, floored, doomed, other, gone];
    const arrivals = ids.map((clusterId, nodes) =>
      arrival({ clusterId, facts: { ...FACTS, node_count: nodes }, operatorVersion: `0.1.${nodes}` }),
    );
    const admissions = await admitTogether(db, AT, arrivals, clock.now());
    expect(ids.map((id) => admissions.get(id)?.refused)).toEqual([null, "revoked", "deleted", null, undefined]);
    expect(admissions.get(cluster)).toMatchObject({ orgId: org, leaseBefore: null, firstConnectedBefore: null });
    expect(admissions.get(other)).toMatchObject({ leaseBefore: lease });
    const [first, second] = await Promise.all([sessionOf(cluster), sessionOf(other)]);
    expect(new Set([first?.epoch, second?.epoch, earlier.epoch]).size).toBe(3);
    expect([first?.hub_id, second?.hub_id]).toEqual([HUB, HUB]);
    expect(await clusterOf(cluster)).toMatchObject({ node_count: 0, operator_version: "0.1.0" });
    expect(await clusterOf(other)).toMatchObject({ node_count: 3, operator_version: "0.1.3" });
    expect(await sessionOf(floored)).toBeUndefined();
  });

  test("[HB66] an admission of many leaves out a locked cluster instead of waiting for it", async () => {
    const other = await insertCluster(db, org);
    await db.transaction().execute(async (tx) => {
      await tx.updateTable("clusters").set({ revision: 1 }).where("id", "=", other).execute();
      const arrivals = [arrival(), arrival({ clusterId: other })];
      const admissions = await admitTogether(db, AT, arrivals, clock.now());
      expect([...admissions.keys()]).toEqual([cluster]);
    });
    expect(await sessionOf(other)).toBeUndefined();
  });

  test("[HB66] an admission of many leaves out a cluster whose session is locked, and one alone waits for it", async () => {
    const other = await insertCluster(db, org);
    const { epoch } = await admitted({ clusterId: other, hubId: "hub b" });
    const alone = await db.transaction().execute(async (tx) => {
      await tx.selectFrom("cluster_sessions").select("epoch").where("cluster_id", "=", other).forShare().execute();
      const arrivals = [arrival(), arrival({ clusterId: other })];
      const admissions = await admitTogether(db, AT, arrivals, clock.now());
      expect([...admissions.keys()]).toEqual([cluster]);
      return { admission: admitted({ clusterId: other }) };
    });
    expect((await alone.admission).epoch).toBeGreaterThan(epoch);
    expect(await sessionOf(other)).toMatchObject({ hub_id: HUB });
  });

  test("[HB24] an admission stores the facts of the cluster, and first_connected_at does not change afterwards", async () => {
    await admitted();
    const first = await clusterOf(cluster);
    const { capacity, ...facts } = FACTS;
    expect(first).toMatchObject({ ...facts, capacity, operator_version: "0.1.0", first_connected_at: clock.now() });
    clock.advance(1_000);
    expect(await admitted()).toMatchObject({ firstConnectedBefore: first.first_connected_at });
    const second = await clusterOf(cluster);
    expect(second.first_connected_at).toEqual(first.first_connected_at);
    expect(second.last_heartbeat).toEqual(clock.now());
  });

  test("[HB24] new facts are stored from the registered session alone", async () => {
    const { epoch } = await admitted();
    const facts = { ...FACTS, node_count: 9 };
    const note = (hubId: string, at: number) =>
      storeFacts(db, [{ fence: { clusterId: cluster, hubId, epoch: at }, facts }]);
    expect((await note(HUB, epoch - 1)).size + (await note("hub b", epoch)).size).toBe(0);
    expect((await clusterOf(cluster)).node_count).toBe(3);
    expect(await note(HUB, epoch)).toEqual(new Set([cluster]));
    expect((await clusterOf(cluster)).node_count).toBe(9);
  });
});

/** Those of the connection of this transaction: what others have done comes to the common statistics late. */
async function ownUpdates(tx: Queries): Promise<{ all: number; hot: number }> {
  const { rows } = await sql<{ all: number; hot: number }>`
    select sum(n_tup_upd)::int as "all", sum(n_tup_hot_upd)::int as hot from pg_stat_xact_user_tables
    where relname in ('clusters', 'cluster_sessions')`.execute(tx);
  return rows[0] ?? expect.unreachable();
}

describe("a lease", () => {
  test("[HB21] the leases of all sessions are renewed together, with their heartbeats", async () => {
    const { epoch } = await admitted();
    const other = await insertCluster(db, org);
    const second = await admitted({ clusterId: other });
    await pass(10_000);
    const heartbeatAt = new Date(clock.now().getTime() - 3_000);
    const before = await clusterOf(other);
    const both = [held(epoch, heartbeatAt), { ...held(second.epoch), clusterId: other }];
    expect(await renewLeases(db, AT, both)).toEqual({ kept: new Set([cluster, other]), revived: [] });
    for (const id of [cluster, other]) expect(await leftMs(id)).toBeGreaterThan(LEASE_MS - 5_000);
    expect((await clusterOf(cluster)).last_heartbeat).toEqual(heartbeatAt);
    expect((await clusterOf(other)).last_heartbeat).toEqual(before.last_heartbeat);
  });

  test("[HB21] the lease of a superseded session is not renewed, and the newer session is left alone", async () => {
    const { epoch } = await admitted();
    const newer = await admitted({ hubId: "hub b" });
    const lease = await sessionOf(cluster);
    clock.advance(5_000);
    expect((await renewLeases(db, AT, [held(epoch, clock.now())])).kept.size).toBe(0);
    expect(await sessionOf(cluster)).toEqual(lease);
    expect(lease?.epoch).toBe(newer.epoch);
    expect((await clusterOf(cluster)).last_heartbeat).not.toEqual(clock.now());
  });

  test.each([
    ["its token is revoked", { token_floor: 2 }],
    ["its cluster is about to be deleted", { deletion_requested_at: new Date() }],
  ])("[HB21] the lease of a session is not renewed when %s", async (_, fields) => {
    const { epoch } = await admitted();
    await set(fields);
    expect((await renewLeases(db, AT, [held(epoch)])).kept.size).toBe(0);
  });

  test("[HB21] a session that was deleted while the database was unreachable is restored when its lease is renewed", async () => {
    const { epoch } = await admitted();
    await pass(LEASE_MS);
    await announceLapsed({ db, bus, clock: clock.now, clusters });
    expect(await sessionOf(cluster)).toBeUndefined();
    expect(await renewLeases(db, AT, [held(epoch)])).toEqual({
      kept: new Set([cluster]),
      revived: [cluster],
    });
    expect(await sessionOf(cluster)).toMatchObject({ hub_id: HUB, epoch });
  });

  test("[HB21] renewals and heartbeats write no index, also where the pages of their tables are as full as inserts make them", async () => {
    const ids = await Promise.all(Array.from({ length: 60 }, () => insertCluster(db, org)));
    const sessions: HeldSession[] = [];
    for (const clusterId of ids) {
      const { epoch } = await admitted({ clusterId });
      sessions.push({ ...held(epoch, clock.now()), clusterId });
    }
    for (const table of ["clusters", "cluster_sessions"]) await sql`vacuum full ${sql.table(table)}`.execute(db);
    await db.transaction().execute(async (tx) => {
      const before = await ownUpdates(tx);
      await renewLeases(tx, AT, sessions);
      const after = await ownUpdates(tx);
      expect([after.all - before.all, after.hot - before.hot]).toEqual([120, 120]);
    });
  });

  test("[HB21] the renewal of a lease does not wait for a cluster row that is locked", async () => {
    const { epoch } = await admitted();
    const heartbeatAt = new Date(clock.now().getTime() + 1);
    await db.transaction().execute(async (tx) => {
      await tx.updateTable("clusters").set({ description: "x" }).where("id", "=", cluster).execute();
      expect((await renewLeases(db, AT, [held(epoch, heartbeatAt)])).kept.size).toBe(1);
    });
    expect((await clusterOf(cluster)).last_heartbeat).not.toEqual(heartbeatAt);
  });

  test("[HB21] a session that is locked is kept and renewed the next time, and holds up no other", async () => {
    const { epoch } = await admitted();
    const other = await insertCluster(db, org);
    const second = await admitted({ clusterId: other });
    const both = [held(epoch), { ...held(second.epoch), clusterId: other }];
    const renew = async () => (await renewLeases(db, AT, both)).kept;
    await pass(10_000);
    const lease = (await sessionOf(cluster))?.lease_until;
    await db.transaction().execute(async (tx) => {
      await tx.selectFrom("cluster_sessions").select("epoch").where("cluster_id", "=", cluster).forShare().execute();
      expect(await renew()).toEqual(new Set([cluster, other]));
      const superseded = [held(epoch - 1), { ...held(second.epoch), clusterId: other }];
      expect((await renewLeases(db, AT, superseded)).kept).toEqual(new Set([other]));
    });
    expect((await sessionOf(cluster))?.lease_until).toEqual(lease);
    expect(await renew()).toEqual(new Set([cluster, other]));
    expect((await sessionOf(cluster))?.lease_until).toEqual((await sessionOf(other))?.lease_until);
  });
});

describe("a process whose clock is off", () => {
  const HOURS_MS = 3_600_000;

  test.each([
    ["ahead", 24 * HOURS_MS],
    ["behind", -24 * HOURS_MS],
  ])("[HB70] a process whose clock is a day %s neither ends nor prolongs the sessions of others", async (_, offMs) => {
    const off = () => new Date(clock.now().getTime() + offMs);
    const mine = await admitted();
    await announceLapsed({ db, bus, clock: off, clusters });
    expect(await sessionOf(cluster)).toMatchObject({ epoch: mine.epoch });
    const others = await insertCluster(db, org);
    await admit(db, { id: "hub b", url: AT.url }, arrival({ clusterId: others }), off());
    const left = await leftMs(others);
    expect([left > LEASE_MS - 5_000, left <= LEASE_MS]).toEqual([true, true]);
    await pass(LEASE_MS);
    await announceLapsed({ db, bus, clock: off, clusters });
    expect(await sessionOf(cluster)).toBeUndefined();
    expect(await sessionOf(others)).toBeUndefined();
  });
});

describe("the end of a session", () => {
  test("[HB23] the end of a session deletes its record, unless a newer session holds it", async () => {
    const { epoch } = await admitted();
    const newer = await admitted();
    const fence = (at: number) => ({ clusterId: cluster, hubId: HUB, epoch: at });
    expect(await releaseSessions(db, [fence(epoch)])).toEqual([]);
    expect(await releaseSessions(db, [fence(newer.epoch)])).toEqual([cluster]);
    expect(await sessionOf(cluster)).toBeUndefined();
  });

  test("[HB23] the end of a session is announced, however far the clock moves between two readings", async () => {
    const { epoch } = await admitted();
    const moving = () => {
      clock.advance(1);
      return clock.now();
    };
    await announceDisconnected({ db, bus, clusters, clock: moving }, (tx) =>
      releaseSessions(tx, [{ clusterId: cluster, hubId: HUB, epoch }]),
    );
    expect(heard).toMatchObject([{ type: "cluster-status", cluster_id: cluster, status: "disconnected" }]);
  });

  test("[HB22] a session whose lease has run out is announced as disconnected once, however many look", async () => {
    await admitted();
    const other = await insertCluster(db, org);
    await admitted({ clusterId: other });
    const announce = () => announceLapsed({ db, bus, clock: clock.now, clusters });
    await pass(LEASE_MS - 10_000);
    await announce();
    expect(heard).toEqual([]);
    await pass(10_000);
    await Promise.all([announce(), announce(), announce()]);
    await announce();
    expect(heard.map(({ cluster_id }) => cluster_id).sort()).toEqual([cluster, other].sort());
    expect(heard[0]).toMatchObject({ type: "cluster-status", status: "disconnected", org_id: org, message: null });
  });
});
