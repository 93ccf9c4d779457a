// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are what is tested
import { startWorld } from "@binnacle/world";
import { afterAll, describe, expect, test } from "vitest";
import { newId } from "../id.adapter.ts";
import { appName } from "./render.ts";
import { content, someName } from "./template.fixture.ts";

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
const place = await world.projectWithPeople();
const { editor, viewer, stranger, admin } = place;
afterAll(() => world.stop());

const PARAMETERS = [
  { name: "image", type: "string", required: true },
  { name: "replicas", type: "integer", default: 2, min: 1 },
  { name: "key", type: "secret", generator: "random_hex" },
];
const COMPONENTS = [
  {
    name: "web",
    workload_spec: {
      image: "${image}",
      replicas: "${replicas}",
      env: [{ name: "REPLICAS", value: "${replicas}" }],
    },
    secrets: { KEY: "key-${key}" },
  },
];

async function template(changes: object = {}) {
  const body = content({
    namespace: place.namespace,
    org_id: place.org,
    parameters: PARAMETERS,
    components: COMPONENTS,
    ...changes,
  });
  const made = await world.admin.api.post("/stack-templates", body);
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  return made.body;
}

const deployPath = ({ namespace, name }: { namespace: string; name: string }) =>
  `/stack-templates/${namespace}/${name}/deploy`;
const order = (parameters: object = { image: "nginx:1.29" }, changes: object = {}) => ({
  project_id: place.project,
  parameters,
  ...changes,
});
const app = (name: string, path = "") => `/apps/${place.namespace}/${name}${path}?project_id=${place.project}`;

