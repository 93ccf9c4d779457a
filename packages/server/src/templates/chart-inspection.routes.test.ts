// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are what is tested
import type { RequestListener } from "node:http";
import { folder, packedChart, serve } from "@binnacle/charts/fixture";
import { startWorld } from "@binnacle/world";
import { afterAll, describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { content, someName } from "./template.fixture.ts";

const web = packedChart("web", "1.10.0");
const schooled = packedChart("schooled", "1.0.0", { "values.schema.json": '{"type":"object","title":"Own"}' });

const INDEX = `apiVersion: v1
entries:
  other:
  - name: other
    version: 7.0.0
    urls: [other-7.0.0.tgz]
  web:
  - name: web
    version: 1.9.0
    urls:
    - web-1.9.0.tgz
  - name: web
    version: 2.0.0-rc.1
    urls: [web-2.0.0-rc.1.tgz]
  - name: web
    version: 1.10.0
    digest: ${web.digest}
    urls: [web-1.10.0.tgz]
  schooled:
  - { version: 1.0.0, urls: [schooled.tgz], digest: ${schooled.digest} }
  inside:
  - { version: 1.0.0, urls: ["http://169.254.169.254/chart.tgz"] }
  altered:
  - { version: 1.0.0, urls: [web-1.10.0.tgz], digest: ${schooled.digest} }
  torn:
  - { version: 1.0.0, urls: [torn.tgz] }
  gone:
  - { version: 1.0.0, urls: [gone.tgz] }
generated: "2026-01-01T00:00:00Z"
`;

const files = folder({
  "/charts/index.yaml": INDEX,
  "/charts/web-1.10.0.tgz": web.archive,
  "/charts/web-1.9.0.tgz": packedChart("web", "1.9.0").archive,
  "/charts/schooled.tgz": schooled.archive,
  "/charts/torn.tgz": web.archive.subarray(0, 100),
});

let answer: RequestListener = files;
const repository = await serve((request, response) => answer(request, response));
const world = await startWorld({ env: { BINNACLE_CHART_HOSTS: new URL(repository.url).host } });
const place = await world.projectWithPeople();
const { admin, member } = place;
afterAll(async () => {
  await world.stop();
  repository.stop();
});

function inspect(query: Record<string, string>, api = member.api) {
  const asked = new URLSearchParams({ repo: `${repository.url}/charts`, ...query });
  return api.get(`/stack-templates/inspect-chart?${asked.toString()}`);
}

describe("GET /stack-templates/inspect-chart", () => {
  test("[TP32] GET /stack-templates/inspect-chart shows the chart's metadata, its values and its README", async () => {
    const { status, body } = await inspect({ name: "web" });
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body).toMatchObject({
      chart_metadata: { name: "web", version: "1.10.0", description: "Serves.", app_version: "9.1" },
      defaults: { replicaCount: 2, image: { tag: "stable", pull: true }, ratio: 0.5, list: ["a", "b"], nothing: null },
      readme: "# web\n",
    });
  });

  test("[TP33] GET /stack-templates/inspect-chart infers a schema where the chart has none, and shows the one that it has", async () => {
    const inferred = (await inspect({ name: "web" })).body;
    expect(inferred.has_schema).toBe(false);
    expect(inferred.schema).toEqual({
      type: "object",
      properties: {
        replicaCount: { type: "integer", default: 2 },
        image: {
          type: "object",
          properties: { tag: { type: "string", default: "stable" }, pull: { type: "boolean", default: true } },
        },
        ratio: { type: "number", default: 0.5 },
        list: { type: "array", items: { type: "string" }, default: ["a", "b"] },
        nothing: {},
      },
    });
    const own = (await inspect({ name: "schooled" })).body;
    expect(own).toMatchObject({ has_schema: true, schema: { type: "object", title: "Own" } });
  });

  test("[TP34] GET /stack-templates/inspect-chart takes the newest stable version, or the one that is asked for", async () => {
    const newest = await inspect({ name: "web" });
    expect(newest.body.chart_metadata).toMatchObject({
      version: "1.10.0",
      versions: ["2.0.0-rc.1", "1.10.0", "1.9.0"],
    });
    expect((await inspect({ name: "web", version: "v1.9.0" })).body.chart_metadata.version).toBe("1.9.0");
  });

  test("[TP35] GET /stack-templates/inspect-chart is a 404 for an unknown chart or version, and where there is no repository", async () => {
    const missing = { status: 404, body: { detail: "Chart not found." } };
    expect(await inspect({ name: "nothing" })).toMatchObject(missing);
    expect(await inspect({ name: "we" })).toMatchObject(missing);
    expect((await inspect({ name: "../web" })).status).toBe(422);
    expect(await inspect({ name: "web", version: "3.0.0" })).toMatchObject(missing);
    expect(await inspect({ name: "web", repo: `${repository.url}/elsewhere` })).toMatchObject(missing);
  });

  test("[TP35] GET /stack-templates/inspect-chart is a 502 where the repository does not answer or does not hold what it says", async () => {
    expect((await inspect({ name: "gone" })).status).toBe(502);
    expect((await inspect({ name: "torn" })).status).toBe(502);
    expect((await inspect({ name: "altered" })).status).toBe(502);
    const refuses = await serve((request) => request.destroy());
    const other = await startWorld({ env: { BINNACLE_CHART_HOSTS: "127.0.0.1" }, beside: world });
    const api = other.admin.api;
    expect((await inspect({ name: "web", repo: refuses.url }, api)).status).toBe(502);
    const fails = await serve((_request, response) => response.writeHead(500).end());
    expect(await inspect({ name: "web", repo: fails.url }, api)).toMatchObject({
      status: 502,
      body: { detail: `The chart repository ${new URL(fails.url).host} cannot be read.` },
    });
    const babbles = await serve((_request, response) => response.end("hello"));
    expect((await inspect({ name: "web", repo: babbles.url }, api)).status).toBe(502);
    for (const server of [refuses, fails, babbles]) server.stop();
    await other.stop();
  });

  test.each([
    "http://127.0.0.1:1/",
    "http://localhost:1/",
    "http://169.254.169.254/latest/",
    "http://[::ffff:10.0.0.1]/",
    "http://0x7f000001/",
    "oci://127.0.0.1:1/charts",
    "ftp://charts.example.com",
    "file:///etc",
    "no address",
    "https://user:password@charts.example.com",
  ])("[TP36] GET /stack-templates/inspect-chart refuses the repository %s", async (repo) => {
    expect(await inspect({ name: "web", repo })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["query", "repo"], type: "value_error" }] },
    });
  });

  test("[TP36] GET /stack-templates/inspect-chart refuses an address that a redirect or the index leads to", async () => {
    expect(await inspect({ name: "inside" })).toMatchObject({ status: 422 });
    answer = (_request, response) => response.writeHead(302, { location: "http://127.0.0.1:1/index.yaml" }).end();
    expect(await inspect({ name: "web", repo: `${repository.url}/moved` })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["query", "repo"], msg: "The address is not a public one" }] },
    });
    answer = files;
  });

  test("[TP38] GET /stack-templates/inspect-chart keeps what it has read", async () => {
    const read = () => inspect({ name: "web", version: "1.10.0" });
    await read();
    const before = repository.asked.length;
    expect((await read()).status).toBe(200);
    expect(repository.asked.length).toBe(before);
  });

  test("[TP38] GET /stack-templates/inspect-chart does not keep a failure", async () => {
    expect((await inspect({ name: "web", repo: `${repository.url}/later` })).status).toBe(404);
    answer = folder({ "/later/index.yaml": INDEX, "/later/web-1.10.0.tgz": web.archive });
    expect((await inspect({ name: "web", repo: `${repository.url}/later` })).status).toBe(200);
    answer = files;
  });

  test("[TP32] GET /stack-templates/inspect-chart needs a repository and a name, and a session", async () => {
    const refused = await member.api.get("/stack-templates/inspect-chart");
    expect(refused.body.detail.map(({ loc }: { loc: string[] }) => loc.join(".")).toSorted()).toEqual([
      "query.name",
      "query.repo",
    ]);
    expect((await inspect({ name: "web" }, world.anyone)).status).toBe(401);
  });
});

