import type { LeftObject } from "@binnacle/contract";
import { startWorld } from "@binnacle/world";
import { afterAll, beforeEach, describe, expect, test, vi } from "vitest";
import { bindRole } from "../access/bindings.fixture.ts";
import { EVENTS_TOPIC, type Event } from "../events/event.ts";
import { Fault } from "../fault.ts";
import { listeningLog, SOON } from "../jobs/jobs.fixture.ts";
import { insertAddonInstance } from "../projects/contents.fixture.ts";
import { endAbandoned, endDetaching, startDetaching } from "./abandonment.runner.ts";
import { detachMessage } from "./abandonment.ts";
import { connectOperator, provisionedCluster, registeredCluster } from "./clusters.fixture.ts";

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
const { org, admin: orgAdmin } = await world.orgWithPeople();
const { kysely: db } = world.database;
let cluster: { id: string; name: string };
afterAll(() => world.stop());
beforeEach(async () => {
  cluster = await registeredCluster(orgAdmin.api, org);
});

const detach = (name = cluster.name, api = orgAdmin.api) => api.post(`/clusters/${cluster.id}/detach`, { name });
const read = async (path: string) => (await orgAdmin.api.get(path)).body;
const statusOf = async () => (await orgAdmin.api.get(`/clusters/${cluster.id}`)).status;

/** The session of an operator that lists what it can. */
async function connected(detaches: boolean | null = true, id = cluster.id): Promise<void> {
  await connectOperator(db, id, world.clock.now());
  await db.updateTable("clusters").set({ detaches }).where("id", "=", id).execute();
}

/** A project with an app and an addon instance. */
async function fill(): Promise<string> {
  const { body } = await orgAdmin.api.post("/projects", { name: "shop", cluster_id: cluster.id });
  const components = [{ name: "web", workload_spec: { image: "nginx:1.29" } }];
  await orgAdmin.api.post("/apps", { name: "web", project_id: body.id, components });
  await insertAddonInstance(db, { org_id: org, cluster_id: cluster.id, project_id: body.id, namespace: "shop" }, "db");
  return body.id;
}

const LEFT: LeftObject = { kind: "Namespace", namespace: null, name: "shop", reason: "It is held." };
/** A pass of the worker, in which the operator answers so. */
const askOperator = (answer: (id: string) => Promise<readonly LeftObject[]>, atOnce = 20) =>
  endDetaching(portsWith(answer), { everyMs: 0, atOnce });
const portsWith = (detach: (id: string) => Promise<readonly LeftObject[]>) => ({
  ...{ db, bus: world.bus, clock: world.clock.now, log: listeningLog() },
  operators: { detach },
});