describe("POST /stack-templates/{namespace}/{name}/deploy", () => {
  test("[TP20] deploying a template makes an app of the filled-in components", async () => {
    const it = await template({ description: "A shop." });
    const deployed = await editor.api.post(deployPath(it), order());
    expect(deployed).toMatchObject({ status: 201 });
    expect(deployed.body).toEqual({
      message: `${it.name} is being deployed.`,
      deploy_name: it.name,
      namespace: place.namespace,
    });
    const made = await editor.api.get(app(it.name));
    expect(made.body).toMatchObject({ name: it.name, description: "A shop.", phase: "pending" });
    expect(made.body.components).toMatchObject([
      {
        name: "web",
        workload_spec: { image: "nginx:1.29", replicas: 2, env: [{ name: "REPLICAS", value: "2" }] },
        secrets: ["KEY"],
      },
    ]);
  });

  test("[TP20] deploying a template puts no parameter into the audit log, and no secret anywhere in the open", async () => {
    const it = await template();
    await editor.api.post(deployPath(it), order({ image: "nginx:1.29", key: "hunter22" }));
    const { body } = await admin.api.get(`/orgs/${place.org}/audit-log`);
    const entries = body.data.filter(({ resource }: { resource: { name: string } }) =>
      resource.name?.includes(it.name),
    );
    expect(entries.map(({ action }: { action: string }) => action).toSorted()).toEqual(
      expect.arrayContaining(["app.create", "stack_template.deploy"]),
    );
    const { changes } = entries.find(({ action }: { action: string }) => action === "stack_template.deploy");
    expect(Object.keys(changes).toSorted()).toEqual(["deploy_name", "project_id", "version"]);
    expect(JSON.stringify(body)).not.toContain("hunter22");
    expect(world.logged.join("")).not.toContain("hunter22");
    const rows = await world.database.kysely
      .selectFrom("apps")
      .select("components")
      .where("name", "=", it.name)
      .execute();
    expect(JSON.stringify(rows)).not.toContain("hunter22");
  });

  test("[TP21] a deployed app is named after its template, with a short suffix where the name is taken", async () => {
    const it = await template();
    expect((await editor.api.post(deployPath(it), order())).body.deploy_name).toBe(it.name);
    const second = await editor.api.post(deployPath(it), order());
    expect(second.status).toBe(201);
    expect(second.body.deploy_name).toMatch(new RegExp(`^${it.name}-[0-9a-f]{4}$`));
  });

  test("[TP21] apps that are deployed from one template at the same instant get distinct names", async () => {
    const it = await template();
    const answers = await Promise.all(Array.from({ length: 8 }, () => editor.api.post(deployPath(it), order())));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
    const names = answers.map(({ body }) => body.deploy_name);
    expect([new Set(names).size, names.filter((name) => name === it.name).length]).toEqual([8, 1]);
  });

  test.each([
    ["shop", [], "", "shop"],
    ["shop", ["web"], "ab12", "shop-ab12"],
    ["s".repeat(63), ["web"], "", "s".repeat(49)],
    ["s".repeat(63), ["c".repeat(40)], "ab12", `${"s".repeat(7)}-ab12`],
    [`${"s".repeat(48)}-x`, ["web"], "", "s".repeat(48)],
  ])(
    "[TP21] the app of template %s with components %j and the suffix %j is named %s",
    (name, components, suffix, expected) => {
      const named = components.map((component) => ({ name: component }));
      expect(appName(name, named, suffix)).toBe(expected);
    },
  );

  test("[TP22] deploying a template gives the deployment its deadline", async () => {
    const deadlines = async (timeout?: number) => {
      const it = await template();
      await editor.api.post(deployPath(it), order(undefined, timeout === undefined ? {} : { timeout }));
      const { id } = (await editor.api.get(app(it.name))).body;
      const rows = await world.database.kysely
        .selectFrom("app_deployments")
        .select("deadline_at")
        .where("app_id", "=", id)
        .execute();
      return rows.map(({ deadline_at }) => (deadline_at?.getTime() ?? 0) - world.clock.now().getTime());
    };
    expect(await deadlines()).toEqual([300_000]);
    expect(await deadlines(3600)).toEqual([3_600_000]);
    const it = await template();
    for (const timeout of [0, 3601, 1.5, "10"]) {
      expect((await editor.api.post(deployPath(it), order(undefined, { timeout }))).status).toBe(422);
    }
  });

  test("[TP23] deploying a template needs an editor of the project", async () => {
    const it = await template({ scope: "global" });
    expect((await viewer.api.post(deployPath(it), order())).status).toBe(403);
    expect((await stranger.api.post(deployPath(it), order())).status).toBe(404);
    expect((await world.anyone.post(deployPath(it), order())).status).toBe(401);
    expect((await editor.api.post(deployPath(it), order(undefined, { project_id: newId() }))).status).toBe(404);
  });

  test("[TP23] only a template of the project's organization, or a global one, can be deployed", async () => {
    const elsewhere = await world.org();
    const theirs = await template({ org_id: elsewhere });
    expect((await world.admin.api.post(deployPath(theirs), order())).status).toBe(404);
    expect((await editor.api.post(deployPath(theirs), order())).status).toBe(404);
    const everyones = await template({ org_id: elsewhere, scope: "global" });
    expect((await editor.api.post(deployPath(everyones), order())).status).toBe(201);
    expect((await editor.api.post(`/stack-templates/${place.namespace}/nothing/deploy`, order())).status).toBe(404);
  });

  test("[TP8] deploying an ambiguous template asks which one is meant, as every address of a template does", async () => {
    const elsewhere = await world.org();
    await world.admin.api.post(`/orgs/${elsewhere}/members`, { user_id: editor.id, role: "member" });
    const it = await template();
    await template({ org_id: elsewhere, name: it.name });
    const refused = await editor.api.post(deployPath(it), order());
    expect(refused).toMatchObject({ status: 409, body: { detail: { code: "ambiguous_template" } } });
    expect((await editor.api.post(`${deployPath(it)}?org_id=${place.org}`, order())).status).toBe(201);
    await world.admin.api.delete(`/orgs/${elsewhere}/members/${editor.id}`);
  });

  test("[TP12] deploying a template refuses parameters that do not fit, all at once, and makes no app", async () => {
    const it = await template();
    const refused = await editor.api.post(deployPath(it), order({ replicas: "many", key: 5, extra: true }));
    expect(refused.status).toBe(422);
    expect(refused.body.detail.map(({ loc, type }: { loc: string[]; type: string }) => [loc.join("."), type])).toEqual([
      ["body.parameters.image", "missing"],
      ["body.parameters.replicas", "int_type"],
      ["body.parameters.key", "string_type"],
      ["body.parameters.extra", "extra_forbidden"],
    ]);
    expect((await editor.api.get(app(it.name))).status).toBe(404);
    expect((await editor.api.post(deployPath(it), order([]))).status).toBe(422);
  });

  test.each([
    ["no image", { image: "two words" }, ["body", "parameters", "image"]],
    ["more replicas than there may be", { image: "x", replicas: 100_000 }, ["body", "parameters", "replicas"]],
  ])("[TP24] a refused deployment of a template says which parameter makes %s", async (_, parameters, loc) => {
    const it = await template();
    const refused = await editor.api.post(deployPath(it), order(parameters));
    expect(refused.status).toBe(422);
    expect(refused.body.detail).toContainEqual(expect.objectContaining({ loc }));
  });

  test("[TP24] a parameter that makes a component's name that is not a DNS label, or a second one of that name, is refused", async () => {
    const parameters = [{ name: "part", type: "string", required: true }];
    const components = ["${part}", "web"].map((name) => ({ name, workload_spec: { image: "x" } }));
    const it = await template({ parameters, components });
    for (const part of ["Not A Label", "web", ""]) {
      const refused = await editor.api.post(deployPath(it), order({ part }));
      expect(refused.status).toBe(422);
      expect(JSON.stringify(refused.body)).toContain('["body"');
    }
    expect((await editor.api.post(deployPath(it), order({ part: "api" }))).status).toBe(201);
  });

  test("[TP18] deploying refuses a template that its parameters make too large", async () => {
    const parameters = [{ name: "a", type: "string", required: true }];
    const args = Array.from({ length: 200 }, () => "${a}".repeat(100));
    const it = await template({ parameters, components: [{ name: "web", workload_spec: { image: "x", args } }] });
    const refused = await editor.api.post(deployPath(it), order({ a: "x".repeat(60_000) }));
    expect(refused).toMatchObject({ status: 422, body: { detail: [{ loc: ["body", "parameters"] }] } });
  });

  test("[TP20] a repeated request to deploy a template gets the first answer, and deploys once", async () => {
    const it = await template();
    const headers = { "idempotency-key": newId() };
    const send = () => editor.api.post(deployPath(it), order(), { headers });
    expect([(await send()).body.deploy_name, (await send()).body.deploy_name]).toEqual([it.name, it.name]);
  });
});

