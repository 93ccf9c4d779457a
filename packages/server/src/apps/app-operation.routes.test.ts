import { Deployment } from "@binnacle/contract";
import { startWorld } from "@binnacle/world";
import { afterAll, describe, expect, test, vi } from "vitest";
import { definitionId } from "../catalog/catalog-file.ts";
import { DISPATCH_TOPIC } from "../dispatch/dispatch.ts";
import { EVENTS_TOPIC, type Event } from "../events/event.ts";
import { schemaProblems } from "../http/checked.fixture.ts";
import { newId } from "../id.adapter.ts";
import { SOON } from "../jobs/jobs.fixture.ts";
import { insertInstance, openShop, WEB, workload } from "./app.fixture.ts";

const POSTGRESQL = definitionId("postgresql");

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
const shop = await openShop(world);
afterAll(() => world.stop());

const read = async (name: string) => (await shop.viewer.api.get(shop.path(name))).body;
const act = (name: string, rest: string, body?: unknown) => shop.editor.api.post(shop.path(name, rest), body);
const deployments = async (name: string) => (await shop.viewer.api.get(shop.path(name, "/deployments"))).body.data;

const deployment = async (name: string, { deployment_id }: { deployment_id: string }) =>
  (await shop.viewer.api.get(shop.path(name, `/deployments/${deployment_id}`))).body;

async function report(name: string, facts: object): Promise<void> {
  await world.database.kysely.updateTable("apps").set(facts).where("name", "=", name).execute();
}

describe("every operation", () => {
  test("[AP20] every operation on an app writes a deployment with the next revision and supersedes a pending one", async () => {
    const name = await shop.app();
    await act(name, "/scale", { component_name: "web", replicas: 3 });
    const [newest, first] = await deployments(name);
    expect(newest).toMatchObject({
      revision: 2,
      operation: "scale",
      status: "pending",
      message: null,
      created_by: shop.editor.email,
      finished_at: null,
    });
    expect((await deployment(name, newest)).spec).toMatchObject({
      components: [{ name: "web", workload_spec: { replicas: 3 } }],
      paused: false,
    });
    expect(first).toMatchObject({ revision: 1, operation: "create", status: "superseded" });
    expect(first.finished_at).not.toBeNull();
  });

  test("[AP21] every operation on an app raises its generation and sets its phase to pending", async () => {
    const name = await shop.app();
    await report(name, { phase: "running", phase_reason: "Ready", observed_generation: 1 });
    await act(name, "/redeploy");
    const app = await read(name);
    expect(app).toMatchObject({ generation: 2, observed_generation: 1, phase: "pending" });
    expect(app.phase_reason).not.toBe("Ready");
    const desired = await world.database.kysely
      .selectFrom("desired_resources")
      .selectAll()
      .where("resource_id", "=", app.id)
      .executeTakeFirstOrThrow();
    expect(desired).toMatchObject({
      kind: "app",
      key: `app/${shop.namespace}/${name}`,
      generation: 2,
      removed_at: null,
    });
  });

  test("[AP22] every operation on an app is announced on the event stream and to the hub", async () => {
    const name = await shop.app();
    const { id } = await read(name);
    const events: Event[] = [];
    const desired: unknown[] = [];
    const stops = [
      world.bus.subscribe(EVENTS_TOPIC, (event) => events.push(event as Event)),
      world.bus.subscribe(DISPATCH_TOPIC, (hint) => desired.push(hint)),
    ];
    await act(name, "/pause");
    await vi.waitFor(() => expect(events.some(({ type }) => type === "app")).toBe(true), SOON);
    await vi.waitFor(() => expect(desired).toContainEqual({ cluster_id: shop.cluster }), SOON);
    for (const stop of stops) stop();
    expect(events.find(({ type }) => type === "app")).toMatchObject({
      org_id: shop.org,
      cluster_id: shop.cluster,
      project_id: shop.project,
      workload_id: id,
      resource: { type: "app", id, name, namespace: shop.namespace },
      phase: "pending",
      paused: true,
    });
  });

  test("[AP23] while the drift is blocked_sync, changes of the app are a 409, and a forced redeploy is accepted", async () => {
    const name = await shop.app([WEB], {});
    const addon = await insertInstance(world, shop, `i${name}`);
    await report(name, { drift_state: "blocked_sync", drift_summary: "Somebody owns spec.replicas." });
    const refused = {
      status: 409,
      body: { detail: { code: "blocked_sync", summary: "Somebody owns spec.replicas." } },
    };
    expect(await act(name, "/scale", { component_name: "web", replicas: 3 })).toMatchObject(refused);
    expect(await act(name, "/pause")).toMatchObject(refused);
    expect(await act(name, "/resume")).toMatchObject(refused);
    expect(await act(name, "/redeploy")).toMatchObject(refused);
    expect(await act(name, "/rollback", { revision: 1 })).toMatchObject(refused);
    expect(await act(name, "/attach-addon", { addon_instance_id: addon })).toMatchObject(refused);
    expect(await shop.editor.api.patch(shop.path(name), { description: "x" })).toMatchObject(refused);
    const secrets = shop.path(name, "/components/web/secrets");
    expect(await shop.editor.api.patch(secrets, { KEY: "v" })).toMatchObject(refused);

    const forced = await act(name, "/redeploy", { force: true });
    expect(forced).toMatchObject({ status: 200, body: { drift: { state: "unknown", summary: null }, generation: 2 } });
    expect((await act(name, "/pause")).status).toBe(200);
    const { forced_generation } = await world.database.kysely
      .selectFrom("apps")
      .select("forced_generation")
      .where("name", "=", name)
      .executeTakeFirstOrThrow();
    expect(forced_generation).toBe(2);
  });

  test("[AP17] pause, resume and redeploy need an editor, and project_id in the query", async () => {
    const name = await shop.app();
    for (const rest of ["/pause", "/resume", "/redeploy"]) {
      expect((await shop.viewer.api.post(shop.path(name, rest))).status).toBe(403);
      expect((await shop.stranger.api.post(shop.path(name, rest))).status).toBe(404);
      expect((await world.anyone.post(shop.path(name, rest))).status).toBe(401);
      expect((await shop.editor.api.post(`/apps/${shop.namespace}/${name}${rest}`)).status).toBe(422);
    }
  });
});

