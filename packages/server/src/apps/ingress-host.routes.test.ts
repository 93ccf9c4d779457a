// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are what is tested
import type { AppReport } from "@binnacle/contract";
import { type Person, startWorld } from "@binnacle/world";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { insertCluster, insertProject } from "../access/bindings.fixture.ts";
import { rowsOf } from "../http/rows.fixture.ts";
import { someName } from "./app.fixture.ts";
import { create, move, path, shareCluster, someHost, taken, web } from "./ingress-host.fixture.ts";

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
const shared = await shareCluster(world);
const { report, admin, mine, theirs, editor, rival } = shared;
afterAll(() => world.stop());

async function made(by: Person, project: string, host?: string): Promise<string> {
  const answer = await create(by, project, host);
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body.name;
}

const drift = (state: AppReport["drift"]["state"]) => ({ state, summary: null, fields: [], detected_at: null });

describe("a host that another project of the cluster has", () => {
  test("[AP64] a host of another project is refused in a new app and in a change, and nothing is stored", async () => {
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

  test("[TP49] a host of another project is refused in a deployed template whose parameters name it", async () => {
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

  test("[AP64] a rollback to a revision with a host that another project has taken is refused", async () => {
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

  test("[AP64] a host of another project is refused to administrators too, and the answer does not name the owner", async () => {
    const host = someHost();
    const owner = await made(rival, theirs, host);
    const refused = await create(admin, mine, host);
    expect(refused).toMatchObject(taken(host));
    const said = JSON.stringify(refused.body);
    for (const secret of [theirs, owner, rival.id]) expect(said).not.toContain(secret);
  });

  test("[AP64] a host of a project is free for its other apps, and on other clusters", async () => {
    const host = someHost();
    const name = await made(rival, theirs, host);
    expect((await create(rival, theirs, `${host}/api`)).status).toBe(201);
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

  test("[AP124] a host that a chart of another project serves is refused until the cluster no longer reports it", async () => {
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

  test("[AP124] a wildcard host of a chart takes no hosts below it", async () => {
    const domain = someHost();
    await served(`*.${domain}`);
    expect((await create(editor, mine, `a.${domain}`)).status).toBe(201);
    expect(await create(admin, mine, `*.${domain}`)).toMatchObject(taken(`*.${domain}`));
    await served();
  });
});

describe("a host is let go", () => {
  test("[AP65] a host stays taken while its app is being deleted, and is free once the app's absence is confirmed", async () => {
    const host = someHost();
    const name = await made(rival, theirs, host);
    expect((await rival.api.delete(path(theirs, name))).status).toBe(204);
    expect(await create(editor, mine, host)).toMatchObject(taken(host));
    await report(theirs, name, "gone");
    expect((await create(editor, mine, host)).status).toBe(201);
    expect(await create(rival, theirs, host)).toMatchObject(taken(host));
  });

  test("[AP65] a host is free once the last app of the project with it is gone", async () => {
    const host = someHost();
    const [one, other] = [await made(rival, theirs, host), await made(rival, theirs, `${host}/api`)];
    await rival.api.delete(path(theirs, one));
    await report(theirs, one, "gone");
    expect(await create(editor, mine, host)).toMatchObject(taken(host));
    await rival.api.delete(path(theirs, other));
    await report(theirs, other, "gone");
    expect((await create(editor, mine, host)).status).toBe(201);
  });

  test("[AP65] a host is free once the cluster has applied a change that removed it", async () => {
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
  ])(
    "[AP65] a host stays taken while its changed app %s, because the old address may still answer",
    async (_, facts) => {
      const host = someHost();
      const name = await made(rival, theirs, host);
      await report(theirs, name);
      await move(rival, theirs, name, null);
      await report(theirs, name, facts);
      expect(await create(editor, mine, host)).toMatchObject(taken(host));
      await report(theirs, name);
      expect((await create(editor, mine, host)).status).toBe(201);
    },
  );

  test("[AP65] a host is free once an app that lost its component, or was paused without it, is in place", async () => {
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

  test("[AP65] the host of a deleted project stays taken until the last app with it is gone", async () => {
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
  test("[AP67] only administrators of the organization add a wildcard host", async () => {
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
    expect((await create(world.admin, mine, `*.${domain}/api`)).status).toBe(201);
    const image = { op: "patch", name: "web", workload_spec: { image: "nginx:1.30" } };
    expect((await editor.api.patch(path(mine, name), { components: [image] })).status).toBe(200);
    expect((await editor.api.post(path(mine, name, "/rollback"), { revision: 1 })).status).toBe(200);
    expect((await editor.api.post(path(mine, name, "/rollback"), { revision: 2 })).status).toBe(403);
  });

  test("[TP49] a wildcard host in a template needs an administrator of the organization when it is deployed", async () => {
    const body = { namespace: `project-${mine}`, name: someName(), components: [web(`*.${someHost()}`)] };
    expect((await editor.api.post("/stack-templates", body)).status).toBe(201);
    const deploy = `/stack-templates/${body.namespace}/${body.name}/deploy`;
    expect((await editor.api.post(deploy, { project_id: mine })).status).toBe(403);
    expect((await admin.api.post(deploy, { project_id: mine })).status).toBe(201);
  });

  test("[AP66] a wildcard host excludes other projects from every host below it, and from no others", async () => {
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

  test("[AP66] a wildcard host above a host of another project is refused", async () => {
    const domain = someHost();
    await made(editor, mine, `b.a.${domain}`);
    expect(await create(admin, theirs, `*.a.${domain}`)).toMatchObject(taken(`*.a.${domain}`));
    expect(await create(admin, theirs, `*.${domain}`)).toMatchObject(taken(`*.${domain}`));
    expect((await create(admin, mine, `*.${domain}`)).status).toBe(201);
  });
});

describe("an address that another app of the project has", () => {
  const lead = (name: string, host: string, to: string) =>
    editor.api.patch(path(mine, name), {
      components: [{ op: "patch", name: "web", workload_spec: { ingress: { host, path: to } } }],
    });
  const served = (app: string, address: string) => ({
    status: 409,
    body: {
      detail: {
        ...{ code: "host_taken", app, host: address.replace(/\/.*/, "") },
        message: `The app ${app} of this project answers at ${address} already. Choose another path or host, or change that app first.`,
      },
    },
  });

  test("[AP508] apps of a project share a host by different paths, and the same path is refused, with nothing stored", async () => {
    const host = someHost();
    const [first, second] = [await made(editor, mine, host), await made(editor, mine, `${host}/api/`)];
    const before = await rowsOf(world);
    expect(await create(editor, mine, `${host}/`)).toMatchObject(served(first, `${host}/`));
    expect(await create(editor, mine, `${host}/api`)).toMatchObject(served(second, `${host}/api`));
    expect(await lead(second, host, "/")).toMatchObject(served(first, `${host}/`));
    expect(await rowsOf(world)).toEqual(before);
    expect((await lead(second, host, "/api")).status).toBe(200);
  });

  test("[AP508] an address is refused in a rollback and in a deployed template until the other app is deleted", async () => {
    const host = someHost();
    const first = await made(editor, mine, host);
    expect((await lead(first, host, "/old")).status).toBe(200);
    const second = await made(editor, mine, host);
    const rollback = () => editor.api.post(path(mine, first, "/rollback"), { revision: 1 });
    expect(await rollback()).toMatchObject(served(second, `${host}/`));
    const template = { namespace: `project-${mine}`, name: someName(), parameters: [], components: [web(host)] };
    expect((await editor.api.post("/stack-templates", template)).status).toBe(201);
    const deploy = editor.api.post(`/stack-templates/${template.namespace}/${template.name}/deploy`, {
      project_id: mine,
    });
    expect(await deploy).toMatchObject(served(second, `${host}/`));
    expect((await editor.api.delete(path(mine, second))).status).toBe(204);
    expect((await rollback()).status).toBe(200);
  });

  test("[AP508] of apps of a project that ask for one address at the same instant, exactly one gets it", async () => {
    const host = someHost();
    const names = await Promise.all(["a", "b", "c", "d"].map((each) => made(editor, mine, `${host}/${each}`)));
    const answers = await Promise.all(names.map((name) => lead(name, host, "/same")));
    expect(answers.map(({ status: code }) => code).toSorted()).toEqual([200, 409, 409, 409]);
  });
});

describe("of projects that ask for hosts at the same instant", () => {
  test("[AP68] of projects that ask for one host at the same instant, exactly one gets it", async () => {
    const projects = await Promise.all(Array.from({ length: 6 }, () => shared.anotherProject()));
    const host = someHost();
    const answers = await Promise.all(projects.map((project) => create(admin, project, host)));
    expect(answers.map(({ status: code }) => code).toSorted()).toEqual([201, 409, 409, 409, 409, 409]);
    for (const { status: code, body } of answers) if (code === 409) expect(body.detail.code).toBe("host_taken");
  });

  test("[AP68] of projects that ask for a wildcard and a host below it at the same instant, exactly one gets it", async () => {
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
