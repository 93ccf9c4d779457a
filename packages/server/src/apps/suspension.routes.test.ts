import { randomBytes } from "node:crypto";
import { startWorld } from "@binnacle/world";
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { EVENTS_TOPIC, type Event } from "../events/event.ts";
import { operatorFor, type TestOperator } from "../hub/operator.fixture.ts";
import { SOON } from "../jobs/jobs.fixture.ts";
import { openShop, type Shop, WEB } from "./app.fixture.ts";

const SIGNING_KEY = randomBytes(32).toString("base64url");
const REASON = "Incident 42: the database is being restored.";
const SCALE = { component_name: "web", replicas: 3 };
const CALM = { state: "in_sync", summary: null, fields: [], detected_at: null } as const;

const world = await startWorld({ env: { BINNACLE_SECRET_KEY: SIGNING_KEY } });
const open: TestOperator[] = [];
let shop: Shop;
beforeEach(async () => {
  shop = await openShop(world);
});
afterEach(async () => {
  for (const operator of open.splice(0)) await operator.leave();
});
afterAll(() => world.stop());

const read = async (name: string) => (await shop.viewer.api.get(shop.path(name))).body;
const act = (name: string, rest: string, body?: unknown) => shop.editor.api.post(shop.path(name, rest), body);
const rowOf = (name: string) =>
  world.database.kysely.selectFrom("apps").selectAll().where("name", "=", name).executeTakeFirstOrThrow();
const auditOf = async (name: string, action: string) =>
  (await shop.admin.api.get(`/orgs/${shop.org}/audit-log?action=${action}`)).body.data.filter(
    ({ resource }: { resource: { name: string } }) => resource.name === name,
  );
const newestDeployment = async (name: string) =>
  world.database.kysely
    .selectFrom("app_deployments")
    .innerJoin("apps", "apps.id", "app_deployments.app_id")
    .select(["app_deployments.status", "app_deployments.generation", "deadline_at"])
    .where("apps.name", "=", name)
    .orderBy("app_deployments.revision", "desc")
    .executeTakeFirstOrThrow();

/** An operator that stores everything and reports the app as running. */
async function connected(suspends: boolean | undefined): Promise<TestOperator> {
  const operator = (await operatorFor(world, SIGNING_KEY, shop.cluster)).storesAll();
  open.push(operator);
  const { onFrame } = operator;
  operator.onFrame = (frame) => {
    onFrame(frame);
    if (frame.type !== "apply" || frame.kind !== "app") return;
    const { key, resource_id, generation, body } = frame;
    const report = {
      phase: "running",
      reason: "RolloutComplete",
      message: null,
      components: [{ name: "web", ready_replicas: 2 }],
      drift: CALM,
      ...(suspends && body.spec.suspended ? { suspended: true } : {}),
    };
    operator.say({ type: "status", id: crypto.randomUUID(), key, resource_id, generation, report });
  };
  await operator.opened();
  operator.hello(suspends === undefined ? {} : { suspends });
  const welcome = await operator.next("welcome");
  if (welcome.resume === "inventory") operator.say({ type: "inventory", entries: [], more: false });
  return operator;
}

const settled = (name: string, expected: object) =>
  vi.waitFor(async () => expect(await read(name)).toMatchObject(expected), SOON);

describe("suspending", () => {
  test("[AP600] editors suspend an app with a reason, which is shown with who and when, audited, announced and sent to the cluster", async () => {
    const name = await shop.app();
    const events: Event[] = [];
    const stop = world.bus.subscribe(EVENTS_TOPIC, (event) => events.push(event as Event));
    const answer = await act(name, "/suspend", { reason: REASON });
    const suspended = { by: shop.editor.email, at: expect.any(String), reason: REASON, state: "pending" };
    expect(answer).toMatchObject({ status: 200, body: { suspended, generation: 2, revision: 1, phase: "pending" } });
    expect(answer.headers.get("etag")).toBe((await shop.viewer.api.get(shop.path(name))).headers.get("etag"));
    expect(await read(name)).toMatchObject({ suspended });
    const apps = (await shop.viewer.api.get(`/apps?project_id=${shop.project}`)).body.data;
    expect(apps).toMatchObject([{ name, suspended }]);
    const summaries = (await shop.viewer.api.get(`/app-summaries?project_id=${shop.project}`)).body.data;
    expect(summaries).toMatchObject([{ name, suspended: true }]);
    await vi.waitFor(
      () => expect(events.find(({ type }) => type === "app")).toMatchObject({ suspended: true, generation: 2 }),
      SOON,
    );
    stop();
    const entries = await auditOf(name, "app.suspend");
    expect(entries).toMatchObject([{ actor: { email: shop.editor.email }, changes: { reason: REASON } }]);
    const operator = await connected(true);
    const { body } = await operator.next("apply", ({ kind }) => kind === "app");
    expect(body.spec).toMatchObject({ name, suspended: true });
    expect(JSON.stringify(body)).not.toContain("Incident");
  });

  test("[AP600] viewers and strangers suspend nothing, and neither does a bad request", async () => {
    const name = await shop.app();
    const before = await rowOf(name);
    const path = shop.path(name, "/suspend");
    expect((await shop.viewer.api.post(path)).status).toBe(403);
    expect((await shop.viewer.api.post(shop.path(name, "/unsuspend"))).status).toBe(403);
    expect((await shop.stranger.api.post(path)).status).toBe(404);
    for (const body of [{ reason: "x".repeat(501) }, { reason: "a\nb" }, { reason: 3 }, { why: "x" }])
      expect((await act(name, "/suspend", body)).status).toBe(422);
    const stale = await shop.editor.api.post(path, {}, { headers: { "if-match": '"another"' } });
    expect(stale.status).toBe(412);
    expect(await rowOf(name)).toEqual(before);
  });

  test("[AP601] a second suspension keeps who, when and why of the first, and neither it nor a needless end is on record", async () => {
    const name = await shop.app();
    expect((await act(name, "/unsuspend")).body).toMatchObject({ suspended: null, generation: 1 });
    const first = (await act(name, "/suspend", { reason: REASON })).body;
    const second = await shop.admin.api.post(shop.path(name, "/suspend"), { reason: "Another one." });
    expect(second).toMatchObject({ status: 200, body: { suspended: first.suspended, generation: 2 } });
    expect(await auditOf(name, "app.suspend")).toHaveLength(1);
    expect((await act(name, "/unsuspend")).body).toMatchObject({ suspended: null, generation: 3 });
    expect((await act(name, "/unsuspend")).body).toMatchObject({ suspended: null, generation: 3 });
    expect(await auditOf(name, "app.unsuspend")).toHaveLength(1);
  });

  test("[AP601] an app is suspended and unsuspended while other managers hold its fields", async () => {
    const name = await shop.app();
    await world.database.kysely
      .updateTable("apps")
      .set({ drift_state: "blocked_sync" })
      .where("name", "=", name)
      .execute();
    expect((await act(name, "/suspend")).status).toBe(200);
    expect((await act(name, "/unsuspend")).status).toBe(200);
  });
});