describe("detaching a cluster", () => {
  test("[CL112] [PR75] a cluster that is detached reads so with all that is on it, takes no changes, and its operator is told to remove nothing", async () => {
    const project = await fill();
    await connected();
    const answer = await detach();
    const counts = { namespaces: ["shop"], apps: 1, addon_instances: 1 };
    expect(answer).toMatchObject({ status: 202, body: { cluster_id: cluster.id, name: cluster.name, ...counts } });
    expect(await read(`/clusters/${cluster.id}`)).toMatchObject({ status: "detaching", message: null });
    const detached = { lifecycle: "cleanup_degraded", lifecycle_reason: "cluster_detached" };
    expect(await read(`/projects/${project}`)).toMatchObject(detached);
    const deleting = { phase: "deleting", phase_reason: "cluster_detached" };
    expect(await read(`/apps/shop/web?project_id=${project}`)).toMatchObject(deleting);
    const wanted = await db
      .selectFrom("desired_resources")
      .select(["key", "removed_at"])
      .where("cluster_id", "=", cluster.id)
      .execute();
    expect(wanted.length).toBeGreaterThan(2);
    expect(wanted.filter(({ removed_at }) => removed_at !== null)).toEqual([]);
    const changed = await orgAdmin.api.patch(`/clusters/${cluster.id}`, { name: "another" });
    expect(changed.status).toBe(409);
    expect((await orgAdmin.api.post(`/apps/shop/web/pause?project_id=${project}`)).status).toBe(409);
    expect(await read(`/orgs/${org}/audit-log?action=cluster.detach&resource_id=${cluster.id}`)).toMatchObject({
      data: [{ changes: counts }],
    });
  });

  test("[CL112] asked again, the answer is the same and nothing is on record, and a cluster that is detached is not abandoned", async () => {
    await fill();
    await connected();
    const first = await detach();
    expect(await detach()).toMatchObject({ status: 202, body: first.body });
    expect((await read(`/orgs/${org}/audit-log?action=cluster.detach&resource_id=${cluster.id}`)).data).toHaveLength(1);
    const abandoned = await orgAdmin.api.post(`/clusters/${cluster.id}/abandon`, { name: cluster.name });
    expect(abandoned).toMatchObject({ status: 409, body: { detail: expect.stringContaining("is being detached") } });
  });

  test("[CL113] detaching is for administrators of the organization", async () => {
    await connected();
    const [admin, stranger] = [await world.person({ org }), await world.person()];
    await bindRole(db, admin.id, "admin", { cluster: cluster.id });
    expect((await detach(cluster.name, admin.api)).status).toBe(403);
    expect((await detach(cluster.name, stranger.api)).status).toBe(404);
    expect((await detach(cluster.name, world.anyone)).status).toBe(401);
    expect((await read(`/clusters/${cluster.id}`)).status).toBe("connected");
  });

  test.each([
    ["that is not connected", async () => undefined, "abandon"],
    ["whose operator is too old for it", () => connected(false), "Upgrade the operator"],
    ["whose operator has not said", () => connected(null), "Upgrade the operator"],
  ])("[CL113] a cluster %s is not detached, with words that say what to do", async (_, prepare, words) => {
    await prepare();
    expect(await detach()).toMatchObject({ status: 409, body: { detail: expect.stringContaining(words) } });
    expect((await read(`/clusters/${cluster.id}`)).status).not.toBe("detaching");
  });

  test("[CL113] a cluster that Binnacle has made is not detached, nor one that was abandoned, and neither with another name", async () => {
    const made = await provisionedCluster(orgAdmin.api, org);
    await connected(true, made.id);
    const refused = await orgAdmin.api.post(`/clusters/${made.id}/detach`, { name: made.name });
    expect(refused).toMatchObject({ status: 409, body: { detail: expect.stringContaining("has made the machines") } });
    for (const name of ["", `${cluster.name} `]) expect((await detach(name)).status).toBe(422);
    await orgAdmin.api.post(`/clusters/${cluster.id}/abandon`, { name: cluster.name });
    await connected();
    expect(await detach()).toMatchObject({ status: 409, body: { detail: expect.stringContaining("was abandoned") } });
  });
});

