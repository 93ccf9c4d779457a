import { randomBytes } from "node:crypto";
import { startWorld } from "@binnacle/world";
import { afterAll, afterEach, expect, test } from "vitest";
import { operatorFor, type TestOperator } from "../hub/operator.fixture.ts";
import { openShop, type Shop } from "./app.fixture.ts";

const SIGNING_KEY = randomBytes(32).toString("base64url");
const AT = "2026-01-31T09:30:00.000Z";

let shop: Shop;
const open: TestOperator[] = [];

const world = await startWorld({ env: { BINNACLE_SECRET_KEY: SIGNING_KEY } });
afterAll(() => world.stop());
afterEach(async () => {
  for (const operator of open.splice(0)) await operator.leave();
});

/** An operator of a shop of its own. */
async function connected(prepare: (operator: TestOperator) => unknown): Promise<TestOperator> {
  shop = await openShop(world);
  const operator = await operatorFor(world, SIGNING_KEY, shop.cluster);
  open.push(operator);
  prepare(operator);
  await operator.greet();
  return operator;
}

const paths = async () => {
  const name = await shop.app();
  return { name, resources: shop.path(name, "/resources"), events: shop.path(name, "/events") };
};

const deployment = {
  id: "uid-web",
  parent_id: null,
  component: "web",
  api_version: "apps/v1",
  kind: "Deployment",
  name: "shop-web",
  namespace: "shop",
  status: "ready",
  reason: null,
  message: null,
  desired: 2,
  ready: 2,
  restarts: null,
  node: null,
  created_at: AT,
};
const event = {
  type: "Warning",
  reason: "BackOff",
  message: "Back-off restarting failed container web.",
  count: 3,
  first_seen_at: AT,
  last_seen_at: AT,
  object: { kind: "Pod", name: "shop-web-1", component: "web" },
};
const answers = {
  resources: { objects: [deployment], truncated: true, observed_at: AT },
  events: { events: [event], truncated: false, observed_at: AT },
};
const answering = (operator: TestOperator) =>
  operator.observes(({ name }) =>
    name === "resources" ? { resources: answers.resources } : { events: answers.events },
  );

test("[AP88] viewers read the objects of an app as a tree, as the operator sees them now", async () => {
  const operator = await connected(answering);
  const { name, resources } = await paths();
  const { status, body } = await shop.viewer.api.get(resources);
  expect(status).toBe(200);
  expect(body).toMatchObject({ truncated: true, observed_at: AT });
  expect(body.nodes.map(({ kind }: { kind: string }) => kind)).toEqual(["App", "Component", "Deployment"]);
  expect(body.nodes[2]).toEqual({ ...deployment, parent_id: "component/web" });
  expect((await operator.next("request")).request).toEqual({ name: "resources", namespace: shop.namespace, app: name });
});

test("[AP89] viewers read the events about the objects of an app", async () => {
  const operator = await connected(answering);
  const { name, events } = await paths();
  expect(await shop.viewer.api.get(events)).toMatchObject({ status: 200, body: answers.events });
  expect((await operator.next("request")).request).toEqual({ name: "events", namespace: shop.namespace, app: name });
});

test("[AP88] [AP89] resources and events of an app are a 404 for strangers and for an unknown app, and need project_id", async () => {
  await connected(answering);
  const { name, resources, events } = await paths();
  for (const path of [resources, events]) {
    expect((await shop.stranger.api.get(path)).status).toBe(404);
    expect((await world.anyone.get(path)).status).toBe(401);
    expect((await shop.viewer.api.get(path.replace(name, "absent"))).status).toBe(404);
    expect((await shop.viewer.api.get(path.split("?")[0] ?? "")).status).toBe(422);
  }
  expect(open[0]?.all("request")).toEqual([]);
});

test("[AP90] resources and events of an app without an operator are a 503", async () => {
  shop = await openShop(world);
  const { resources, events } = await paths();
  const refused = { status: 503, body: { detail: "No operator of the cluster is connected. Try again in a moment." } };
  expect(await shop.viewer.api.get(resources)).toMatchObject(refused);
  expect(await shop.viewer.api.get(events)).toMatchObject(refused);
});

test("[AP90] resources and events of an app are a 502 if the operator is too old, and its session goes on", async () => {
  const operator = await connected((it) => it.storesAll());
  const { resources, events } = await paths();
  const detail = "The cluster's operator is too old to answer this. Upgrade its Helm chart and try again.";
  expect(await shop.viewer.api.get(resources)).toMatchObject({ status: 502, body: { detail } });
  expect(await shop.viewer.api.get(events)).toMatchObject({ status: 502, body: { detail } });
  expect([operator.all("request"), operator.closed]).toEqual([[], null]);
});

test.each([
  ["unavailable", 503],
  ["failed", 502],
])("[AP90] when the operator answers %s, the resources of an app are a %i with its message", async (code, status) => {
  const message = "The cluster's API server does not answer.";
  await connected((it) => it.observes(() => ({ error: { code, message } })));
  const { resources } = await paths();
  expect(await shop.viewer.api.get(resources)).toMatchObject({ status, body: { detail: message } });
});

test("[AP90] an operator that sends markup or a secret in a message ends its session, and the request is a 503", async () => {
  const objects = [{ ...deployment, message: "see <script>alert(1)</script>" }];
  const operator = await connected((it) => it.observes(() => ({ resources: { ...answers.resources, objects } })));
  const { resources } = await paths();
  expect((await shop.viewer.api.get(resources)).status).toBe(503);
  expect(await operator.closeCode()).toBe(4400);
  open.splice(0);
});
