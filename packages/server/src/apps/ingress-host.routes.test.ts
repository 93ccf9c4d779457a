// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are what is tested
import type { AppReport } from "@binnacle/contract";
import { type Person, startWorld, type World } from "@binnacle/world";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { insertCluster, insertProject } from "../access/bindings.fixture.ts";
import { rowsOf } from "../http/rows.fixture.ts";
import { someName } from "./app.fixture.ts";
import { create, move, path, type SharedCluster, shareCluster, someHost, taken, web } from "./ingress-host.fixture.ts";

let world: World;
let shared: SharedCluster;
let report: SharedCluster["report"];
let admin: Person;
let [mine, theirs] = ["", ""];
let editor: Person;
let rival: Person;

beforeAll(async () => {
  world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
  shared = await shareCluster(world);
  ({ report, admin, mine, theirs, editor, rival } = shared);
});
afterAll(() => world?.stop());

async function made(by: Person, project: string, host?: string): Promise<string> {
  const answer = await create(by, project, host);
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body.name;
}

const drift = (state: AppReport["drift"]["state"]) => ({ state, summary: null, fields: [], detected_at: null });

describe("a host that another project of the cluster has", () => {
  test("[AP64] is refused to a new app and to a change, and nothing is stored", async () => {
    const host = someHost();
    await made(rival, theirs, host);
    const name = await made(editor, mine, someHost());

    const before = await rowsOf(world);
    expect(await create(editor, mine, host)).toMatchObject(taken(host));
    expect(await move(editor, mine, name, host)).toMatchObject(taken(host));
    const addition = { op: "add", ...web(host), name: "second" };
    expect(await editor.api.patch(path(mine, name), { components: [addition] })).toMatchObject(taken(host));
    expect(await rowsOf(world)).toEqual(before);
  });

  test("[TP49] is refused to a deployed template whose parameters name it", async () => {
    const host = someHost();
    await made(rival, theirs, host);
    const template = {
      namespace: `project-${mine}`,
      name: someName(),
      parameters: [{ name: "host", type: "string", required: true }],
      components: [web("${host}")],
    };
    expect((await editor.api.post("/stack-templates", template)).status).toBe(201);
    const deploy = (parameters: object) =>
      editor.api.post(`/stack-templates/${template.namespace}/${template.name}/deploy`, {
        project_id: mine,
        parameters,
      });
    const before = await rowsOf(world);
    expect(await deploy({ host })).toMatchObject(taken(host));
    expect(await rowsOf(world)).toEqual(before);
    expect((await deploy({ host: someHost() })).status).toBe(201);
  });

  test("[AP64] is refused to a rollback to a revision that had it", async () => {
    const host = someHost();
    const name = await made(editor, mine, host);
    expect((await move(editor, mine, name, someHost())).status).toBe(200);
    await report(mine, name);
    await made(rival, theirs, host);
    const rollback = () => editor.api.post(path(mine, name, "/rollback"), { revision: 1 });
    expect(await rollback()).toMatchObject(taken(host));
    const { body } = await editor.api.get(path(mine, name, "/deployments"));
    const first = body.data.at(-1).deployment_id;
    expect(await editor.api.post(path(mine, name, `/deployments/${first}/rollback`))).toMatchObject(taken(host));
    expect((await editor.api.get(path(mine, name))).body.revision).toBe(2);
  });

  test("[AP64] is refused to administrators too, with no word about the owner", async () => {
    const host = someHost();
    const owner = await made(rival, theirs, host);
    const refused = await create(admin, mine, host);
    expect(refused).toMatchObject(taken(host));
    const said = JSON.stringify(refused.body);
    for (const secret of [theirs, owner, rival.id]) expect(said).not.toContain(secret);
  });

  test("[AP64] is free for other apps of that project, and on other clusters", async () => {
    const host = someHost();
    const name = await made(rival, theirs, host);
    expect((await create(rival, theirs, host)).status).toBe(201);
    expect((await rival.api.post(path(theirs, name, "/redeploy"))).status).toBe(200);
    const { kysely: db } = world.database;
    const elsewhere = await insertProject(db, shared.org, await insertCluster(db, shared.org));
    expect((await create(admin, elsewhere, host)).status).toBe(201);
  });
});

