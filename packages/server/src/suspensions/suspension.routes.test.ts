import { randomBytes } from "node:crypto";
import { deleteAddonInstance, deleteApp, deleteProject } from "@binnacle/contract";
import { startWorld } from "@binnacle/world";
import { Check } from "typebox/value";
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { bindRole } from "../access/bindings.fixture.ts";
import { openShop, type Shop, someName } from "../apps/app.fixture.ts";
import { EVENTS_TOPIC, type Event } from "../events/event.ts";
import { operatorFor, type TestOperator } from "../hub/operator.fixture.ts";
import { SOON } from "../jobs/jobs.fixture.ts";
import { insertAddonInstance } from "../projects/contents.fixture.ts";

const SIGNING_KEY = randomBytes(32).toString("base64url");
const REASON = "Maintenance window of the database.";

const world = await startWorld({ env: { BINNACLE_SECRET_KEY: SIGNING_KEY, BINNACLE_ROLES: "api,hub" } });
const open: TestOperator[] = [];
let shop: Shop;
beforeEach(async () => {
  shop = await openShop(world);
});
afterEach(async () => {
  for (const operator of open.splice(0)) await operator.leave();
});
afterAll(() => world.stop());

const SCOPES = ["project", "cluster"] as const;
type Scope = (typeof SCOPES)[number];

const { kysely: db } = world.database;
const pathOf = (scope: Scope, rest = "") => `/${scope}s/${scope === "project" ? shop.project : shop.cluster}${rest}`;
const act = (scope: Scope, verb: "suspend" | "unsuspend", body?: object, api = shop.admin.api) =>
  api.post(pathOf(scope, `/${verb}`), body);
const read = async (scope: Scope) => (await shop.admin.api.get(pathOf(scope))).body;
const readApp = async (name: string) => (await shop.viewer.api.get(shop.path(name))).body;
const auditOf = async (action: string) =>
  (await shop.admin.api.get(`/orgs/${shop.org}/audit-log?action=${action}`)).body.data;
const rowOf = (scope: Scope) =>
  db
    .selectFrom(scope === "project" ? "projects" : "clusters")
    .selectAll()
    .where("id", "=", scope === "project" ? shop.project : shop.cluster)
    .executeTakeFirstOrThrow();
const desired = () =>
  db
    .selectFrom("desired_resources")
    .select(["key", "generation"])
    .where("cluster_id", "=", shop.cluster)
    .orderBy("key")
    .execute();

/** An operator that stores everything and reports projects and apps as far as it knows of suspensions. */
async function connected(suspends: boolean | undefined): Promise<TestOperator> {
  const operator = (await operatorFor(world, SIGNING_KEY, shop.cluster)).storesAll();
  open.push(operator);
  const { onFrame } = operator;
  operator.onFrame = (frame) => {
    onFrame(frame);
    if (frame.type !== "apply" || frame.kind !== "project") return;
    const { key, resource_id, generation, body } = frame;
    const held = suspends && body.spec.suspended ? { suspended: true } : {};
    const report = { state: "ready", message: null, ...held } as const;
    operator.say({ type: "status", id: crypto.randomUUID(), key, resource_id, generation, report });
  };
  await operator.opened();
  operator.hello(suspends === undefined ? {} : { suspends });
  const welcome = await operator.next("welcome");
  if (welcome.resume === "inventory") operator.say({ type: "inventory", entries: [], more: false });
  return operator;
}

const shows = (scope: Scope, suspended: object | null) =>
  vi.waitFor(
    async () => expect((await read(scope)).suspended).toEqual(suspended && expect.objectContaining(suspended)),
    SOON,
  );

