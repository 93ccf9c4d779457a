import { randomBytes } from "node:crypto";
import type { ComponentRun } from "@binnacle/contract";
import { startWorld } from "@binnacle/world";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { operatorFor, type TestOperator } from "../hub/operator.fixture.ts";
import { newId } from "../id.adapter.ts";
import { openShop, type Shop, WEB } from "./app.fixture.ts";

const SIGNING_KEY = randomBytes(32).toString("base64url");
const AT = "2026-01-31T09:30:00.000Z";

let shop: Shop;
const open: TestOperator[] = [];

const world = await startWorld({ env: { BINNACLE_SECRET_KEY: SIGNING_KEY } });
beforeEach(async () => {
  shop = await openShop(world);
});
afterAll(() => world.stop());
afterEach(async () => {
  for (const operator of open.splice(0)) await operator.leave();
});

/** An operator that keeps the runs that it is told to begin. */
async function connected(prepare: (operator: TestOperator) => unknown = keepsRuns): Promise<TestOperator> {
  const operator = await operatorFor(world, SIGNING_KEY, shop.cluster);
  open.push(operator);
  prepare(operator);
  await operator.greet();
  return operator;
}

function keepsRuns(operator: TestOperator): void {
  const kept = new Map<string, ComponentRun>();
  operator.observes((request) => {
    if (request.name === "run") {
      const { run_id: id, component } = request;
      const times = { created_at: AT, started_at: null, finished_at: null };
      kept.set(id, { id, component, status: "pending", exit_code: null, message: null, ...times });
      return { run: kept.get(id) };
    }
    if (request.name !== "run_status") return { error: { code: "failed", message: "No." } };
    const run = kept.get(request.run_id);
    return { run: run ? { ...run, status: "failed", exit_code: 3, finished_at: AT } : null };
  });
  const { onFrame } = operator;
  operator.onFrame = (frame) => {
    onFrame(frame);
    if (frame.type !== "stream_open") return;
    const line = { component: frame.stream.component, pod: "run-1", container: "web", time: AT, line: "once" };
    operator.say({ type: "stream_data", ref: frame.id, lines: [line], dropped: 0 });
    operator.say({ type: "stream_end", ref: frame.id, error: null });
  };
}

const run = (name: string, body: object = {}, person = shop.editor, component = "web") =>
  person.api.post(shop.path(name, `/components/${component}/run`), body);

test("[AP96] editors run a component once, and the audit log has the names of its variables without their values", async () => {
  const operator = await connected();
  const name = await shop.app();
  const body = { command: ["migrate"], env: [{ name: "TOKEN", value: "hush-hush" }] };
  const begun = await run(name, body);
  expect(begun).toMatchObject({ status: 202, body: { component: "web", status: "pending", exit_code: null } });
  const { id } = begun.body;
  expect((await operator.next("request")).request).toEqual({
    name: "run",
    namespace: shop.namespace,
    app: name,
    run_id: id,
    component: "web",
    command: ["migrate"],
    args: null,
    env: body.env,
  });
  const admin = await world.person({ org: shop.org, role: "admin" });
  const { data } = (await admin.api.get(`/orgs/${shop.org}/audit-log`)).body;
  const entry = data.find(({ action }: { action: string }) => action === "app.run");
  expect(entry.changes).toEqual({ run: id, component: "web", command: ["migrate"], args: null, env: ["TOKEN"] });
  expect(JSON.stringify(data)).not.toContain("hush");
});

test("[AP97] viewers read the status and the logs of a run, and an unknown run is a 404", async () => {
  const operator = await connected();
  const name = await shop.app();
  const { id } = (await run(name)).body;
  const path = (runId: string, rest = "") => shop.path(name, `/runs/${runId}${rest}`, rest ? "&follow=false" : "");
  expect(await shop.viewer.api.get(path(id))).toMatchObject({
    status: 200,
    body: { id, status: "failed", exit_code: 3 },
  });
  const answer = await fetch(`${world.url}/api/v1${path(id, "/logs")}`, {
    headers: { authorization: `Bearer ${shop.viewer.token}` },
  });
  expect(await answer.text()).toContain('"line":"once"');
  expect((await operator.next("stream_open")).stream).toMatchObject({ component: "web", run: id });
  expect((await shop.viewer.api.get(path(newId()))).status).toBe(404);
  expect((await shop.viewer.api.get(path(newId(), "/logs"))).status).toBe(404);
  expect((await shop.stranger.api.get(path(id))).status).toBe(404);
  expect((await shop.viewer.api.get(path("web"))).status).toBe(422);
});

test("[AP134] the log of a run that has ended is not followed, even if that is requested", async () => {
  const operator = await connected();
  const name = await shop.app();
  const { id } = (await run(name)).body;
  const answer = await fetch(`${world.url}/api/v1${shop.path(name, `/runs/${id}/logs`, "&follow=true")}`, {
    headers: { authorization: `Bearer ${shop.viewer.token}` },
  });
  expect(await answer.text()).toMatch(/event: end\ndata: \{\}\n\n$/);
  expect((await operator.next("stream_open")).stream).toMatchObject({ run: id, follow: false });
});

test("[AP96] a run is a 403 for viewers, a 404 for an unknown component, and a 422 for one that is not a workload", async () => {
  const operator = await connected();
  const chart = { name: "cache", type: "chart", chart_spec: CHART };
  const name = await shop.app([WEB, chart]);
  expect((await run(name, {}, shop.viewer)).status).toBe(403);
  expect((await run(name, {}, shop.stranger)).status).toBe(404);
  expect((await run(name, {}, shop.editor, "absent")).status).toBe(404);
  expect((await run(name, {}, shop.editor, "cache")).status).toBe(422);
  expect((await run(name, { env: [{ name: "1", value: "" }] })).status).toBe(422);
  expect((await run(name, { image: "other:1" })).status).toBe(422);
  await shop.editor.api.delete(shop.path(name));
  expect(await run(name)).toMatchObject({ status: 409, body: { detail: { code: "app_deleting" } } });
  expect(operator.all("request").filter(({ request }) => request.name === "run")).toEqual([]);
});

const CHART = { repo: "https://charts.example.com", name: "valkey", version: "1.0.0" };

test("[AP96] a run without an operator is a 503, and with one that is too old a 502", async () => {
  const name = await shop.app();
  expect((await run(name)).status).toBe(503);
  await connected((it) => it.storesAll());
  expect(await run(name)).toMatchObject({ status: 502, body: { detail: expect.stringContaining("too old") } });
});
