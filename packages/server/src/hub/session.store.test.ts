import { TestClock } from "@binnacle/world/clock";
import { type FreshDatabase, freshDatabase } from "@binnacle/world/database";
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
  LEASE_MS,
  releaseSessions,
  renewLeases,
  storeFacts,
} from "./session.store.ts";

const HUB = "hub a";
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
  ...fields,
});
const arrive = ({ hubId = HUB, ...fields }: Partial<Arrival> & { hubId?: string } = {}) =>
  admit(db, hubId, arrival(fields), clock.now());

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
const held = (epoch: number, heartbeatAt: Date | null = null) => ({
  clusterId: cluster,
  epoch,
  tokenVersion: 1,
  heartbeatAt,
});

describe("admission", () => {
  test("[HB20] takes the session, and a later one takes it over", async () => {
    const first = await admitted();
    expect(first).toMatchObject({ orgId: org, driftPolicy: "report", leaseBefore: null });
    const second = await admitted({ hubId: "hub b" });
    expect(second.epoch).toBeGreaterThan(first.epoch);
    expect(second.leaseBefore).toEqual(new Date(clock.now().getTime() + LEASE_MS));
    expect(await sessionOf(cluster)).toMatchObject({ hub_id: "hub b", epoch: second.epoch, token_version: 1 });
  });

  test("[HB20] gives each of many that come at once an epoch of its own, and the last one stands", async () => {
    const admissions = await Promise.all(Array.from({ length: 8 }, () => admitted()));
    const epochs = admissions.map(({ epoch }) => epoch);
    expect(new Set(epochs).size).toBe(8);
    expect((await sessionOf(cluster))?.epoch).toBe(Math.max(...epochs));
  });

  test.each<[string, { token_floor?: number; deletion_requested_at?: Date }, Admission["refused"]]>([
    ["below the floor", { token_floor: 2 }, "revoked"],
    ["at the floor", { token_floor: 1 }, null],
    ["about to be deleted", { deletion_requested_at: new Date() }, "deleted"],
  ])("[HB3] of one %s", async (_, fields, refused) => {
    await set(fields);
    expect(await arrive()).toMatchObject({ refused });
    expect((await sessionOf(cluster)) === undefined).toBe(refused !== null);
    expect((await clusterOf(cluster)).first_connected_at === null).toBe(refused !== null);
  });

  test("[HB3] of one that is not there is refused", async () => {
    expect(await arrive({ clusterId: newId() })).toEqual({ refused: "deleted" });
  });

  test("[HB66] takes many sessions in one statement, each with its own outcome", async () => {
    const others = await Promise.all([insertCluster(db, org), insertCluster(db, org), insertCluster(db, org)]);
    const [floored, doomed, other] = others;
    await db.updateTable("clusters").set({ token_floor: 2 }).where("id", "=", floored).execute();
    await db.updateTable("clusters").set({ deletion_requested_at: new Date() }).where("id", "=", doomed).execute();
    const earlier = await admitted({ clusterId: other, hubId: "hub b" });
    const gone = newId();
    const ids = [cluster, floored, doomed, other, gone];
    const arrivals = ids.map((clusterId, nodes) =>
      arrival({ clusterId, facts: { ...FACTS, node_count: nodes }, operatorVersion: `0.1.${nodes}` }),
    );
    const admissions = await admitTogether(db, HUB, arrivals, clock.now());
    expect(ids.map((id) => admissions.get(id)?.refused)).toEqual([null, "revoked", "deleted", null, undefined]);
    expect(admissions.get(cluster)).toMatchObject({ orgId: org, leaseBefore: null, firstConnectedBefore: null });
    expect(admissions.get(other)).toMatchObject({ leaseBefore: new Date(clock.now().getTime() + LEASE_MS) });
    const [first, second] = await Promise.all([sessionOf(cluster), sessionOf(other)]);
    expect(new Set([first?.epoch, second?.epoch, earlier.epoch]).size).toBe(3);
    expect([first?.hub_id, second?.hub_id]).toEqual([HUB, HUB]);
    expect(await clusterOf(cluster)).toMatchObject({ node_count: 0, operator_version: "0.1.0" });
    expect(await clusterOf(other)).toMatchObject({ node_count: 3, operator_version: "0.1.3" });
    expect(await sessionOf(floored)).toBeUndefined();
  });

  test("[HB66] leaves out a cluster that is locked instead of waiting with the others", async () => {
    const other = await insertCluster(db, org);
    await db.transaction().execute(async (tx) => {
      await tx.updateTable("clusters").set({ revision: 1 }).where("id", "=", other).execute();
      const arrivals = [arrival(), arrival({ clusterId: other })];
      const admissions = await admitTogether(db, HUB, arrivals, clock.now());
      expect([...admissions.keys()]).toEqual([cluster]);
    });
    expect(await sessionOf(other)).toBeUndefined();
  });

  test("[HB24] puts the cluster's facts on record; the first connection stays the first", async () => {
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

  test("[HB24] new facts are taken from the registered session alone", async () => {
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

describe("a lease", () => {
  test("[HB21] is renewed with the heartbeats, of all sessions at once", async () => {
    const { epoch } = await admitted();
    const other = await insertCluster(db, org);
    const second = await admitted({ clusterId: other });
    clock.advance(10_000);
    const heartbeatAt = new Date(clock.now().getTime() - 3_000);
    const before = await clusterOf(other);
    const both = [held(epoch, heartbeatAt), { ...held(second.epoch), clusterId: other }];
    expect(await renewLeases(db, HUB, both, clock.now())).toEqual({ kept: new Set([cluster, other]), revived: [] });
    for (const id of [cluster, other]) {
      expect((await sessionOf(id))?.lease_until).toEqual(new Date(clock.now().getTime() + LEASE_MS));
    }
    expect((await clusterOf(cluster)).last_heartbeat).toEqual(heartbeatAt);
    expect((await clusterOf(other)).last_heartbeat).toEqual(before.last_heartbeat);
  });

  test("[HB21] is not renewed where a newer session stands, and that one is left alone", async () => {
    const { epoch } = await admitted();
    const newer = await admitted({ hubId: "hub b" });
    const lease = await sessionOf(cluster);
    clock.advance(5_000);
    expect((await renewLeases(db, HUB, [held(epoch, clock.now())], clock.now())).kept.size).toBe(0);
    expect(await sessionOf(cluster)).toEqual(lease);
    expect(lease?.epoch).toBe(newer.epoch);
    expect((await clusterOf(cluster)).last_heartbeat).not.toEqual(clock.now());
  });

  test.each([
    ["its token is revoked", { token_floor: 2 }],
    ["its cluster is about to be deleted", { deletion_requested_at: new Date() }],
  ])("[HB21] is not renewed when %s", async (_, fields) => {
    const { epoch } = await admitted();
    await set(fields);
    expect((await renewLeases(db, HUB, [held(epoch)], clock.now())).kept.size).toBe(0);
  });

  test("[HB21] that was cleared away while the database was out of reach is taken up again", async () => {
    const { epoch } = await admitted();
    clock.advance(LEASE_MS);
    await announceLapsed({ db, bus, clock: clock.now, clusters });
    expect(await sessionOf(cluster)).toBeUndefined();
    expect(await renewLeases(db, HUB, [held(epoch)], clock.now())).toEqual({
      kept: new Set([cluster]),
      revived: [cluster],
    });
    expect(await sessionOf(cluster)).toMatchObject({ hub_id: HUB, epoch });
  });

  test("[HB21] does not wait for a cluster that is being changed", async () => {
    const { epoch } = await admitted();
    const heartbeatAt = new Date(clock.now().getTime() + 1);
    await db.transaction().execute(async (tx) => {
      await tx.updateTable("clusters").set({ description: "x" }).where("id", "=", cluster).execute();
      expect((await renewLeases(db, HUB, [held(epoch, heartbeatAt)], clock.now())).kept.size).toBe(1);
    });
    expect((await clusterOf(cluster)).last_heartbeat).not.toEqual(heartbeatAt);
  });
});

describe("the end of a session", () => {
  test("[HB23] takes it off the record, unless a newer one stands there", async () => {
    const { epoch } = await admitted();
    const newer = await admitted();
    const fence = (at: number) => ({ clusterId: cluster, hubId: HUB, epoch: at });
    expect(await releaseSessions(db, [fence(epoch)])).toEqual([]);
    expect(await releaseSessions(db, [fence(newer.epoch)])).toEqual([cluster]);
    expect(await sessionOf(cluster)).toBeUndefined();
  });

  test("[HB23] is announced, however far the clock is each time that somebody reads it", async () => {
    const { epoch } = await admitted();
    const moving = () => {
      clock.advance(1);
      return clock.now();
    };
    await announceDisconnected(
      { db, bus, clusters, clock: moving },
      await releaseSessions(db, [{ clusterId: cluster, hubId: HUB, epoch }]),
    );
    expect(heard).toMatchObject([{ type: "cluster-status", cluster_id: cluster, status: "disconnected" }]);
  });

  test("[HB22] by its lease alone is announced once, however many look", async () => {
    await admitted();
    const other = await insertCluster(db, org);
    await admitted({ clusterId: other });
    const look = () => announceLapsed({ db, bus, clock: clock.now, clusters });
    clock.advance(LEASE_MS - 1);
    await look();
    expect(heard).toEqual([]);
    clock.advance(1);
    await Promise.all([look(), look(), look()]);
    await look();
    expect(heard.map(({ cluster_id }) => cluster_id).sort()).toEqual([cluster, other].sort());
    expect(heard[0]).toMatchObject({ type: "cluster-status", status: "disconnected", org_id: org, message: null });
  });
});