describe("a host that a chart of another project serves", () => {
  const name = someName();
  let owner = "";
  beforeAll(async () => {
    owner = (await admin.api.post("/projects", { name, cluster_id: shared.cluster })).body.id;
  });
  const served = (...hosts: string[]) => shared.reportProject(owner, name, { state: "ready", message: null, hosts });

  test("[AP124] is refused to apps, also under a wildcard, until the cluster no longer reports it", async () => {
    const [host, domain] = [someHost(), someHost()];
    await served(host, `a.${domain}`);
    expect(await create(editor, mine, host)).toMatchObject(taken(host));
    expect(await create(admin, mine, `*.${domain}`)).toMatchObject(taken(`*.${domain}`));
    expect((await create(admin, owner, host)).status).toBe(201);
    await served(`b.${domain}`);
    expect((await create(editor, mine, `a.${domain}`)).status).toBe(201);
    expect(await create(editor, mine, `b.${domain}`)).toMatchObject(taken(`b.${domain}`));
    await served();
    expect((await create(editor, mine, `b.${domain}`)).status).toBe(201);
  });

  test("[AP124] takes no hosts below it where it is a wildcard", async () => {
    const domain = someHost();
    await served(`*.${domain}`);
    expect((await create(editor, mine, `a.${domain}`)).status).toBe(201);
    expect(await create(admin, mine, `*.${domain}`)).toMatchObject(taken(`*.${domain}`));
    await served();
  });
});

describe("a host is let go", () => {
  test("[AP65] once the absence of its app is confirmed, and not while the app is being deleted", async () => {
    const host = someHost();
    const name = await made(rival, theirs, host);
    expect((await rival.api.delete(path(theirs, name))).status).toBe(204);
    expect(await create(editor, mine, host)).toMatchObject(taken(host));
    await report(theirs, name, "gone");
    expect((await create(editor, mine, host)).status).toBe(201);
    expect(await create(rival, theirs, host)).toMatchObject(taken(host));
  });

  test("[AP65] once the last of its apps is gone", async () => {
    const host = someHost();
    const [one, other] = [await made(rival, theirs, host), await made(rival, theirs, host)];
    await rival.api.delete(path(theirs, one));
    await report(theirs, one, "gone");
    expect(await create(editor, mine, host)).toMatchObject(taken(host));
    await rival.api.delete(path(theirs, other));
    await report(theirs, other, "gone");
    expect((await create(editor, mine, host)).status).toBe(201);
  });

  test("[AP65] once the cluster has reached what the app has become", async () => {
    const host = someHost();
    const name = await made(rival, theirs, host);
    await report(theirs, name);
    expect((await move(rival, theirs, name, null)).status).toBe(200);
    expect(await create(editor, mine, host)).toMatchObject(taken(host));
    await report(theirs, name);
    expect((await create(editor, mine, host)).status).toBe(201);
  });

  test.each<[string, Partial<AppReport>]>([
    ["is invalid", { phase: "invalid" }],
    ["has failed", { phase: "failed" }],
    ["is on its way", { phase: "deploying" }],
    ["is held by another manager", { drift: drift("blocked_sync") }],
    ["is not known to be in sync", { drift: drift("unknown") }],
  ])("[AP65] and not while what the app has become %s: the old address may still answer", async (_, facts) => {
    const host = someHost();
    const name = await made(rival, theirs, host);
    await report(theirs, name);
    await move(rival, theirs, name, null);
    await report(theirs, name, facts);
    expect(await create(editor, mine, host)).toMatchObject(taken(host));
    await report(theirs, name);
    expect((await create(editor, mine, host)).status).toBe(201);
  });

  test("[AP65] once an app that has lost the component with it, or is paused, is in place", async () => {
    const [emptied, paused] = [someHost(), someHost()];
    const one = await made(rival, theirs, emptied);
    const moved = { op: "add", name: "other", workload_spec: { image: "nginx:1.29" } };
    await rival.api.patch(path(theirs, one), { components: [moved, { op: "remove", name: "web" }] });
    await report(theirs, one);
    expect((await create(editor, mine, emptied)).status).toBe(201);

    const other = await made(rival, theirs, paused);
    await move(rival, theirs, other, someHost());
    await rival.api.post(path(theirs, other, "/pause"));
    await report(theirs, other, { phase: "paused" });
    expect((await create(editor, mine, paused)).status).toBe(201);
  });

  test("[AP65] by a project with the last of its apps, and not when its deletion is asked for", async () => {
    const short = await shared.anotherProject();
    const host = someHost();
    const name = await made(admin, short, host);
    expect((await admin.api.delete(`/projects/${short}`)).status).toBe(202);
    expect(await create(editor, mine, host)).toMatchObject(taken(host));
    await report(short, name, "gone");
    expect((await create(editor, mine, host)).status).toBe(201);
  });
});