describe("POST /stack-templates/from-chart", () => {
  const body = (changes: object = {}) => ({
    namespace: place.namespace,
    name: someName("chart"),
    version: "1.0.0",
    scope: "organization",
    repo: `${repository.url}/charts`,
    chart: "web",
    parameters: [
      { name: "replicas", path: "replicaCount", min: 1 },
      { name: "tag", path: "image.tag", type: "string", required: true },
      { name: "pull", path: "image.pull" },
    ],
    ...changes,
  });

  test("[TP39] POST /stack-templates/from-chart wraps the chart, with a parameter for each promoted value", async () => {
    const made = await admin.api.post("/stack-templates/from-chart", body());
    expect(made.status, JSON.stringify(made.body)).toBe(201);
    expect(made.body.parameters).toEqual([
      { name: "replicas", type: "integer", required: false, min: 1, default: 2 },
      { name: "tag", type: "string", required: true },
      { name: "pull", type: "boolean", required: false, default: true },
    ]);
    expect(made.body.components).toEqual([
      {
        name: "web",
        type: "chart",
        chart_spec: {
          repo: `${repository.url}/charts`,
          name: "web",
          version: "1.10.0",
          values: { replicaCount: "${replicas}", image: { tag: "${tag}", pull: "${pull}" } },
        },
      },
    ]);
  });

  test("[TP39] a template from a chart is deployed with typed values", async () => {
    const { namespace, name } = (await admin.api.post("/stack-templates/from-chart", body())).body;
    const order = { project_id: place.project, parameters: { tag: "v2", replicas: 5 } };
    const deployed = await admin.api.post(`/stack-templates/${namespace}/${name}/deploy`, order);
    expect(deployed.status, JSON.stringify(deployed.body)).toBe(201);
    const { body: app } = await admin.api.get(
      `/apps/${namespace}/${deployed.body.deploy_name}?project_id=${place.project}`,
    );
    expect(app.components[0].chart_spec.values).toEqual({ replicaCount: 5, image: { tag: "v2", pull: true } });
  });

  test.each([
    ["nowhere", "image.digest"],
    ["beyond a value", "image.tag.name"],
    ["into a prototype", "constructor.name"],
    ["to several values", "image"],
    ["to a list", "list"],
  ])("[TP40] POST /stack-templates/from-chart refuses a path that leads %s", async (_, path) => {
    const refused = await admin.api.post("/stack-templates/from-chart", body({ parameters: [{ name: "x", path }] }));
    expect(refused).toMatchObject({ status: 422, body: { detail: [{ loc: ["body", "parameters", 0, "path"] }] } });
  });

  test("[TP40] POST /stack-templates/from-chart refuses one path for two parameters", async () => {
    const parameters = ["a", "b"].map((name) => ({ name, path: "ratio" }));
    const refused = await admin.api.post("/stack-templates/from-chart", body({ parameters }));
    expect(refused).toMatchObject({ status: 422, body: { detail: [{ loc: ["body", "parameters", 1, "path"] }] } });
  });

  test("[TP5] POST /stack-templates/from-chart is for callers who may write the scope, and fetches nothing for others", async () => {
    const before = repository.asked.length;
    expect((await member.api.post("/stack-templates/from-chart", body({ repo: `${repository.url}/x` }))).status).toBe(
      403,
    );
    expect(repository.asked.length).toBe(before);
    expect((await world.anyone.post("/stack-templates/from-chart", body())).status).toBe(401);
  });

  test("[TP36] and [TP35] POST /stack-templates/from-chart refuses repositories and charts as an inspection does", async () => {
    expect(await admin.api.post("/stack-templates/from-chart", body({ repo: "http://10.0.0.1/" }))).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "repo"] }] },
    });
    expect((await admin.api.post("/stack-templates/from-chart", body({ chart: "nothing" }))).status).toBe(404);
    expect((await admin.api.post("/stack-templates/from-chart", body({ chart: "gone" }))).status).toBe(502);
    const taken = body();
    expect((await admin.api.post("/stack-templates/from-chart", taken)).status).toBe(201);
    expect((await admin.api.post("/stack-templates/from-chart", taken)).status).toBe(409);
  });
});

