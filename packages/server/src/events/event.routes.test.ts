import { type Following, type Person, startWorld } from "@binnacle/world";
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { bindRole } from "../access/bindings.fixture.ts";
import { newId } from "../id.adapter.ts";
import { EVENTS_TOPIC, type Event, publishEvents } from "./event.ts";
import { logEvents } from "./event-log.store.ts";
import { eventOf } from "./events.fixture.ts";

const opened: Following[] = [];

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
const { org, cluster, project, admin } = await world.projectWithPeople();
afterEach(() => {
  for (const following of opened.splice(0)) following.leave();
});
afterAll(() => world.stop());

async function follow(person: Person, query = ""): Promise<Following> {
  const following = await person.api.follow(`/events/stream${query}`);
  expect(following.status).toBe(200);
  opened.push(following);
  return following;
}

function emit(facts: Partial<Event>): string {
  const event = eventOf({ id: newId(), org_id: org, ...facts });
  emitted = emitted.then(() => logEvents(world.database.kysely, [event])).then(() => publishEvents(world.bus, [event]));
  return event.id;
}
/** One after the other. */
let emitted: Promise<void> = Promise.resolve();
const ofCluster = () => emit({ type: "cluster-status", cluster_id: cluster });
const ofProject = () => emit({ type: "app", cluster_id: cluster, project_id: project });

const nextId = async (following: Following) => (await following.next())?.data.id;

