import { startWorld } from "@binnacle/world";
import { afterAll, describe, expect, test } from "vitest";
import { rowsOf } from "../http/rows.fixture.ts";
import { content, someName } from "./template.fixture.ts";

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
const place = await world.projectWithPeople();
const { editor, viewer } = place;
afterAll(() => world.stop());

const deploy = (name: string, body: object = {}, by = editor) =>
  by.api.post(`/stack-templates/registry/${name}/deploy`, { project_id: place.project, ...body });
const appOf = async (name: string) =>
  (await viewer.api.get(`/apps/${place.namespace}/${name}?project_id=${place.project}`)).body;

const WEB_POSTGRESQL = { image: "shop:1", host: "shop.example.com" };

describe("a template of the registry", () => {
  test("[TP64] a template of the registry is deployed by its name without being created", async () => {
    const deployed = await deploy("web-app");
    expect(deployed).toMatchObject({ status: 201, body: { deploy_name: "web-app", namespace: place.namespace } });
    expect((await appOf("web-app")).components).toMatchObject([{ name: "web" }]);
    const { total_count } = (await editor.api.get("/stack-templates")).body;
    expect(total_count).toBe(0);
    const [entry] = await world.database.kysely
      .selectFrom("audit_log")
      .select(["resource_id", "resource_name"])
      .where("action", "=", "stack_template.deploy")
      .execute();
    expect(entry).toEqual({ resource_id: null, resource_name: "registry/web-app" });
  });

  test("[TP64] deploying a template of the registry needs an editor and its declared parameters, and an unknown one is a 404", async () => {
    const before = await rowsOf(world);
    expect((await deploy("web-app", {}, viewer)).status).toBe(403);
    expect((await deploy("absent")).body).toEqual({ detail: "Stack template not found." });
    expect(await deploy("web-postgresql")).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "parameters", "image"] }, { loc: ["body", "parameters", "host"] }] },
    });
    expect((await editor.api.post(`/stack-templates/other/web-app/deploy`, { project_id: place.project })).status).toBe(
      404,
    );
    expect(await rowsOf(world)).toEqual(before);
  });

  test("[TP64] a stored template is deployed before the template of the registry with the same name", async () => {
    const components = [{ name: "mine", workload_spec: { image: "mine:1" } }];
    const own = content({ namespace: "registry", name: "worker", org_id: place.org, parameters: [], components });
    expect((await world.admin.api.post("/stack-templates", own)).status).toBe(201);
    const { body } = await deploy("worker");
    expect((await appOf(body.deploy_name)).components).toMatchObject([{ name: "mine" }]);
  });

  test("[TP65] a template of the registry is deployed under the given name, unless that is taken or too long", async () => {
    const name = someName("shop");
    expect(await deploy("web-app", { name })).toMatchObject({ status: 201, body: { deploy_name: name } });
    expect(await deploy("web-app", { name })).toMatchObject({
      status: 409,
      body: { detail: { code: "name_taken", name } },
    });
    expect(await deploy("web-app", { name: "x".repeat(60) })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "name"], msg: expect.stringContaining("at most 49 characters") }] },
    });
    expect(await deploy("web-app", { name: "Not A Label" })).toMatchObject({ status: 422 });
  });

  test("[AP79] an app of the registry with a database has a password for it, of which the API shows only the path", async () => {
    const name = someName("pg");
    const deployed = await deploy("web-postgresql", { name, parameters: WEB_POSTGRESQL });
    expect(deployed.status, JSON.stringify(deployed.body)).toBe(201);
    const { components } = await appOf(name);
    expect(components.find((component: { name: string }) => component.name === "db").secrets).toEqual([
      "auth.password",
    ]);
  });
});
