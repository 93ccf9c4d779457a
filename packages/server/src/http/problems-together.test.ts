// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are what is tested
import { startWorld } from "@binnacle/world";
import { afterAll, expect, test } from "vitest";
import { openShop } from "../apps/app.fixture.ts";

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
const shop = await openShop(world);
afterAll(() => world.stop());

type Answer = { status: number; body: { detail: { loc: (string | number)[] }[] } };
const places = ({ status, body }: Answer) => {
  expect(status, JSON.stringify(body)).toBe(422);
  return body.detail.map(({ loc }) => loc.slice(1).join(".")).sort();
};

test("[CV33] rules between the components of an app are checked beside fields that are malformed", async () => {
  const ports = [
    { name: "http", port: 80 },
    { name: "http", port: "81" },
    { name: "http", port: 82 },
  ];
  const answer = await shop.editor.api.post("/apps", {
    name: "Not A Label",
    components: [
      { name: "web", workload_spec: { replicas: 0, ports }, depends_on: ["db"] },
      { name: "web", workload_spec: {}, extra: true },
      { name: "db", type: "addon", addon_spec: { definition_id: shop.project } },
    ],
  });
  expect(places(answer)).toEqual([
    "components.0.workload_spec.ports.1.port",
    "components.0.workload_spec.ports.2.name",
    "components.0.workload_spec.replicas",
    "components.1.extra",
    "components.1.name",
    "components.2.addon_spec.definition_id",
    "name",
    "project_id",
  ]);
});

test("[CV33] a name that a malformed list may hold is not reported as unknown", async () => {
  const components = [
    { name: "web", workload_spec: {}, depends_on: ["db"] },
    { name: "db", type: "workload", exports: 1 },
    5,
  ];
  const answer = await shop.editor.api.post("/apps", { name: "shop", project_id: shop.project, components });
  expect(places(answer)).toEqual(["components.1.exports", "components.1.workload_spec", "components.2"]);
});

test("[CV33] an addition to an app is checked beside a malformed one", async () => {
  const name = await shop.app();
  const env = [
    { name: "A", value: "1" },
    { name: "A", value: "2" },
  ];
  const answer = await shop.editor.api.patch(shop.path(name), {
    components: [
      { op: "patch", name: "web", workload_spec: { replicas: "3" } },
      { op: "add", name: "db", workload_spec: { env } },
    ],
  });
  expect(places(answer)).toEqual(["components.0.workload_spec.replicas", "components.1.workload_spec.env.1.name"]);
});

test("[CV33] values of an addon, a bundle's catalog and a template's content are checked beside malformed fields", async () => {
  const [definition] = (await shop.editor.api.get("/addon-definitions?items_per_page=1")).body.data;
  const instance = { name: "Bad Name", addon_definition_id: definition.id, project_id: 5, chart_version: "0.0.0-none" };
  expect(places(await shop.editor.api.post("/addon-instances", instance))).toEqual([
    "chart_version",
    "name",
    "project_id",
  ]);
  const record = { bundle_version: "1.4", profiles: ["none"], ha_tier: 7 };
  expect(places(await world.admin.api.put(`/clusters/${shop.cluster}/bundle`, record))).toEqual([
    "ha_tier",
    "profiles.0",
  ]);
  const template = {
    namespace: shop.namespace,
    name: "Bad Name",
    components: [
      { name: "web", workload_spec: { image: "${nothing}" } },
      { name: "web", workload_spec: {} },
    ],
  };
  expect(places(await shop.editor.api.post("/stack-templates", template))).toEqual([
    "components.0",
    "components.1",
    "name",
  ]);
});

test("[CV33] a stranger without a credential is told nothing of the problems in a body", async () => {
  const answer = await world.anyone.post("/apps", { components: [{ name: "web" }, { name: "web" }] });
  expect(answer.status).toBe(401);
});
