import { folder, lockedFolder, ociRegistry, packedChart, serve } from "@binnacle/charts/fixture";
import { MAX_CHART_REPOSITORIES } from "@binnacle/contract";
import { type Client, type Person, startWorld } from "@binnacle/world";
import { afterAll, afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { insertCluster, insertProject } from "../access/bindings.fixture.ts";
import { registeredCluster } from "../clusters/clusters.fixture.ts";
import { TestOperator } from "../hub/operator.fixture.ts";
import { newId } from "../id.adapter.ts";
import { SOON } from "../jobs/jobs.fixture.ts";

const PASSWORD = "s3cret-of-the-repository";
const GIVEN = { name: "Acme", url: "oci://registry.example.com/acme", username: "robot", password: PASSWORD };

let org: string;
let admin: Person;
let member: Person;
let path: string;

const world = await startWorld({ env: { BINNACLE_CHART_HOSTS: "127.0.0.1,charts.internal" } });
const db = world.database.kysely;
const stranger = await world.person();
afterAll(() => world.stop());
beforeEach(async () => {
  org = await world.org();
  admin = await world.person({ org, role: "admin" });
  member = await world.person({ org });
  path = `/orgs/${org}/chart-repositories`;
});

const store = (given: object = {}, api: Client = admin.api) => api.post(path, { ...GIVEN, ...given });

describe("a chart repository", () => {
  test("[CH1] a chart repository is stored with a normalized address, and read without its password", async () => {
    const stored = await store({ url: "oci://Registry.example.com:443/acme/" });
    expect(stored.status, JSON.stringify(stored.body)).toBe(201);
    const now = world.clock.now().toISOString();
    expect(stored.body).toEqual({
      id: stored.body.id,
      org_id: org,
      name: "Acme",
      url: GIVEN.url,
      username: "robot",
      created_at: now,
      updated_at: now,
    });
    expect((await member.api.get(`${path}/${stored.body.id}`)).body).toEqual(stored.body);
    expect((await member.api.get(path)).body).toEqual({ data: [stored.body], total_count: 1 });
  });

  test("[CH2] the password of a chart repository is sealed, and in no answer, audit entry or log line", async () => {
    const { id } = (await store()).body;
    const changed = await admin.api.patch(`${path}/${id}`, { password: `${PASSWORD}-2` });
    const answers = [
      changed.body,
      (await admin.api.get(path)).body,
      (await admin.api.get(`${path}/${id}`)).body,
      (await admin.api.get(`/orgs/${org}/audit-log?items_per_page=100`)).body,
    ];
    expect(changed.status).toBe(200);
    const row = await db.selectFrom("chart_repositories").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
    const written = JSON.stringify([answers, row, world.logged]);
    expect(written).not.toContain(PASSWORD);
    expect(written).toContain('"password":"changed"');
    await admin.api.delete(`${path}/${id}`);
  });

  test.each([
    ["an address of the cloud's metadata", "https://169.254.169.254/latest"],
    ["plain HTTP to a host that is not on the list", "http://charts.example.com"],
    ["a user name in the address", "https://ada@charts.example.com"],
    ["a query", "https://charts.example.com/?token=x"],
    ["an escaped slash", "https://charts.example.com/a%2Fb"],
  ])("[CH3] a chart repository with %s is a 422", async (_, url) => {
    expect(await store({ url })).toMatchObject({ status: 422, body: { detail: [{ loc: ["body", "url"] }] } });
    expect((await admin.api.get(path)).body.total_count).toBe(0);
  });

  test("[CH3] a chart repository may be at a host on the allow-list, and malformed fields are a 422", async () => {
    expect((await store({ url: "http://charts.internal/x" })).status).toBe(201);
    const refused = await store({ url: "ftp://x", username: "a:b", password: "line\nbreak", extra: 1 });
    const places = refused.body.detail.map(({ loc }: { loc: string[] }) => loc.join("."));
    expect(places.toSorted()).toEqual(["body.extra", "body.password", "body.url", "body.username"]);
  });

  test("[CH4] names and addresses of chart repositories are unique in an organization", async () => {
    await store();
    expect(await store({ url: "oci://registry.example.com/other" })).toMatchObject({
      status: 409,
      body: { detail: "A chart repository with this name already exists." },
    });
    expect(await store({ name: "Other", url: "oci://registry.example.com/acme/" })).toMatchObject({
      status: 409,
      body: { detail: "A chart repository with this URL already exists." },
    });
    const other = (await store({ name: "Other", url: "oci://registry.example.com/other" })).body;
    expect((await admin.api.patch(`${path}/${other.id}`, { name: "Acme" })).status).toBe(409);
    expect((await admin.api.patch(`${path}/${other.id}`, { url: GIVEN.url, password: "x" })).status).toBe(409);
    const elsewhere = await world.org();
    expect((await world.admin.api.post(`/orgs/${elsewhere}/chart-repositories`, GIVEN)).status).toBe(201);
  });

  test("[CH5] chart repositories are managed by administrators, read by members, and closed to others", async () => {
    const { id } = (await store()).body;
    for (const [person, reading, writing] of [
      [member, 200, 403],
      [stranger, 403, 403],
    ] as const) {
      expect((await person.api.get(path)).status).toBe(reading);
      expect((await person.api.get(`${path}/${id}`)).status).toBe(reading);
      expect((await store({ name: "Other" }, person.api)).status).toBe(writing);
      expect((await person.api.patch(`${path}/${id}`, { name: "Mine" })).status).toBe(writing);
      expect((await person.api.delete(`${path}/${id}`)).status).toBe(writing);
    }
    expect((await world.anyone.get(path)).status).toBe(401);
    const elsewhere = await world.org();
    const there = await world.person({ org: elsewhere, role: "admin" });
    for (const send of [there.api.get, there.api.delete]) {
      expect((await send.call(there.api, `/orgs/${elsewhere}/chart-repositories/${id}`)).status).toBe(404);
    }
    expect((await admin.api.get(`${path}/${newId()}`)).status).toBe(404);
  });

  test("[CH6] a chart repository with another address or user name needs the password again", async () => {
    const { id } = (await store()).body;
    for (const change of [{ url: "https://evil.example.com" }, { username: "mallory" }]) {
      expect(await admin.api.patch(`${path}/${id}`, change)).toMatchObject({
        status: 422,
        body: { detail: [{ loc: ["body", "password"], type: "missing" }] },
      });
    }
    expect((await admin.api.get(`${path}/${id}`)).body).toMatchObject({ url: GIVEN.url, username: "robot" });
    const moved = await admin.api.patch(`${path}/${id}`, { url: "oci://other.example.com", password: "new" });
    expect(moved.body).toMatchObject({ url: "oci://other.example.com", username: "robot", name: "Acme" });
    expect((await admin.api.patch(`${path}/${id}`, { name: "Renamed" })).body.name).toBe("Renamed");
  });

  test("[CH7] an organization has at most 50 chart repositories", async () => {
    expect((await store()).status).toBe(201);
    const { sealed_password } = await db
      .selectFrom("chart_repositories")
      .select("sealed_password")
      .where("org_id", "=", org)
      .executeTakeFirstOrThrow();
    const times = { created_at: world.clock.now(), updated_at: world.clock.now() };
    const rows = Array.from({ length: MAX_CHART_REPOSITORIES - 1 }, (_, index) => ({
      id: newId(),
      org_id: org,
      name: `n${index}`,
      url: `oci://registry.example.com/${index}`,
      username: "robot",
      sealed_password,
      ...times,
    }));
    await db.insertInto("chart_repositories").values(rows).execute();
    expect((await store({ name: "one more", url: "oci://registry.example.com/more" })).status).toBe(409);
  });

  test("[CH8] a chart repository is deleted with a 204, and is a 404 afterwards", async () => {
    const { id } = (await store()).body;
    expect((await admin.api.delete(`${path}/${id}`)).status).toBe(204);
    expect((await admin.api.delete(`${path}/${id}`)).status).toBe(404);
    expect((await admin.api.get(path)).body).toEqual({ data: [], total_count: 0 });
  });

  test("[CH8] a chart repository is deleted while an app uses it, and the app stays as it is", async () => {
    const { id } = (await store()).body;
    const cluster = await insertCluster(db, org);
    const project = await insertProject(db, org, cluster);
    const components = [{ name: "web", type: "chart", chart_spec: { repo: GIVEN.url, name: "web", version: "1.0.0" } }];
    expect((await admin.api.post("/apps", { name: "shop", project_id: project, components })).status).toBe(201);
    const desired = () =>
      db.selectFrom("desired_resources").selectAll().where("cluster_id", "=", cluster).orderBy("key").execute();
    const read = async () => (await admin.api.get(`/apps/project-${project}/shop?project_id=${project}`)).body;
    const before = [await read(), await desired()];
    expect((await admin.api.delete(`${path}/${id}`)).status).toBe(204);
    expect([await read(), await desired()]).toEqual(before);
  });
});

describe("operators of the organization", () => {
  const open: TestOperator[] = [];
  afterEach(() => {
    for (const operator of open.splice(0)) operator.socket.terminate();
  });
  async function connected() {
    const { connection_token } = await registeredCluster(admin.api, org);
    const operator = new TestOperator(world.url, connection_token);
    open.push(operator);
    return { operator, welcome: await operator.greet() };
  }
  const credential = ({ url, username, password } = GIVEN) => ({ url, username, password });

  test("[CH9] operators get the chart repositories of their organization when they connect and at each change", async () => {
    const { operator, welcome } = await connected();
    expect(welcome.chart_repositories).toEqual([]);
    const { id } = (await store()).body;
    expect((await operator.next("chart_repositories")).chart_repositories).toEqual([credential()]);
    expect((await connected()).welcome.chart_repositories).toEqual([credential()]);
    await admin.api.patch(`${path}/${id}`, { password: "another" });
    await operator.next("chart_repositories", ({ chart_repositories: [one] }) => one?.password === "another");
    await admin.api.delete(`${path}/${id}`);
    await operator.next("chart_repositories", ({ chart_repositories }) => chart_repositories.length === 0);
  });

  test("[CH9] the operator of an abandoned cluster gets no chart repositories, also not at a change", async () => {
    const { id } = (await store()).body;
    const { id: clusterId, name, connection_token } = await registeredCluster(admin.api, org);
    await admin.api.post("/projects", { name: "shop", cluster_id: clusterId });
    expect((await admin.api.post(`/clusters/${clusterId}/abandon`, { name })).status).toBe(202);
    const operator = new TestOperator(world.url, connection_token);
    open.push(operator);
    expect((await operator.greet()).chart_repositories).toEqual([]);
    await operator.next("remove");
    const { operator: other } = await connected();
    await admin.api.patch(`${path}/${id}`, { password: "another" });
    await other.next("chart_repositories", ({ chart_repositories: [one] }) => one?.password === "another");
    expect(operator.all("chart_repositories")).toEqual([]);
  });

  test("[CH9] operators do not get the chart repositories of another organization", async () => {
    const { operator } = await connected();
    const elsewhere = await world.org();
    await world.admin.api.post(`/orgs/${elsewhere}/chart-repositories`, GIVEN);
    await store({ url: "oci://registry.example.com/ours" });
    await vi.waitFor(() => expect(operator.heard.some(({ type }) => type === "chart_repositories")).toBe(true), SOON);
    expect(JSON.stringify(operator.heard)).not.toContain(GIVEN.url);
  });
});

describe("looking into a private chart", () => {
  const login = { username: GIVEN.username, password: PASSWORD };
  const web = packedChart("web", "1.0.0");
  const INDEX = "entries:\n  web:\n  - { version: 1.0.0, urls: [web.tgz] }\n";

  async function served(answer: Parameters<typeof serve>[0]) {
    const server = await serve(answer);
    onTestFinished(() => server.stop());
    return server;
  }
  const inspect = (repo: string, api: Client, more: Record<string, string> = {}) =>
    api.get(`/stack-templates/inspect-chart?${new URLSearchParams({ repo, name: "web", ...more }).toString()}`);

  test("[CH11] members inspect a private chart with the credentials of their organization, by HTTP and by OCI", async () => {
    const locked = await served(lockedFolder(login, { "/index.yaml": INDEX, "/web.tgz": web.archive }));
    const registry = await served(ociRegistry({ tags: { "1.0.0": web }, login }));
    const oci = registry.url.replace(/^http/, "oci");
    expect((await inspect(locked.url, member.api)).status).toBe(502);
    expect((await inspect(`${oci}/charts`, member.api)).status).toBe(404);
    await store({ url: locked.url });
    await store({ name: "Registry", url: oci });
    for (const repo of [locked.url, `${oci}/charts`]) {
      expect((await inspect(repo, member.api)).body, repo).toMatchObject({ chart_metadata: { name: "web" } });
    }
    const from = { namespace: "shared", name: "web", scope: "organization", repo: `${oci}/charts`, chart: "web" };
    const made = await admin.api.post("/stack-templates/from-chart", { ...from, org_id: org });
    expect(made.status, JSON.stringify(made.body)).toBe(201);
    expect(JSON.stringify([made.body, world.logged])).not.toContain(PASSWORD);
  });

  test("[CH12] a private chart that a member has just inspected is closed to users of other organizations", async () => {
    const locked = await served(lockedFolder(login, { "/index.yaml": INDEX, "/web.tgz": web.archive }));
    await store({ url: locked.url });
    expect((await inspect(locked.url, member.api)).status).toBe(200);
    expect((await inspect(locked.url, stranger.api)).status).toBe(502);
    expect(await inspect(locked.url, stranger.api, { org_id: org })).toMatchObject({ status: 404 });
    const elsewhere = await world.org();
    const colleague = await world.person({ org: elsewhere, role: "admin" });
    expect((await inspect(locked.url, colleague.api)).status).toBe(502);
  });

  test("[CH8] a private chart is closed to members as soon as its chart repository is deleted", async () => {
    const locked = await served(lockedFolder(login, { "/index.yaml": INDEX, "/web.tgz": web.archive }));
    const { id } = (await store({ url: locked.url })).body;
    expect((await inspect(locked.url, member.api)).status).toBe(200);
    await admin.api.delete(`${path}/${id}`);
    expect(await inspect(locked.url, member.api)).toMatchObject({
      status: 502,
      body: { detail: expect.stringContaining("it refuses access with the credentials it was given") },
    });
  });

  test("[CH12] a member of several organizations inspects a private chart only by naming the organization", async () => {
    const locked = await served(lockedFolder(login, { "/index.yaml": INDEX, "/web.tgz": web.archive }));
    await store({ url: locked.url });
    const elsewhere = await world.org();
    await world.admin.api.post(`/orgs/${elsewhere}/members`, { user_id: member.id, role: "member" });
    expect((await inspect(locked.url, member.api)).status).toBe(502);
    expect((await inspect(locked.url, member.api, { org_id: org })).status).toBe(200);
    expect((await inspect(locked.url, world.admin.api, { org_id: newId() })).status).toBe(404);
  });

  test("[CS5] [CS10] a chart repository that cannot be read is a 502 with the host, without the password or its answer", async () => {
    const talks = await served((_request, response) => response.writeHead(500).end("internal words"));
    const gone = await served(folder({}));
    gone.stop();
    await store({ url: talks.url });
    for (const { url } of [talks, gone]) {
      const { status, body } = await inspect(url, member.api);
      expect({ status, body }).toEqual({
        status: 502,
        body: { detail: `The chart repository ${new URL(url).host} cannot be read.` },
      });
    }
    expect(JSON.stringify(world.logged)).not.toContain("internal words");
    expect(JSON.stringify(world.logged)).not.toContain(PASSWORD);
  });
});