describe("GET /stack-templates/registry", () => {
  const names = (body: { data: { name: string }[] }) => body.data.map(({ name }) => name);

  test("[TP42] GET /stack-templates/registry lists the templates that ship, by name and in pages", async () => {
    const { status, body } = await member.api.get("/stack-templates/registry?items_per_page=100");
    expect(status).toBe(200);
    expect(names(body)).toEqual(names(body).toSorted());
    expect(names(body)).toContain("web-app");
    expect(body.total_count).toBe(body.data.length);
    const second = await member.api.get("/stack-templates/registry?page=2&items_per_page=3");
    expect(names(second.body)).toEqual(names(body).slice(3, 6));
    expect((await world.anyone.get("/stack-templates/registry")).status).toBe(401);
  });

  test("[TP42] GET /stack-templates/registry is narrowed by a search and by a tag", async () => {
    const found = await member.api.get("/stack-templates/registry?search=WordPress");
    expect(names(found.body)).toContain("wordpress");
    expect((await member.api.get("/stack-templates/registry?tag=nats")).body).toMatchObject({
      data: [{ name: "event-pipeline" }],
      total_count: 1,
    });
    expect((await member.api.get("/stack-templates/registry?search=zzzz")).body).toMatchObject({ data: [] });
  });

  test("[TP42] a template of GET /stack-templates/registry can be created as it is", async () => {
    const [first] = (await member.api.get("/stack-templates/registry?tag=nats")).body.data;
    const created = await admin.api.post("/stack-templates", {
      ...first,
      namespace: place.namespace,
      scope: "organization",
    });
    expect(created.status, JSON.stringify(created.body)).toBe(201);
  });

  test("[TP43] GET /stack-templates/registry is the configured registry, without entries that are not valid", async () => {
    const entry = {
      ...content({ scope: "global" }),
      namespace: "registry",
      description: "Theirs.",
      icon: "x",
      tags: [],
    };
    const broken = { ...entry, name: "broken", components: [{ name: "${oops}" }] };
    let listed: string | null = stringify({ templates: [entry, broken, 5] });
    const server = await serve((_request, response) => {
      if (listed === null) response.writeHead(500).end();
      else response.end(listed);
    });
    const env = { BINNACLE_TEMPLATE_REGISTRY: `${server.url}/templates.yaml` };
    const other = await startWorld({ env, beside: world });
    listed = null;
    expect((await other.admin.api.get("/stack-templates/registry")).status).toBe(502);
    listed = "just text";
    expect((await other.admin.api.get("/stack-templates/registry")).status).toBe(502);
    listed = stringify({ templates: [entry, broken, 5] });
    const { body } = await other.admin.api.get("/stack-templates/registry");
    expect(names(body)).toEqual([entry.name]);
    await other.stop();
    server.stop();
  });
});
