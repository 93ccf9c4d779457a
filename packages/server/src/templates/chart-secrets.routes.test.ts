// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are what is tested
import { folder, packedChart, serve } from "@binnacle/charts/fixture";
import { startWorld } from "@binnacle/world";
import { afterAll, describe, expect, test } from "vitest";
import { content, someName } from "./template.fixture.ts";

const PASSWORD = "s3cret-of-the-deployment";
const SCHEMA = { properties: { auth: { properties: { password: { type: "string", format: "password" } } } } };
const store = packedChart("store", "1.0.0", {
  "values.yaml": "auth:\n  password: ''\n  user: app\nlicense: ''\nodd key: ''\n",
  "values.schema.json": JSON.stringify(SCHEMA),
});

const index = "entries:\n  store:\n  - { version: 1.0.0, urls: [store.tgz] }\n";
const repository = await serve(folder({ "/index.yaml": index, "/store.tgz": store.archive }));
const world = await startWorld({ env: { BINNACLE_CHART_HOSTS: new URL(repository.url).host } });
const place = await world.projectWithPeople();
const { admin } = place;
afterAll(async () => {
  await world.stop();
  repository.stop();
});

const body = (parameters: object[]) => ({
  namespace: place.namespace,
  name: someName("store"),
  scope: "organization",
  repo: repository.url,
  chart: "store",
  parameters,
});
const made = (parameters: object[]) => admin.api.post("/stack-templates/from-chart", body(parameters));

describe("POST /stack-templates/from-chart", () => {
  test("[SV8] from-chart makes secret what the chart's schema calls secret, and inspect-chart lists these values", async () => {
    const asked = new URLSearchParams({ repo: repository.url, name: "store" });
    const seen = await admin.api.get(`/stack-templates/inspect-chart?${asked.toString()}`);
    expect(seen.body.secret_values).toEqual(["auth.password"]);
    const { status, body: template } = await made([{ name: "pw", path: "auth.password", required: true }]);
    expect(status, JSON.stringify(template)).toBe(201);
    expect(template.parameters).toEqual([{ name: "pw", type: "secret", required: true }]);
    expect(template.components[0].chart_spec).toMatchObject({
      values: { auth: { password: "${pw}" } },
      secret_values: ["auth.password"],
    });
    expect(await made([{ name: "pw", path: "auth.password", type: "string" }])).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "parameters", 0, "type"] }] },
    });
  });

  test("[SV9] POST /stack-templates/from-chart takes a parameter of type secret for a secret value of the chart", async () => {
    const { status, body: template } = await made([{ name: "license", path: "license", type: "secret" }]);
    expect(status, JSON.stringify(template)).toBe(201);
    expect(template.components[0].chart_spec).toMatchObject({
      values: { license: "${license}" },
      secret_values: ["auth.password", "license"],
    });
    expect(await made([{ name: "odd", path: "odd key", type: "secret" }])).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "parameters", 0, "path"] }] },
    });
  });

  test("[SV9] a template from a chart makes an app whose secret is sealed and cannot be read anywhere", async () => {
    const parameters = [
      { name: "pw", path: "auth.password", required: true },
      { name: "license", path: "license", type: "secret", generator: "random_password" },
    ];
    const { namespace, name } = (await made(parameters)).body;
    const order = { project_id: place.project, parameters: { pw: PASSWORD } };
    const deployed = await admin.api.post(`/stack-templates/${namespace}/${name}/deploy`, order);
    expect(deployed.status, JSON.stringify(deployed.body)).toBe(201);
    const path = `/apps/${namespace}/${deployed.body.deploy_name}`;
    const { body: app } = await admin.api.get(`${path}?project_id=${place.project}`);
    expect(app.components[0].secrets).toEqual(["auth.password", "license"]);
    expect(app.components[0].chart_spec.values.license).toHaveProperty("secret_ref");
    const audit = await admin.api.get(`/orgs/${place.org}/audit-log?items_per_page=100`);
    expect(JSON.stringify([app, audit.body, deployed.body, world.logged])).not.toContain(PASSWORD);

    const captured = await admin.api.post(
      `/stack-templates/from-app${path.slice("/apps".length)}?project_id=${place.project}`,
      {
        name: someName("captured"),
        scope: "organization",
      },
    );
    expect(captured.status, JSON.stringify(captured.body)).toBe(201);
    expect(captured.body.components[0].secrets).toEqual({
      "auth.password": "${store_auth_password}",
      license: "${store_license}",
    });
    expect(JSON.stringify(captured.body)).not.toContain("secret_ref");
  });
});

describe("a template that is deployed", () => {
  test("[CS1] a deployed template brings no chart from an address that is not allowed, although a parameter names it", async () => {
    const parameters = [{ name: "repo", type: "string", required: true }];
    const components = [{ name: "db", type: "chart", chart_spec: { repo: "${repo}", name: "store" } }];
    const template = content({ parameters, components, namespace: place.namespace, org_id: place.org });
    const { status, body: stored } = await admin.api.post("/stack-templates", template);
    expect(status, JSON.stringify(stored)).toBe(201);
    const order = { project_id: place.project, parameters: { repo: "https://169.254.169.254/latest" } };
    expect(await admin.api.post(`/stack-templates/${stored.namespace}/${stored.name}/deploy`, order)).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "parameters", "repo"] }] },
    });
  });
});