describe("scale", () => {
  test("[AP24] scaling sets the replicas of one component", async () => {
    const name = await shop.app([WEB, workload("worker")]);
    const { status, body } = await act(name, "/scale", { component_name: "web", replicas: 5 });
    expect(status).toBe(200);
    expect(body.components).toMatchObject([{ workload_spec: { replicas: 5 } }, { workload_spec: { replicas: 2 } }]);
  });

  test("[AP25] scaling a component with autoscale changes its minimum, up to its maximum", async () => {
    const autoscale = { min: 1, max: 6, cpu_percent: 70 };
    const name = await shop.app([{ name: "web", workload_spec: { image: "x", replicas: 2, autoscale } }]);
    const { status, body } = await act(name, "/scale", { component_name: "web", replicas: 4 });
    expect([status, body.components[0].workload_spec]).toMatchObject([
      200,
      { replicas: 2, autoscale: { min: 4, max: 6 } },
    ]);
    const past = await act(name, "/scale", { component_name: "web", replicas: 7 });
    expect(past).toMatchObject({ status: 422, body: { detail: [{ loc: ["body", "replicas"] }] } });
  });

  test.each(["job", "cronjob", "daemonset"])("[AP76] scaling a %s is a 422", async (kind) => {
    const schedule = kind === "cronjob" ? { schedule: "0 3 * * *" } : {};
    const name = await shop.app([{ name: "work", workload_spec: { kind, image: "worker:1", ...schedule } }]);
    expect(await act(name, "/scale", { component_name: "work", replicas: 2 })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "component_name"], type: "value_error", msg: expect.stringContaining(kind) }] },
    });
  });

  test("[AP26] scaling to 0 or a component without replicas is a 422, and an unknown component a 404", async () => {
    const name = await shop.app([
      WEB,
      { name: "cache", type: "chart", chart_spec: { repo: "https://x", name: "redis" } },
    ]);
    expect(await act(name, "/scale", { component_name: "web", replicas: 0 })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "replicas"], type: "greater_than" }] },
    });
    expect((await act(name, "/scale", { component_name: "absent", replicas: 1 })).status).toBe(404);
    expect(await act(name, "/scale", { component_name: "cache", replicas: 1 })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "component_name"], type: "value_error" }] },
    });
  });

  test("[AP27] scaling a paused app is a 409, and so is a patch of its replicas", async () => {
    const name = await shop.app();
    await act(name, "/pause");
    const refused = { status: 409, body: { detail: { code: "app_paused" } } };
    expect(await act(name, "/scale", { component_name: "web", replicas: 3 })).toMatchObject(refused);
    const components = [{ op: "patch", name: "web", workload_spec: { replicas: 9 } }];
    expect(await shop.editor.api.patch(shop.path(name), { components })).toMatchObject(refused);
  });
});