describe("a wildcard", () => {
  test("[AP67] is added by administrators of the organization alone", async () => {
    const domain = someHost();
    const refused = await create(editor, mine, `*.${domain}`);
    expect(refused).toMatchObject({
      status: 403,
      body: {
        detail: `The host *.${domain} is a wildcard, which only an administrator of the organization may add.`,
      },
    });
    const name = await made(editor, mine, someHost());
    expect((await move(editor, mine, name, `*.${domain}`)).status).toBe(403);
    expect((await move(admin, mine, name, `*.${domain}`)).status).toBe(200);
    expect((await create(world.admin, mine, `*.${domain}`)).status).toBe(201);
    const image = { op: "patch", name: "web", workload_spec: { image: "nginx:1.30" } };
    expect((await editor.api.patch(path(mine, name), { components: [image] })).status).toBe(200);
    expect((await editor.api.post(path(mine, name, "/rollback"), { revision: 1 })).status).toBe(200);
    expect((await editor.api.post(path(mine, name, "/rollback"), { revision: 2 })).status).toBe(403);
  });

  test("[TP49] in a template is added by who may, when it is deployed", async () => {
    const body = { namespace: `project-${mine}`, name: someName(), components: [web(`*.${someHost()}`)] };
    expect((await editor.api.post("/stack-templates", body)).status).toBe(201);
    const deploy = `/stack-templates/${body.namespace}/${body.name}/deploy`;
    expect((await editor.api.post(deploy, { project_id: mine })).status).toBe(403);
    expect((await admin.api.post(deploy, { project_id: mine })).status).toBe(201);
  });

  test("[AP66] keeps other projects from every host below it, and no others", async () => {
    const domain = someHost();
    await made(admin, theirs, `*.${domain}`);
    for (const below of [`a.${domain}`, `b.a.${domain}`]) {
      expect(await create(editor, mine, below)).toMatchObject(taken(below));
    }
    for (const below of [`*.${domain}`, `*.a.${domain}`]) {
      expect(await create(admin, mine, below)).toMatchObject(taken(below));
    }
    expect((await create(rival, theirs, `a.${domain}`)).status).toBe(201);
    expect((await create(editor, mine, domain)).status).toBe(201);
    expect((await create(editor, mine, `a${domain}`)).status).toBe(201);
  });

  test("[AP66] is refused over a host that another project has", async () => {
    const domain = someHost();
    await made(editor, mine, `b.a.${domain}`);
    expect(await create(admin, theirs, `*.a.${domain}`)).toMatchObject(taken(`*.a.${domain}`));
    expect(await create(admin, theirs, `*.${domain}`)).toMatchObject(taken(`*.${domain}`));
    expect((await create(admin, mine, `*.${domain}`)).status).toBe(201);
  });
});

describe("of projects that ask for hosts at the same instant", () => {
  test("[AP68] exactly one gets the host", async () => {
    const projects = await Promise.all(Array.from({ length: 6 }, () => shared.anotherProject()));
    const host = someHost();
    const answers = await Promise.all(projects.map((project) => create(admin, project, host)));
    expect(answers.map(({ status: code }) => code).toSorted()).toEqual([201, 409, 409, 409, 409, 409]);
    for (const { status: code, body } of answers) if (code === 409) expect(body.detail.code).toBe("host_taken");
  });

  test("[AP68] exactly one gets a wildcard or what lies below it", async () => {
    for (let round = 0; round < 5; round++) {
      const domain = someHost();
      const answers = await Promise.all([
        create(admin, mine, `*.${domain}`),
        create(admin, theirs, `a.${domain}`),
        create(admin, mine, `*.a.${domain}`),
      ]);
      const [wildcard, exact, deeper] = answers.map(({ status: code }) => code);
      expect([wildcard, exact]).toContain(409);
      expect([wildcard, exact]).toContain(201);
      expect(deeper).toBe(201);
    }
  });
});