describe("the end of a detached cluster", () => {
  test("[CL114] the records end once the operator has let go of everything, and not before, which is on record and announced", async () => {
    const project = await fill();
    await connected();
    await detach();
    await askOperator(async () => [LEFT]);
    expect(await read(`/clusters/${cluster.id}`)).toMatchObject({
      status: "detaching",
      message: "The operator has not let go yet of: Namespace shop (It is held.).",
    });
    await askOperator(() => Promise.reject(new Fault("unavailable", "Its connection was lost.")));
    await endAbandoned({ db, bus: world.bus, clock: world.clock.now });
    expect(await statusOf()).toBe(200);
    const heard: Event[] = [];
    const unsubscribe = world.bus.subscribe(EVENTS_TOPIC, (event) => void heard.push(event as Event));
    await askOperator(async () => []);
    unsubscribe();
    expect(await statusOf()).toBe(404);
    expect((await orgAdmin.api.get(`/projects/${project}`)).status).toBe(404);
    expect(heard.find(({ type }) => type === "project")).toMatchObject({ deleted: true, resource: { name: "shop" } });
    expect((await read(`/orgs/${org}/audit-log?action=cluster.delete&resource_id=${cluster.id}`)).data).toMatchObject([
      { actor: { id: null }, changes: { detached: true, namespaces: ["shop"], confirmed_by_cluster: true } },
    ]);
    for (const table of ["projects", "apps", "addon_instances", "desired_resources"] as const) {
      const rows = await db.selectFrom(table).select("cluster_id").where("cluster_id", "=", cluster.id).execute();
      expect([table, rows]).toEqual([table, []]);
    }
  });

  test("[CL114] a cluster without projects ends by the word of its operator too, and only while that is connected", async () => {
    await connected();
    await detach();
    world.clock.advance(1_000);
    await db.updateTable("clusters").set({ last_heartbeat: world.clock.now() }).where("id", "=", cluster.id).execute();
    await endAbandoned({ db, bus: world.bus, clock: world.clock.now });
    expect(await statusOf()).toBe(200);
    await db.deleteFrom("cluster_sessions").where("cluster_id", "=", cluster.id).execute();
    await askOperator(() => Promise.reject(new Error("nobody is asked")));
    expect(await statusOf()).toBe(200);
    await connected();
    await askOperator(async () => []);
    expect(await statusOf()).toBe(404);
  });

  /** Clusters that are being detached and are connected, and no others. */
  async function several(count: number): Promise<string[]> {
    while (await askOperator(async () => []));
    const clusters = [];
    for (let index = 0; index < count; index++) {
      cluster = await registeredCluster(orgAdmin.api, org);
      await connected();
      await detach();
      clusters.push(cluster.id);
    }
    return clusters;
  }

  test("[CL114] a round asks a few operators, and the next one those first that were not asked for longest", async () => {
    const clusters = await several(3);
    const rounds: string[][] = [];
    for (const more of [true, true, true]) {
      const round: string[] = [];
      rounds.push(round);
      const isMore = await askOperator(async (id) => {
        round.push(id);
        return [LEFT];
      }, 2);
      expect(isMore).toBe(more);
    }
    expect(rounds.map(({ length }) => length)).toEqual([2, 2, 2]);
    expect(new Set(rounds.slice(0, 2).flat())).toEqual(new Set(clusters));
    expect(new Set(rounds.slice(1).flat())).toEqual(new Set(clusters));
    // Other replicas do not ask what was asked a moment ago.
    expect(await endDetaching(portsWith(() => Promise.reject(new Error("asked twice"))))).toBe(false);
  });

  test("[CL114] an operator that fails keeps none of the others from ending, and the rounds go on until they are stopped", async () => {
    const [broken] = await several(2);
    let asked = 0;
    const rounds = startDetaching(
      portsWith(async (id) => {
        if (id === broken && ++asked < 3) throw new Error("It is broken.");
        return [];
      }),
      { everyMs: 10 },
    );
    const left = db.selectFrom("clusters").select("id").where("detach_requested_at", "is not", null);
    await vi.waitFor(async () => expect(await left.execute()).toEqual([]), SOON);
    await rounds.stop();
    expect(asked).toBe(3);
  });

  test("[CL114] whoever does not want to wait deletes the cluster", async () => {
    await fill();
    await connected();
    await detach();
    expect((await orgAdmin.api.delete(`/clusters/${cluster.id}`)).status).toBe(204);
    expect(await statusOf()).toBe(404);
  });

  test("[CL114] of much that is left only the first are named", () => {
    const left = Array.from({ length: 7 }, (_, index) => ({ ...LEFT, namespace: "shop", name: `web-${index}` }));
    expect(detachMessage(left)).toMatch(/shop\/web-0 \(It is held\.\).*web-4.* and 2 more\.$/);
  });
});