describe("pause and resume", () => {
  test("[AP28] a paused app reads with 0 replicas, and resuming it restores the former counts", async () => {
    const name = await shop.app([WEB, workload("worker", { workload_spec: { image: "x", replicas: 7 } })]);
    const counts = (app: { components: { workload_spec: { replicas: number } }[] }) =>
      app.components.map(({ workload_spec }) => workload_spec.replicas);
    const paused = await act(name, "/pause");
    expect([paused.status, paused.body.paused, counts(paused.body)]).toEqual([200, true, [0, 0]]);
    const again = await act(name, "/pause");
    expect([again.status, again.body.paused, counts(again.body)]).toEqual([200, true, [0, 0]]);
    expect(counts(await read(name))).toEqual([0, 0]);
    const [newest] = await deployments(name);
    const whilePaused = await deployment(name, newest);
    expect(counts(whilePaused.spec)).toEqual([0, 0]);
    expect(schemaProblems(Deployment, whilePaused)).toEqual([]);
    const resumed = await act(name, "/resume");
    expect([resumed.status, resumed.body.paused, counts(resumed.body)]).toEqual([200, false, [2, 7]]);
  });

  test("[AP29] resuming an app that is not paused is a 409", async () => {
    const name = await shop.app();
    expect(await act(name, "/resume")).toMatchObject({ status: 409, body: { detail: { code: "app_not_paused" } } });
  });
});

describe("redeploy", () => {
  test("[AP30] a redeploy needs no body and leaves the specification as it is", async () => {
    const name = await shop.app();
    const before = await read(name);
    expect(await act(name, "/redeploy")).toMatchObject({
      status: 200,
      body: { components: before.components, revision: 2 },
    });
    expect((await act(name, "/redeploy", { force: "yes" })).status).toBe(422);
    expect((await act(name, "/redeploy", { hard: true })).status).toBe(422);
  });
});

test.each([
  { drift_state: "blocked_sync", drift_summary: "Somebody owns spec.replicas." },
  { phase: "invalid", phase_reason: "RefusedByCluster" },
  { phase: "failed", phase_reason: "HostTaken" },
])("[AP84] an app that is blocked can be deleted: %o", async (facts) => {
  const name = await shop.app();
  await report(name, facts);
  expect((await shop.editor.api.delete(shop.path(name))).status).toBe(204);
  expect(await read(name)).toMatchObject({ phase: "deleting" });
});