describe("GET /events/stream", () => {
  test("[EV1] [EV2] GET /events/stream sends each event as a frame with its type as the name", async () => {
    const stream = await follow(world.admin);
    expect(stream.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(stream.headers.get("x-accel-buffering")).toBe("no");
    const resource = { type: "app", id: newId(), name: "shop", namespace: "web" };
    const id = emit({
      type: "app",
      cluster_id: cluster,
      project_id: project,
      workload_id: resource.id,
      resource,
      phase: "running",
    });
    expect(await stream.next()).toEqual({
      event: "app",
      data: {
        id,
        type: "app",
        time: expect.any(String),
        org_id: org,
        cluster_id: cluster,
        project_id: project,
        workload_id: resource.id,
        resource,
        phase: "running",
      },
    });
  });

  test("[EV3] the content of an event cannot end its frame or begin another", async () => {
    const stream = await follow(world.admin);
    const name = 'x\n\nevent: cluster-status\r\ndata: {"id":"forged"}\n\n\u2028';
    emit({ resource: { type: "app", id: null, name } });
    const last = ofCluster();
    expect((await stream.next())?.data.resource.name).toBe(name);
    expect(await nextId(stream)).toBe(last);
  });

  test("[EV4] an install_stage_update has the fields of the journal entry at the top level", async () => {
    const stream = await follow(world.admin);
    const entry = {
      stage: "profiles",
      status: "failed",
      component: "longhorn",
      detail: "no disk",
      reason_code: "NO_DISK",
    };
    emit({
      type: "install_stage_update",
      cluster_id: cluster,
      resource: { type: "cluster", id: cluster, name: "one" },
      ...entry,
    });
    expect(await stream.next()).toMatchObject({ event: "install_stage_update", data: entry });
  });

  test("[EV5] a committed change is sent as its audit entry, and a refused one is not", async () => {
    const stream = await follow(admin);
    expect((await admin.api.put(`/orgs/${org}`, { name: "demo" })).status).toBe(409);
    const name = `Org ${newId()}`;
    await admin.api.put(`/orgs/${org}`, { name });
    const frame = await stream.next();
    const [entry] = (await admin.api.get(`/orgs/${org}/audit-log?items_per_page=1`)).body.data;
    expect(frame).toMatchObject({
      event: "activity",
      data: { ...entry, type: "activity", time: entry.at, org_id: org },
    });
    expect(frame?.data.changes).toMatchObject({ name: { after: name } });
    expect(frame?.data.summary).toContain(`→ ${name}`);
  });

  test("[EV7] GET /events/stream replays nothing unless it is asked to be resumable, whatever Last-Event-ID says", async () => {
    const [first, missed] = [await follow(admin), ofCluster()];
    expect(await nextId(first)).toBe(missed);
    const second = await follow({ ...admin, api: admin.api.with({ "last-event-id": newId() }) });
    const expectedId = ofCluster();
    expect(await nextId(second)).toBe(expectedId);
  });

  test("[EV8] GET /events/stream keeps the order of events", async () => {
    const stream = await follow(admin);
    const expectedIds = Array.from({ length: 300 }, ofCluster);
    for (const id of expectedIds) expect(await nextId(stream)).toBe(id);
  });

  test("[EV10] GET /events/stream goes on after an entry of the log that is not an event", async () => {
    const stream = await follow(admin);
    const entry = { topic: EVENTS_TOPIC, org_id: org, bytes: 2, message: '{"type":"app","id":"x"}' };
    await world.database.kysely.insertInto("event_log").values(entry).execute();
    const expectedId = ofCluster();
    expect(await nextId(stream)).toBe(expectedId);
  });
});

describe("who hears what", () => {
  test("[EV11] superusers get every event, and administrators those of their organization", async () => {
    const [everything, own] = [await follow(world.admin), await follow(admin)];
    const elsewhere = emit({ type: "cluster-status", org_id: newId(), cluster_id: newId() });
    const here = ofProject();
    expect([await nextId(everything), await nextId(everything)]).toEqual([elsewhere, here]);
    expect(await nextId(own)).toBe(here);
  });

  test("[EV12] [EV13] members get events of clusters, and of projects and builds with a role on them", async () => {
    const [member, onProject, onCluster] = [
      await world.person({ org }),
      await world.person({ org }),
      await world.person({ org }),
    ];
    await bindRole(world.database.kysely, onProject.id, "viewer", { project });
    await bindRole(world.database.kysely, onCluster.id, "viewer", { cluster });
    const streams = [await follow(member), await follow(onProject), await follow(onCluster)] as const;
    const build = emit({ type: "build", cluster_id: cluster });
    const [app, status] = [ofProject(), ofCluster()];
    expect(await nextId(streams[0])).toBe(status);
    expect([await nextId(streams[1]), await nextId(streams[1])]).toEqual([app, status]);
    expect([await nextId(streams[2]), await nextId(streams[2])]).toEqual([build, app]);
  });

  test("[EV12] a stranger gets no events of another organization", async () => {
    const elsewhere = await world.org();
    const stream = await follow(await world.person({ org: elsewhere }));
    ofProject();
    ofCluster();
    const own = emit({ type: "cluster-status", org_id: elsewhere, cluster_id: newId() });
    expect(await nextId(stream)).toBe(own);
  });

  test("[EV58] the source address of an activity is null for those who may not read the audit log", async () => {
    const [member, viewer] = [await world.person({ org }), await world.person({ org })];
    await bindRole(world.database.kysely, viewer.id, "viewer", { project });
    const bound = (await admin.api.post("/cli-tokens", { name: "ci", scopes: ["read"], project_id: project })).body
      .token;
    const token = { ...admin, api: world.anyone.with({ authorization: `Bearer ${bound}` }) };
    const place = { cluster_id: cluster, project_id: project };
    const addressOf = async (following: Following) => (await following.next())?.data.source_address;
    const streams = await Promise.all([admin, world.admin, viewer, token].map((person) => follow(person)));
    emit({ type: "activity", ...place, source_address: "203.0.113.7" });
    expect(await Promise.all(streams.map(addressOf))).toEqual(["203.0.113.7", "203.0.113.7", null, null]);
    const [ofMember, ofAdmin] = await Promise.all([member, admin].map((person) => follow(person)));
    emit({ type: "activity", cluster_id: cluster, source_address: "203.0.113.8" });
    expect([await addressOf(ofMember as Following), await addressOf(ofAdmin as Following)]).toEqual([
      null,
      "203.0.113.8",
    ]);
  });

  test("[EV14] members get no activity of the organization itself, nor one without an organization", async () => {
    const stream = await follow(await world.person({ org }));
    await admin.api.put(`/orgs/${org}`, { name: `Org ${newId()}` });
    await admin.api.post("/cli-tokens", { name: "laptop", scopes: ["clusters:read"] });
    const about = emit({ type: "activity", cluster_id: cluster });
    expect(await nextId(stream)).toBe(about);
  });

  test("[EV15] [EV16] filters narrow the stream, and one for an unknown project yields no events", async () => {
    const ofThis = await follow(admin, `?cluster_id=${cluster.toUpperCase()}&resource_type=app`);
    const ofAll = await follow(admin, "?resource_type=all");
    const silent = await follow(admin, `?project_id=${newId()}`);
    const status = ofCluster();
    emit({ type: "app", cluster_id: newId(), project_id: project });
    const app = ofProject();
    expect(await nextId(ofThis)).toBe(app);
    expect(await nextId(ofAll)).toBe(status);
    silent.leave();
    await expect(silent.next()).rejects.toThrow();
  });

  test("[EV17] GET /events/stream is refused without a credential, without the scope read and with a malformed filter", async () => {
    const withScope = async (scope: string) => {
      const { token } = (await admin.api.post("/cli-tokens", { name: "laptop", scopes: [scope] })).body;
      return (await world.anyone.with({ authorization: `Bearer ${token}` }).get("/events/stream")).status;
    };
    expect((await world.anyone.get("/events/stream")).status).toBe(401);
    expect(await withScope("clusters:read")).toBe(403);
    expect(await withScope("read")).toBe(200);
    const malformed = await admin.api.get("/events/stream?cluster_id=x&resource_type=everything");
    expect(malformed.status).toBe(422);
    expect(malformed.body.detail.map(({ loc }: { loc: string[] }) => loc)).toEqual([
      ["query", "cluster_id"],
      ["query", "resource_type"],
    ]);
    expect((await world.anyone.get("/events/stream?cluster_id=x")).status).toBe(401);
  });
});

describe("a role that changes", () => {
  let person: Person;
  beforeEach(async () => {
    person = await world.person({ org });
  });

  test("[EV18] a user gets events of a granted role from then on", async () => {
    const stream = await follow(person);
    await admin.api.put(`/orgs/${org}/members/${person.id}`, { role: "admin" });
    const expectedId = ofProject();
    expect((await stream.next())?.event).toBe("access");
    expect((await stream.next())?.data.action).toBe("member.change_role");
    expect(await nextId(stream)).toBe(expectedId);
  });

  test("[EV18] a user gets no more events after a role is revoked, while the stream goes on", async () => {
    const elsewhere = await world.org();
    await world.admin.api.post(`/orgs/${elsewhere}/members`, { user_id: person.id, role: "member" });
    const stream = await follow(person);
    await admin.api.delete(`/orgs/${org}/members/${person.id}`);
    ofCluster();
    const expectedId = emit({ type: "cluster-status", org_id: elsewhere, cluster_id: newId() });
    expect((await stream.next())?.data).toMatchObject({ type: "access", user_id: person.id, org_id: null });
    expect(await nextId(stream)).toBe(expectedId);
  });

  test("[EV27] a changed role is sent as an access event to a stream without a resource filter, and not if nothing changed", async () => {
    const [stream, filtered] = [await follow(person), await follow(person, "?resource_type=app")];
    await admin.api.put(`/orgs/${org}/members/${person.id}`, { role: "member" });
    await admin.api.put(`/orgs/${org}/members/${person.id}`, { role: "admin" });
    // The first was the role that the person has anyway.
    expect((await stream.next())?.event).toBe("access");
    expect((await stream.next())?.data.action).toBe("member.change_role");
    const expectedId = ofProject();
    expect(await nextId(filtered)).toBe(expectedId);
  });

  test("[EV18] a role that is granted on a project applies to a stream that is open", async () => {
    const stream = await follow(person);
    expect((await admin.api.post(`/projects/${project}/rbac`, { user_id: person.id, role: "viewer" })).status).toBe(
      201,
    );
    const expectedId = ofProject();
    expect((await stream.next())?.event).toBe("access");
    expect((await stream.next())?.data.action).toBe("role_binding.grant");
    expect(await nextId(stream)).toBe(expectedId);
  });
});

describe("the number of streams", () => {
  test("[EV26] a user has at most 100 event streams over all sessions, and a closed one makes room", async () => {
    const person = await world.person({ org });
    const again = await world.login(person.username, person.password);
    const elsewhere = world.anyone.with({ authorization: `Bearer ${again.token}` });
    const streams = await Promise.all(Array.from({ length: 100 }, () => follow(person)));
    for (const api of [person.api, elsewhere]) {
      expect(await api.get("/events/stream")).toMatchObject({
        status: 429,
        body: { detail: "You have 100 event streams open already; close one before you open another." },
      });
    }
    await follow(admin);
    streams[0]?.leave();
    await vi.waitFor(async () => expect((await elsewhere.get("/events/stream")).status).toBe(200), 10_000);
  });
});

describe("the end of a session", () => {
  let person: Person;
  beforeEach(async () => {
    person = await world.person({ org });
  });

  test("[EV19] a logout ends the streams of that session and no other", async () => {
    const again = await world.login(person.username, person.password);
    const other = await world.anyone.with({ authorization: `Bearer ${again.token}` }).follow("/events/stream");
    opened.push(other);
    const stream = await follow(person);
    await person.api.post("/logout", undefined, { headers: { cookie: person.cookie } });
    const expectedId = ofCluster();
    expect(await stream.rest()).toEqual([]);
    expect(await nextId(other)).toBe(expectedId);
  });

  test("[EV19] a changed password ends all event streams of the user", async () => {
    const stream = await follow(person);
    const body = { password: "another long secret", current_password: person.password };
    expect((await person.api.patch(`/user/${person.id}`, body)).status).toBe(200);
    expect(await stream.rest()).toEqual([]);
  });

  test("[EV19] a disabled user gets no more events, and neither does a session that a superuser has ended", async () => {
    const [stream, other] = [await follow(person), await follow(await world.person({ org }))];
    const [{ id }] = (await person.api.get("/sessions")).body.data;
    expect((await world.admin.api.delete(`/sessions/${id}?user_id=${person.id}`)).status).toBe(204);
    expect(await stream.rest()).toEqual([]);
    const again = await world.login(person.username, person.password);
    const later = await world.anyone.with({ authorization: `Bearer ${again.token}` }).follow("/events/stream");
    expect((await world.admin.api.patch(`/user/${person.id}/disabled`, { disabled: true })).status).toBe(200);
    expect(await later.rest()).toEqual([]);
    const expectedId = ofCluster();
    expect(await nextId(other)).toBe(expectedId);
  });

  test("[EV19] a deleted user gets no more events", async () => {
    const stream = await follow(person);
    expect((await person.api.delete(`/user/${person.id}`)).status).toBe(204);
    ofCluster();
    expect(await stream.rest()).toEqual([]);
  });
});
