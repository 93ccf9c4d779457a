import { startWorld } from "@binnacle/world";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { LIMIT } from "./command.ts";
import { COMMANDS } from "./commands.ts";
import { type Machine, machine } from "./host.fixture.ts";

let on: Machine;

const world = await startWorld();
afterAll(() => world.stop());
beforeEach(() => {
  on = machine();
});

describe("commands", () => {
  beforeEach(() => {
    on.env = { BINNACLE_URL: world.url, BINNACLE_TOKEN: world.admin.token };
  });

  test("[BC8] commands take names and ids, and list the names that exist where a name is wrong", async () => {
    const made = JSON.parse((await on.run("orgs", "create", "Named", "-o", "json")).out);
    const show = (text: string) => on.run("orgs", "show", text, "-o", "jsonpath=$.id");
    expect([(await show("Named")).out, (await show(made.slug)).out, (await show(made.id)).out]).toEqual(
      Array(3).fill(`${made.id}\n`),
    );
    expect(await show("Nobody")).toMatchObject({
      code: 3,
      err: expect.stringMatching(/^error: There is no organization "Nobody" that you can see\. There are: .*named/),
    });
    expect(await on.run("members", "list")).toMatchObject({
      code: 2,
      err: expect.stringMatching(/^error: Name the organization\. There are: .*\nfix: add --org /),
    });
    expect(await on.run("members", "list", "--org", "Named", "-o", "name")).toMatchObject({ code: 0 });
    expect((await show("01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11")).code).toBe(3);
  });

  test("[BC82] a name means what has it now, and not what an abandoned cluster had; lists show both", async () => {
    const id = async (...words: string[]) => (await on.run(...words, "-o", "jsonpath=$.id")).out.trim();
    const register = () => on.run("clusters", "register", "onprem", "--org", "demo");
    await register();
    const old = await id("clusters", "show", "onprem");
    await on.run("projects", "create", "wares", "--cluster", "onprem", "--no-wait");
    const oldProject = await id("projects", "show", "wares");
    expect(await on.run("clusters", "abandon", "onprem", "--yes")).toMatchObject({
      code: 0,
      err: expect.stringMatching(/^Abandoned onprem\. It stays listed until its operator has cleaned up/),
    });
    expect(await id("clusters", "show", "onprem")).toBe(old);
    await register();
    expect(await id("clusters", "show", "onprem")).not.toBe(old);
    expect((await on.run("projects", "create", "wares", "--cluster", "onprem", "--no-wait")).code).toBe(0);
    expect(await id("projects", "show", "wares")).not.toBe(oldProject);
    const abandoned = await on.run("clusters", "list", "--org", "demo", "--status", "abandoned");
    expect(abandoned.out).toMatch(/onprem +abandoned/);
    expect((await on.run("projects", "show", oldProject)).out).toMatch(
      /STATE +cleanup_degraded\nREASON +cluster_abandoned/,
    );
    expect(await on.run("clusters", "delete", old, "--yes")).toMatchObject({ code: 0 });
    expect((await on.run("projects", "show", oldProject)).code).toBe(3);
  });

  test("[BC42] commands let a superuser list and name organizations of others, and nobody else", async () => {
    const stranger = await world.person();
    const owner = await world.person();
    const id = await world.org("Of others");
    await world.admin.api.post(`/orgs/${id}/members`, { user_id: owner.id, role: "admin" });
    await world.admin.api.delete(`/orgs/${id}/members/${world.admin.id}`);
    expect((await on.run("orgs", "list", "-o", "name")).out).not.toContain("of-others");
    expect((await on.run("orgs", "list", "--all", "-o", "name")).out).toContain("of-others");
    expect((await on.run("orgs", "show", "Of others", "-o", "jsonpath=$.id")).out).toBe(`${id}\n`);
    on.env = { BINNACLE_URL: world.url, BINNACLE_TOKEN: stranger.token };
    expect(await on.run("orgs", "list", "--all")).toMatchObject({ code: 4, out: "" });
    expect((await on.run("orgs", "show", "Of others")).code).toBe(3);
  });

  test("[BC12] commands print data on stdout and everything else on stderr, and lists in the API's shape", async () => {
    await on.run("orgs", "create", "Listed");
    const list = await on.run("orgs", "list", "-o", "json");
    expect(list.err).toBe("");
    expect(JSON.parse(list.out)).toMatchObject({
      data: expect.arrayContaining([expect.objectContaining({ name: "Listed", slug: expect.any(String) })]),
      total_count: expect.any(Number),
    });
    expect((await on.run("orgs", "list", "--limit", "1", "-o", "name")).out.split("\n")).toHaveLength(2);
    expect(await on.run("apps", "list")).toEqual({ code: 0, out: "", err: "Nothing found.\n" });
  });

  test("[BC24] commands that delete ask first, and need --yes where nobody can be asked", async () => {
    await on.run("orgs", "create", "Short");
    expect(await on.run("orgs", "delete", "Short")).toEqual({
      code: 2,
      out: "",
      err: "error: Delete the organization Short? Nobody can be asked here.\nfix: add --yes\n",
    });
    on.isTerminal = true;
    on.answers = [false];
    expect(await on.run("orgs", "delete", "Short")).toMatchObject({ code: 1, err: "error: Nothing was done.\n" });
    expect((await on.run("orgs", "show", "Short")).code).toBe(0);
    expect(await on.run("orgs", "delete", "Short", "--yes")).toMatchObject({ code: 0, err: "Deleted Short.\n" });
    expect((await on.run("orgs", "show", "Short")).code).toBe(3);
  });

  test("[BC14] commands report wrong fields by their names, and by their lines where they came from a file", async () => {
    expect(await on.run("orgs", "create", "")).toMatchObject({ code: 2, err: expect.stringMatching(/^error: name: /) });
    on.files.set("org.yaml", "description: |\n  Long\n  text\nnmae: Typo\n");
    expect(await on.run("orgs", "update", "demo", "-f", "org.yaml")).toMatchObject({
      code: 2,
      err: expect.stringMatching(/org\.yaml:4: nmae: /),
    });
    expect(await on.run("orgs", "update", "demo", "-f", "missing.yaml")).toMatchObject({
      code: 2,
      err: "error: There is no file missing.yaml.\n",
    });
  });

  test("[BC3] commands read secrets from standard input or a file", async () => {
    const create = (...more: string[]) => [
      "chart-repositories",
      "create",
      "charts",
      "--org",
      "demo",
      "--address",
      "https://charts.example.com",
      "--username",
      "robot",
      ...more,
    ];
    expect(await on.run(...create())).toMatchObject({
      code: 2,
      err: "error: Give the password by --password-stdin or --password-file.\n",
    });
    on.files.set("password", "hush-hush\n");
    const made = await on.run(...create("--password-file", "password", "--debug"));
    expect(made.code).toBe(0);
    expect(made.out + made.err).not.toContain("hush");
    expect(made.err).toContain("> POST ");
    expect((await on.run("chart-repositories", "delete", "charts", "--org", "demo", "--yes")).code).toBe(0);
    expect((await on.piped("hush-hush\n", ...create("--password-stdin"))).code).toBe(0);
  });

  test("[BC13] commands end with 7 where the control plane does not answer, and with 4 where it refuses them", async () => {
    const refused = await on.run("whoami", "--url", "http://127.0.0.1:9");
    expect(refused).toMatchObject({
      code: 7,
      err: expect.stringMatching(/^error: The control plane cannot be reached: /),
    });
    const person = await world.person();
    on.env = { BINNACLE_URL: world.url, BINNACLE_TOKEN: person.token };
    expect(
      (await on.run("tiers", "limits", "create", "free", "/tasks/task", "--limit", "1", "--period", "1")).code,
    ).toBe(4);
  });

  test("[BC7] commands that list something are answered by the real server, in every place", async () => {
    const cluster = await world.admin.api.post(`/orgs/${world.demoOrgId}/clusters`, { name: "listed" });
    await world.admin.api.post("/projects", { name: "listed", cluster_id: cluster.body.id });
    const places = ["--org", "demo", "--cluster", "listed", "--project", "listed"];
    const lists = COMMANDS.filter(({ usage, fields }) => fields.includes(LIMIT) && !/[<[]/.test(usage));
    expect(lists.length).toBeGreaterThan(15);
    const failed: string[] = [];
    for (const { usage } of lists) {
      const ran = await on.run(...usage.split(" "), ...places, "-o", "wide");
      if (ran.code !== 0) failed.push(`${usage}: ${ran.err}`);
    }
    for (const usage of [
      "projects secrets",
      "projects exports",
      "projects rbac list",
      "projects policy show",
      "projects show",
    ]) {
      const ran = await on.run(...usage.split(" "), "listed", ...places);
      if (ran.code !== 0) failed.push(`${usage}: ${ran.err}`);
    }
    for (const usage of [
      "clusters show",
      "clusters rbac list",
      "clusters settings show",
      "clusters bundle show",
      "clusters install-status",
      "clusters instructions",
      "jobs list",
    ]) {
      const ran = await on.run(...usage.split(" "), "listed", ...places);
      if (ran.code !== 0) failed.push(`${usage}: ${ran.err}`);
    }
    expect(failed).toEqual([]);
    expect((await on.run("templates", "show", "web-app")).out).toMatch(/^PARAMETERS +image=/m);
  });

  test("[BC72] install-status shows the stage that is under way after the stages that have ended", async () => {
    const cluster = await world.admin.api.post(`/orgs/${world.demoOrgId}/clusters`, { name: "installed" });
    const report = (body: object) => world.admin.api.post(`/clusters/${cluster.body.id}/install-events`, body);
    await report({ stage: "preflight", status: "completed" });
    await report({ stage: "platform-storage", status: "started", component: "longhorn" });
    const status = (...more: string[]) => on.run("clusters", "install-status", "installed", "--org", "demo", ...more);
    expect((await status()).out).toMatch(/^STAGE .*\npreflight +completed.*\nplatform-storage +started +longhorn/);
    expect(JSON.parse((await status("-o", "json")).out)).toMatchObject({
      install_journal: [{ stage: "preflight" }],
      current_stage: { stage: "platform-storage", component: "longhorn", started_at: expect.any(String) },
    });
    const wide = await on.run("clusters", "list", "--org", "demo", "-o", "wide");
    expect(wide.out).toContain("platform-storage longhorn");
  });

  test("[BC19] [BC18] commands do not overwrite a change that somebody else makes meanwhile", async () => {
    const cluster = await world.admin.api.post(`/orgs/${world.demoOrgId}/clusters`, { name: "edge" });
    const project = await world.admin.api.post("/projects", { name: "shop", cluster_id: cluster.body.id });
    const file = (image: string) =>
      `name: front\ncomponents:\n  - name: web\n    workload_spec: { image: "${image}" }\n`;
    on.files.set("binnacle.yaml", file("nginx:1"));
    const deploy = (...more: string[]) => on.run("apps", "deploy", "--project", "shop", "--no-wait", ...more);
    expect(await deploy("--dry-run")).toMatchObject({ code: 10, err: "" });
    expect(await deploy()).toMatchObject({
      code: 0,
      err: expect.stringContaining("Follow it with: binnacle apps wait shop/front"),
    });
    expect(await deploy("--dry-run")).toMatchObject({ code: 0, out: "shop/front is as the file says\n" });
    on.files.set("binnacle.yaml", file("nginx:2"));
    const address = `/apps/shop/front?project_id=${project.body.id}`;
    on.fetch = async (input, init) => {
      if (init?.method === "PATCH") {
        on.fetch = globalThis.fetch;
        await world.admin.api.patch(address, {
          components: [{ op: "patch", name: "web", workload_spec: { image: "nginx:3" } }],
        });
      }
      return globalThis.fetch(input, init);
    };
    expect(await deploy()).toMatchObject({
      code: 5,
      err: expect.stringMatching(/fix: run the command again: somebody has changed it meanwhile\n$/),
    });
    expect((await world.admin.api.get(address)).body.components[0].workload_spec.image).toBe("nginx:3");
  });

  test("[SV3] an exported app with a secret value of a chart is refused in another project until the file has the value", async () => {
    const cluster = await world.admin.api.post(`/orgs/${world.demoOrgId}/clusters`, { name: "moving" });
    const [from, to] = await Promise.all(
      ["moving-from", "moving-to"].map(async (name) => {
        const { body } = await world.admin.api.post("/projects", { name, cluster_id: cluster.body.id });
        return body;
      }),
    );
    const chart_spec = { repo: "oci://r.example.com/charts", name: "db", values: { auth: { password: "hush" } } };
    const components = [{ name: "db", type: "chart", chart_spec }];
    await world.admin.api.post("/apps", { name: "shop", project_id: from.id, components });
    const file = (await on.run("apps", "export", "shop", "--project", "moving-from")).out;
    const deploy = (text: string) =>
      on.piped(text, "apps", "deploy", "-f", "-", "--project", "moving-to", "--no-wait", "--yes");
    expect(await deploy(file)).toMatchObject({
      code: 2,
      err: expect.stringMatching(/auth\.password: A reference stands only for the secret/),
    });
    const given = file.replace(/\n +secret_ref:\n +name: .*\n +key: .*/, " hush");
    expect((await deploy(given)).code).toBe(0);
    const { body } = await world.admin.api.get(`/apps/${to.namespace}/shop?project_id=${to.id}`);
    expect(body.components[0].secrets).toEqual(["auth.password"]);
  });

  test("[BC102] attaching an addon adds the component that stands for it unless told not to, and a warning is not a success", async () => {
    const cluster = await world.admin.api.post(`/orgs/${world.demoOrgId}/clusters`, { name: "attaching" });
    const project = await world.admin.api.post("/projects", { name: "attaching", cluster_id: cluster.body.id });
    const { id: project_id } = project.body;
    const [definition] = (await world.admin.api.get("/addon-definitions")).body.data;
    const addon = { name: "db", project_id, addon_definition_id: definition.id };
    expect((await world.admin.api.post("/addon-instances", addon)).status).toBe(201);
    const components = [{ name: "web", workload_spec: { image: "nginx:1" } }];
    for (const name of ["one", "two"]) await world.admin.api.post("/apps", { name, project_id, components });
    const attach = (app: string, ...more: string[]) =>
      on.run("apps", "attach-addon", app, "db", "--project", "attaching", "--no-wait", ...more);
    expect(await attach("one")).toMatchObject({
      code: 0,
      err: expect.stringContaining("Adding the component db, which stands for the addon instance."),
    });
    const read = async (name: string) =>
      (await world.admin.api.get(`/apps/attaching/${name}?project_id=${project_id}`)).body;
    expect(await read("one")).toMatchObject({
      revision: 2,
      warnings: [],
      components: [{ export_refs: [{ component: "db" }] }, { name: "db", addon_spec: { instance: "db" } }],
    });
    expect(await attach("two", "--no-add")).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^warning: Component web names db in export_refs\[0\]/),
    });
    expect((await read("two")).components).toHaveLength(1);
  });

  test("[SV14] `apps secrets list` says which list of the chart made each value a secret, and shows no value", async () => {
    const cluster = await world.admin.api.post(`/orgs/${world.demoOrgId}/clusters`, { name: "sealing" });
    const project = await world.admin.api.post("/projects", { name: "sealing", cluster_id: cluster.body.id });
    const values = { auth: { password: "hush-one", user: "hush-two" } };
    const chart_spec = { repo: "oci://r.example.com/charts", name: "db", values, secret_values: ["auth.user"] };
    const components = [{ name: "db", type: "chart", chart_spec, secrets: { EXTRA: "hush-three" } }];
    await world.admin.api.post("/apps", { name: "sealed", project_id: project.body.id, components });
    const { code, out, err } = await on.run(
      "apps",
      "secrets",
      "list",
      "sealed",
      "--project",
      "sealing",
      "--component",
      "db",
    );
    expect({ code, err }).toEqual({ code: 0, err: "" });
    const [head, ...rows] = out.trim().split("\n");
    expect(head).toMatch(/^KEY +CHART VALUE +UPDATED/);
    expect(rows.map((row) => row.split(/ {2,}/).slice(0, 2)).toSorted()).toEqual([
      ["EXTRA", expect.not.stringContaining("values")],
      ["auth.password", "sealed_values"],
      ["auth.user", "secret_values"],
    ]);
    expect(out).not.toContain("hush");
  });

  test("[BC25] the schema of binnacle.yaml is served without credentials", async () => {
    const response = await globalThis.fetch(`${world.url}/schemas/binnacle.schema.json`);
    expect([response.status, response.headers.get("content-type")]).toEqual([
      200,
      expect.stringContaining("application/schema+json"),
    ]);
    expect(await response.json()).toMatchObject({
      title: "binnacle.yaml",
      properties: { components: expect.any(Object) },
    });
    expect((await globalThis.fetch(response.url, { method: "POST" })).status).toBe(405);
  });
});