describe("POST /stack-templates/from-app/{namespace}/{name}", () => {
  const APP_COMPONENTS = [
    { name: "db", workload_spec: { image: "postgres:17", ports: [{ name: "pg", port: 5432 }] } },
    {
      name: "web",
      workload_spec: {
        image: "shop:1",
        args: ["echo ${HOME}"],
        env: [{ name: "DB", export_ref: { component: "db", key: "url" } }],
      },
      secrets: { API_KEY: "hunter22" },
    },
  ];
  const fromApp = (name: string, project = place.project) =>
    `/stack-templates/from-app/${place.namespace}/${name}?project_id=${project}`;

  async function someApp() {
    const name = someName("app");
    const body = { name, project_id: place.project, components: APP_COMPONENTS };
    expect((await editor.api.post("/apps", body)).status).toBe(201);
    return name;
  }

  test("[TP25] POST /stack-templates/from-app makes a template that deploys the same app", async () => {
    const source = await someApp();
    const captured = await editor.api.post(fromApp(source), { name: someName(), version: "2.0.0", scope: "project" });
    expect(captured).toMatchObject({ status: 201 });
    expect(captured.body).toMatchObject({ namespace: place.namespace, org_id: place.org, version: "2.0.0" });

    const deployed = await editor.api.post(deployPath(captured.body), order({ web_API_KEY: "again" }));
    expect(deployed.status, JSON.stringify(deployed.body)).toBe(201);
    const [one, other] = await Promise.all(
      [source, deployed.body.deploy_name].map(async (name) => (await editor.api.get(app(name))).body.components),
    );
    expect(other).toEqual(one);
  });

  test("[TP26] a template from an app asks for its secrets and holds none of their values", async () => {
    const captured = await editor.api.post(fromApp(await someApp()), { name: someName() });
    expect(captured.body.parameters).toMatchObject([{ name: "web_API_KEY", type: "secret", required: true }]);
    expect(JSON.stringify(captured.body)).not.toContain("hunter22");
  });

  test("[TP27] POST /stack-templates/from-app turns export_refs into parameters where they are not preserved", async () => {
    const body = { name: someName(), preserve_export_refs: false };
    const captured = await editor.api.post(fromApp(await someApp()), body);
    expect(captured.body.parameters.map(({ name }: { name: string }) => name)).toEqual(["web_API_KEY", "web_DB"]);
    expect(captured.body.components[1].workload_spec.env).toEqual([{ name: "DB", value: "${web_DB}" }]);
  });

  test("[TP25] POST /stack-templates/from-app is for callers who see the app and may write a template of the scope", async () => {
    const source = await someApp();
    const body = () => ({ name: someName(), scope: "project" });
    expect((await viewer.api.post(fromApp(source), body())).status).toBe(403);
    expect((await stranger.api.post(fromApp(source), body())).status).toBe(404);
    expect((await editor.api.post(fromApp(source), { ...body(), scope: "organization" })).status).toBe(403);
    expect((await admin.api.post(fromApp(source), { ...body(), scope: "organization" })).status).toBe(201);
    expect((await editor.api.post(fromApp("nothing"), body())).status).toBe(404);
    expect((await editor.api.post(fromApp(source, newId()), body())).status).toBe(404);
    expect((await world.anyone.post(fromApp(source), body())).status).toBe(401);
  });

  test("[TP25] POST /stack-templates/from-app needs the project, and a name that is a DNS label and free", async () => {
    const source = await someApp();
    const path = `/stack-templates/from-app/${place.namespace}/${source}`;
    expect(await editor.api.post(path, { name: "x" })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["query", "project_id"], type: "missing" }] },
    });
    expect((await editor.api.post(fromApp(source), { name: "No Label" })).status).toBe(422);
    const name = someName();
    expect((await editor.api.post(fromApp(source), { name })).status).toBe(201);
    expect((await editor.api.post(fromApp(source), { name })).status).toBe(409);
  });
});