describe.each(SCOPES)("a %s", (scope) => {
  test(`[SN1] administrators of a ${scope} suspend it with a reason, which is shown with who and when, audited and announced`, async () => {
    const events: Event[] = [];
    const stop = world.bus.subscribe(EVENTS_TOPIC, (event) => events.push(event as Event));
    const answer = await act(scope, "suspend", { reason: REASON });
    const suspended = { scope, by: shop.admin.email, at: expect.any(String), reason: REASON, state: "pending" };
    expect(answer).toMatchObject({ status: 200, body: { suspended } });
    expect(await read(scope)).toMatchObject({ suspended });
    const type = scope === "project" ? "project" : "cluster-status";
    await vi.waitFor(
      () => expect(events.find((event) => event.type === type)).toMatchObject({ suspended: true }),
      SOON,
    );
    stop();
    expect(await auditOf(`${scope}.suspend`)).toMatchObject([
      { actor: { email: shop.admin.email }, changes: { reason: REASON } },
    ]);
  });

  test(`[SN1] editors and strangers suspend no ${scope}, and neither does a bad request`, async () => {
    const before = await rowOf(scope);
    expect((await act(scope, "suspend", {}, shop.editor.api)).status).toBe(403);
    expect((await act(scope, "unsuspend", undefined, shop.editor.api)).status).toBe(403);
    expect((await act(scope, "suspend", {}, shop.stranger.api)).status).toBe(404);
    expect((await act(scope, "suspend", {}, world.anyone)).status).toBe(401);
    for (const body of [{ reason: "x".repeat(501) }, { reason: "a\nb" }, { reason: 3 }, { why: "x" }])
      expect((await act(scope, "suspend", body)).status).toBe(422);
    expect(await rowOf(scope)).toEqual(before);
  });

  test(`[SN1] whoever has the role of an administrator on the ${scope} alone suspends it`, async () => {
    const person = await world.person({ org: shop.org });
    await bindRole(db, person.id, "admin", { [scope]: scope === "project" ? shop.project : shop.cluster } as never);
    expect((await act(scope, "suspend", {}, person.api)).status).toBe(200);
  });

  test(`[SN1] a second suspension of a ${scope} keeps who, when and why, and neither it nor a needless end is on record`, async () => {
    expect((await act(scope, "unsuspend")).body.suspended).toBeNull();
    const first = (await act(scope, "suspend", { reason: REASON })).body;
    expect((await act(scope, "suspend", { reason: "Another one." })).body.suspended).toEqual(first.suspended);
    expect(await auditOf(`${scope}.suspend`)).toHaveLength(1);
    expect((await act(scope, "unsuspend")).body.suspended).toBeNull();
    expect((await act(scope, "unsuspend")).body.suspended).toBeNull();
    expect(await auditOf(`${scope}.unsuspend`)).toHaveLength(1);
  });

  test(`[SN2] a suspension of a ${scope} sends its projects again and none of their apps`, async () => {
    const names = [await shop.app(), await shop.app()];
    const before = await desired();
    await act(scope, "suspend", { reason: REASON });
    const changed = (await desired()).filter(({ generation }, index) => generation !== before[index]?.generation);
    expect(changed.map(({ key }) => key.split("/")[0])).toEqual(["project"]);
    for (const name of names) expect(await readApp(name)).toMatchObject({ generation: 1, phase: "pending" });
    const operator = await connected(true);
    const { body } = await operator.next("apply", ({ kind }) => kind === "project");
    expect(body.spec).toMatchObject({ suspended: true });
    expect(JSON.stringify(body)).not.toContain("Maintenance");
    await act(scope, "unsuspend");
    const ended = await operator.next("apply", ({ kind, generation }) => kind === "project" && generation > 1);
    expect(ended.body.spec).not.toHaveProperty("suspended");
  });

  test(`[SN10] a second suspension of a ${scope} sends it once more while it is not in effect, and not afterwards`, async () => {
    const generations = async () => (await desired()).map(({ generation }) => Number(generation));
    await act(scope, "suspend");
    const [first = 0] = await generations();
    await act(scope, "suspend");
    expect(await generations()).toEqual([first + 1]);
    const operator = await connected(true);
    const sent = await operator.next("apply", ({ kind }) => kind === "project");
    expect(sent).toMatchObject({ generation: first + 1, body: { spec: { suspended: true } } });
    await shows(scope, { state: "in_effect" });
    await act(scope, "suspend");
    expect(await generations()).toEqual([first + 1]);
    await act(scope, "unsuspend");
    await act(scope, "unsuspend");
    expect(await generations()).toEqual([first + 2]);
  });

  test.each([
    ["that knows of it and confirms it", true, "in_effect"],
    ["that is too old to know of it", undefined, "not_in_effect"],
  ])(`[SN3] a suspension of a ${scope} under an operator %s says whether it holds`, async (_, suspends, state) => {
    const name = await shop.app();
    await connected(suspends);
    const { body } = await act(scope, "suspend");
    expect(body.suspended.state).toBe(suspends ? "pending" : "not_in_effect");
    await shows(scope, { scope, state });
    await vi.waitFor(
      async () =>
        expect(
          (
            await db
              .selectFrom("projects")
              .select("suspension_reported")
              .where("id", "=", shop.project)
              .executeTakeFirstOrThrow()
          ).suspension_reported,
        ).toBe(suspends === true),
      SOON,
    );
    expect((await read("project")).suspended).toMatchObject({ scope, state });
    expect((await readApp(name)).suspended).toMatchObject({ scope, state });
    // Asked again, nothing is forgotten that the operator would not say again.
    await act(scope, "suspend");
    expect((await read(scope)).suspended).toMatchObject({ state });
    await act(scope, "unsuspend");
    await shows(scope, null);
    expect((await readApp(name)).suspended).toBeNull();
  });

  test(`[SN3] an operator that was away when a ${scope} was suspended learns of it when it is back`, async () => {
    const first = await connected(true);
    await first.leave();
    open.splice(0);
    await act(scope, "suspend");
    await connected(true);
    await shows(scope, { state: "in_effect" });
  });

  test(`[SN4] an app of a suspended ${scope} shows that, also in lists and summaries, and keeps a suspension of its own afterwards`, async () => {
    const [own, other] = [await shop.app(), await shop.app()];
    await shop.editor.api.post(shop.path(own, "/suspend"), { reason: "Mine." });
    await act(scope, "suspend", { reason: REASON });
    expect((await readApp(own)).suspended).toMatchObject({ scope: "app", reason: "Mine." });
    expect((await readApp(other)).suspended).toMatchObject({ scope, reason: REASON, by: shop.admin.email });
    const place = `project_id=${shop.project}`;
    const listed = (await shop.viewer.api.get(`/apps?${place}`)).body.data as { name: string; suspended: object }[];
    expect(listed.find(({ name }) => name === other)?.suspended).toMatchObject({ scope });
    const summaries = (await shop.viewer.api.get(`/app-summaries?${place}`)).body.data as { suspended: boolean }[];
    expect(summaries.map(({ suspended }) => suspended)).toEqual([true, true]);
    const listedProjects = (await shop.admin.api.get(`/projects?cluster_id=${shop.cluster}`)).body.data;
    expect(listedProjects).toMatchObject([{ suspended: { scope } }]);
    await act(scope, "unsuspend");
    expect((await readApp(own)).suspended).toMatchObject({ scope: "app" });
    expect((await readApp(other)).suspended).toBeNull();
  });

  test(`[SN5] apps, addon instances and projects of a suspended ${scope} are not deleted until that ends`, async () => {
    const name = await shop.app();
    const place = { org_id: shop.org, cluster_id: shop.cluster, project_id: shop.project, namespace: shop.namespace };
    const addon = await insertAddonInstance(db, place, "db");
    await connected(true);
    await act(scope, "suspend");
    const deletions = [
      { operation: deleteApp, answer: await shop.editor.api.delete(shop.path(name)) },
      { operation: deleteAddonInstance, answer: await shop.editor.api.delete(`/addon-instances/${addon}`) },
      { operation: deleteProject, answer: await shop.admin.api.delete(`/projects/${shop.project}`) },
    ];
    for (const { operation, answer } of deletions) {
      expect(answer, operation.id).toMatchObject({ status: 409, body: { detail: { code: `${scope}_suspended` } } });
      expect(Check(operation.failureBodies[409], answer.body), operation.id).toBe(true);
    }
    expect(await readApp(name)).toMatchObject({ generation: 1 });
    expect((await read("project")).lifecycle).not.toBe("cleanup_pending");
    await act(scope, "unsuspend");
    expect((await shop.editor.api.delete(shop.path(name))).status).toBe(204);
    expect((await shop.admin.api.delete(`/projects/${shop.project}`)).status).toBe(202);
  });
});