describe("deployments and rollback", () => {
  test("[AP31] the deployments of an app are paginated, newest first, with their total", async () => {
    const name = await shop.app();
    await act(name, "/pause");
    await act(name, "/resume");
    const page = await shop.viewer.api.get(shop.path(name, "/deployments", "&page=2&items_per_page=2"));
    expect(page.body).toMatchObject({ total_count: 3, page: 2, has_more: false, data: [{ operation: "create" }] });
    expect((await shop.stranger.api.get(shop.path(name, "/deployments"))).status).toBe(404);
  });

  test("[AP32] a rollback restores the specification of a revision as a new one, and -1 is the one before", async () => {
    const name = await shop.app();
    await act(name, "/scale", { component_name: "web", replicas: 8 });
    const back = await act(name, "/rollback", { revision: -1 });
    expect(back.status).toBe(200);
    expect(back.body).toMatchObject({ revision: 3, components: [{ workload_spec: { replicas: 2 } }] });
    const [newest, scaled] = await deployments(name);
    expect(newest).toMatchObject({ operation: "rollback", summary: "Rolled back to revision 1: web: 8 → 2 replicas" });
    const byId = await act(name, "/rollback", { deployment_id: scaled.deployment_id });
    expect(byId.body.components[0].workload_spec.replicas).toBe(8);
    const byPath = await act(name, `/deployments/${newest.deployment_id}/rollback`);
    expect(byPath).toMatchObject({
      status: 200,
      body: { revision: 5, components: [{ workload_spec: { replicas: 2 } }] },
    });
  });

  test("[AP32] a rollback to a revision before a pause resumes the app, and one to a paused revision pauses it", async () => {
    const name = await shop.app();
    await act(name, "/pause");
    expect((await act(name, "/rollback", { revision: 1 })).body.paused).toBe(false);
    expect((await act(name, "/rollback", { revision: 2 })).body).toMatchObject({
      paused: true,
      components: [{ workload_spec: { replicas: 0 } }],
    });
    expect((await act(name, "/resume")).body.components[0].workload_spec.replicas).toBe(2);
  });

  test("[AP87] a rollback to an older version of a database needs allow_downgrade in its body, on both routes", async () => {
    const db = { name: "db", type: "addon", addon_spec: { definition_id: POSTGRESQL, chart_version: "0.12.4" } };
    const name = await shop.app([db]);
    const to = (chart_version: string, more: object = {}) =>
      shop.editor.api.patch(shop.path(name), {
        components: [{ op: "patch", name: "db", addon_spec: { chart_version }, ...more }],
      });
    expect((await to("0.20.1")).status).toBe(200);
    const [, first] = await deployments(name);
    const conflict = { status: 409, body: { detail: { code: "stateful_downgrade", component: "db" } } };
    const byPath = `/deployments/${first.deployment_id}/rollback`;
    expect(await to("0.12.4")).toMatchObject(conflict);
    expect(await act(name, "/rollback", { revision: 1 })).toMatchObject(conflict);
    expect(await act(name, byPath)).toMatchObject(conflict);
    expect(await act(name, byPath, { allow_downgrade: false })).toMatchObject(conflict);
    expect((await read(name)).revision).toBe(2);
    for (const back of [
      () => act(name, "/rollback", { revision: 1, allow_downgrade: true }),
      () => act(name, byPath, { allow_downgrade: true }),
      () => to("0.12.4", { allow_downgrade: true }),
    ]) {
      expect(await back()).toMatchObject({
        status: 200,
        body: { components: [{ addon_spec: { chart_version: "0.12.4" } }] },
      });
      expect((await to("0.20.1")).status).toBe(200);
    }
  });

  test("[AP33] a rollback to an unknown revision or deployment, also another app's, is a 404", async () => {
    const [name, other] = [await shop.app(), await shop.app()];
    const [foreign] = await deployments(other);
    for (const body of [{ revision: 9 }, { revision: 0 }, { revision: -1 }, { deployment_id: foreign.deployment_id }]) {
      expect(await act(name, "/rollback", body)).toMatchObject({
        status: 404,
        body: { detail: "Deployment not found." },
      });
    }
    expect((await act(name, `/deployments/${newId()}/rollback`)).status).toBe(404);
    expect((await act(name, "/deployments/nonsense/rollback")).status).toBe(422);
  });

  test("[AP34] a rollback with both or neither of deployment_id and revision is a 422 at the body", async () => {
    const name = await shop.app();
    for (const body of [{}, { revision: 1, deployment_id: newId() }]) {
      expect(await act(name, "/rollback", body)).toMatchObject({
        status: 422,
        body: { detail: [{ loc: ["body"], type: "value_error" }] },
      });
    }
    expect((await act(name, "/rollback", { revision: -2 })).status).toBe(422);
  });
});