describe("an app that is suspended", () => {
  test("[AP602] an app that is suspended takes changes, whose deployments stay pending without a deadline and end after the suspension", async () => {
    const operator = await connected(true);
    const name = await shop.app();
    await settled(name, { phase: "running" });
    await act(name, "/suspend");
    expect((await act(name, "/scale", SCALE)).body).toMatchObject({ revision: 2, generation: 3 });
    await settled(name, { observed_generation: 3, phase: "running", suspended: { state: "in_effect" } });
    expect(await newestDeployment(name)).toEqual({ status: "pending", generation: 3, deadline_at: null });
    const stored = await operator.next("apply", ({ generation }) => generation === 3);
    expect(stored.body.spec).toMatchObject({ suspended: true, components: [{ workload_spec: { replicas: 3 } }] });
    const ended = await act(name, "/unsuspend");
    expect(ended.body).toMatchObject({ suspended: null, generation: 4, revision: 2 });
    const sent = await operator.next("apply", ({ generation }) => generation === 4);
    expect(sent.body.spec).not.toHaveProperty("suspended");
    await vi.waitFor(
      async () => expect(await newestDeployment(name)).toMatchObject({ status: "succeeded", generation: 4 }),
      SOON,
    );
  });

  test("[AP602] what was pending when it was suspended has its whole time afterwards, and is forced if it was to be", async () => {
    const name = await shop.app();
    await act(name, "/redeploy", { force: true });
    const before = await newestDeployment(name);
    await act(name, "/suspend");
    expect(await newestDeployment(name)).toEqual({ status: "pending", generation: 3, deadline_at: null });
    world.clock.advance(60_000);
    await act(name, "/unsuspend");
    const after = await newestDeployment(name);
    expect(after).toMatchObject({ status: "pending", generation: 4 });
    expect(Number(after.deadline_at)).toBeGreaterThan(Number(before.deadline_at));
    expect(await rowOf(name)).toMatchObject({ forced_generation: 4 });
  });

  test.each([
    ["that knows of it and confirms it", true, "in_effect"],
    ["that is too old to know of it", undefined, "not_in_effect"],
  ])("[AP603] a suspension under an operator %s says whether it holds", async (_, suspends, state) => {
    await connected(suspends);
    const name = await shop.app();
    await settled(name, { phase: "running" });
    const { body } = await act(name, "/suspend");
    expect(body.suspended.state).toBe(suspends ? "pending" : "not_in_effect");
    await settled(name, { observed_generation: 2, suspended: { state } });
  });

  test("[AP604] an app that is suspended is not deleted, nor with its project, until the suspension has ended", async () => {
    const name = await shop.app([WEB]);
    await act(name, "/suspend");
    const refused = { status: 409, body: { detail: { code: "app_suspended", name } } };
    expect(await shop.editor.api.delete(shop.path(name))).toMatchObject(refused);
    expect((await shop.admin.api.delete(`/projects/${shop.project}`)).status).toBe(409);
    expect(await read(name)).toMatchObject({ generation: 2 });
    expect((await shop.viewer.api.get(`/projects/${shop.project}`)).body.lifecycle).not.toBe("cleanup_pending");
    await act(name, "/unsuspend");
    expect((await shop.editor.api.delete(shop.path(name))).status).toBe(204);
    expect(await act(name, "/suspend")).toMatchObject({ status: 409, body: { detail: { code: "app_deleting" } } });
  });
});