test("[SN3] a cluster without projects is suspended as far as its operator knows of it", async () => {
  await db.deleteFrom("projects").where("id", "=", shop.project).execute();
  await act("cluster", "suspend");
  expect((await read("cluster")).suspended.state).toBe("pending");
  await connected(true);
  await shows("cluster", { state: "in_effect" });
});

test("[SN3] a cluster is not reported as suspended before all of its projects are", async () => {
  await connected(true);
  await act("cluster", "suspend");
  await shows("cluster", { state: "in_effect" });
  const { body } = await shop.admin.api.post("/projects", { name: someName(), cluster_id: shop.cluster });
  expect(body.suspended).toMatchObject({ scope: "cluster", state: "pending" });
  await db.updateTable("projects").set({ suspension_reported: null }).where("id", "=", body.id).execute();
  expect((await read("cluster")).suspended.state).toBe("pending");
});

test("[SN4] the end of a project's suspension leaves that of its cluster, and the other way round", async () => {
  await act("cluster", "suspend", { reason: "All of it." });
  await act("project", "suspend", { reason: REASON });
  expect((await read("project")).suspended).toMatchObject({ scope: "project", reason: REASON });
  expect((await act("project", "unsuspend")).body.suspended).toMatchObject({ scope: "cluster", reason: "All of it." });
  await act("project", "suspend", { reason: REASON });
  await act("cluster", "unsuspend");
  expect((await read("project")).suspended).toMatchObject({ scope: "project" });
  expect((await read("cluster")).suspended).toBeNull();
});

test("[SN5] a project that is being deleted is not suspended", async () => {
  await shop.admin.api.delete(`/projects/${shop.project}`);
  expect((await act("project", "suspend")).status).toBe(409);
});