test("[BC112] the history of an app and the audit log say what each change has changed", async () => {
  const { api, token } = world.admin;
  on.env = { BINNACLE_URL: world.url, BINNACLE_TOKEN: token };
  const cluster = (await api.post(`/orgs/${world.demoOrgId}/clusters`, { name: "told" })).body;
  const project = (await api.post("/projects", { name: "told", cluster_id: cluster.id })).body;
  const components = [{ name: "web", workload_spec: { image: "nginx:1.29", replicas: 2 } }];
  await api.post("/apps", { name: "front", project_id: project.id, components });
  await api.post(`/apps/told/front/scale?project_id=${project.id}`, { component_name: "web", replicas: 3 });
  for (const command of [
    ["apps", "history", "told/front"],
    ["audit", "--org", "demo", "--action", "app.scale"],
  ]) {
    expect((await on.run(...command)).out).toContain("web: 2 → 3 replicas");
  }
});

test("[BC5401] the audit log is exported as lines of JSON, and goes on behind the last of them", async () => {
  on.env = { BINNACLE_URL: world.url, BINNACLE_TOKEN: world.admin.token };
  world.clock.advance(120_000);
  const lines = async (...options: string[]) => {
    const { code, out } = await on.run("audit", "export", "--org", "demo", ...options);
    expect(code).toBe(0);
    return out
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as { id: string; at: string });
  };
  const all = await lines();
  expect(all.length).toBeGreaterThan(2);
  expect(all.map(({ id }) => id)).toEqual(all.map(({ id }) => id).sort());
  expect(await lines("--cursor", all.at(-2)?.id ?? "")).toEqual(all.slice(-1));
  expect(await lines("--until", "2020-01-01T00:00:00Z")).toEqual([]);
  const refused = await on.run("audit", "export", "--org", "demo", "--action", "app.");
  expect(refused).toMatchObject({ code: 2, out: "", err: expect.stringContaining("unknown option '--action'") });
});
