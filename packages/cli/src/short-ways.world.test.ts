import type { DriftReport } from "@binnacle/contract";
import { startWorld } from "@binnacle/world";
import { afterAll, beforeEach, describe, expect, test, vi } from "vitest";
import { simulateOperator } from "../../../test/world/simulated-operator.ts";
import { type Machine, machine } from "./host.fixture.ts";
import { CliError } from "./host.ts";

const world = await startWorld();
const { api } = world.admin;
const cluster = (await api.post(`/orgs/${world.demoOrgId}/clusters`, { name: "edge" })).body;
const { id: project_id } = (await api.post("/projects", { name: "shop", cluster_id: cluster.id })).body;
const drift: DriftReport = { state: "in_sync", summary: null, fields: [], detected_at: null };
const operator = simulateOperator({
  url: world.url,
  token: cluster.connection_token,
  reportOf: ({ kind }) =>
    kind === "app" ? { phase: "running", reason: null, message: null, components: [], drift } : undefined,
});
await vi.waitFor(() => expect(operator.link.isLive).toBe(true), { timeout: 30_000 });
const components = [{ name: "web", workload_spec: { image: "nginx:1.29" } }];
await api.post("/apps", { name: "front", project_id, components });
afterAll(async () => {
  await operator.stop();
  await world.stop();
});

let on: Machine;
beforeEach(() => {
  on = machine({ BINNACLE_URL: world.url, BINNACLE_TOKEN: world.admin.token });
});
const run = (...argv: string[]) => on.run(...argv);
const specOf = async () =>
  (await api.get(`/apps/shop/front?project_id=${project_id}`)).body.components[0].workload_spec;

describe("changes without a file", () => {
  test("[BC2913] set-image runs another image and waits, and an app that is edited is deployed", async () => {
    expect(await run("apps", "set-image", "front", "nginx:1.30")).toMatchObject({
      code: 0,
      err: expect.stringContaining("shop/front is running (revision 2)."),
    });
    expect((await specOf()).image).toBe("nginx:1.30");
    on.edit = (text) => text.replace("1.30", "1.31");
    expect((await run("apps", "edit", "front")).code).toBe(0);
    expect((await specOf()).image).toBe("nginx:1.31");
    on.edit = (text) => text;
    expect(await run("apps", "edit", "front")).toMatchObject({ code: 1, err: "error: Nothing was changed.\n" });
  });

  test("[BC2913] an edit that is refused is kept in a file", async () => {
    on.edit = (text) => text.replace("image:", "imgae:");
    expect(await run("apps", "edit", "front")).toMatchObject({ code: 2, err: expect.stringContaining("imgae") });
    expect(on.files.get("front.edited.yaml")).toContain("imgae:");
  });

  test("[BC2913] a restart is a new revision, which a deployment from a file without it leaves alone", async () => {
    const { out: file } = await run("apps", "export", "front");
    expect((await run("apps", "restart", "front")).code).toBe(0);
    expect((await specOf()).annotations).toEqual({ "restarted-at": expect.stringMatching(/^20/) });
    on.files.set("binnacle.yaml", file);
    expect(await run("deploy", "--dry-run")).toMatchObject({ code: 0, out: "shop/front is as the file says\n" });
    const { revision } = (await api.get(`/apps/shop/front?project_id=${project_id}`)).body;
    expect((await run("apps", "restart", "front")).err).toContain(`(revision ${revision + 1}).`);
  });
});

describe("short ways", () => {
  test("[BC2909] deploy, status and help are short for the commands of apps", async () => {
    expect((await run("status", "front")).out).toBe((await run("apps", "show", "front")).out);
    expect((await run("status")).out).toBe((await run("apps", "list")).out);
    expect((await run("help", "apps", "deploy")).out).toBe((await run("apps", "deploy", "--help")).out);
    expect((await run("help")).out).toBe((await run("--help")).out);
    expect(await run("deploy", "-f", "absent.yaml")).toMatchObject({
      code: 2,
      err: "error: There is no file absent.yaml.\n",
    });
  });

  test("[BC2909] an alias stands for the beginning of a line, with the words after it where they are asked for", async () => {
    expect((await run("alias", "set", "image", "apps set-image $1 nginx:1.32 --no-wait")).code).toBe(0);
    expect((await run("image", "front")).code).toBe(0);
    expect((await specOf()).image).toBe("nginx:1.32");
    expect(await run("image")).toMatchObject({ code: 2, err: expect.stringContaining("needs 1 words after it") });
    expect((await run("alias", "list", "-o", "name")).out).toBe("image\n");
    // A command goes before an alias of its name.
    await run("alias", "set", "status", "apps delete front --yes");
    expect((await run("status", "front")).out).toContain("shop/front");
    await run("alias", "delete", "image");
    expect((await run("image", "front")).code).toBe(2);
    expect((await run("context", "list", "-o", "json")).code).toBe(0);
  });

  test("[BC2910] api calls an operation by its method and path, and a DELETE is confirmed", async () => {
    expect((await run("api", "GET", "/user/me", "-o", "jsonpath=$.username")).out).toBe(`${world.admin.username}\n`);
    const listed = JSON.parse((await run("api", "/projects/{project_id}/apps", "--project", "shop")).out);
    expect(listed.data).toMatchObject([{ name: "front" }]);
    const made = JSON.parse((await run("api", "post", "/orgs", "-F", "name=Raw")).out);
    expect(made).toMatchObject({ name: "Raw" });
    expect(await run("api", "DELETE", `/orgs/${made.id}`)).toMatchObject({
      code: 2,
      err: expect.stringContaining("add --yes"),
    });
    expect(await run("api", "DELETE", `/orgs/${made.id}`, "--yes", "-o", "json")).toMatchObject({
      code: 0,
      out: '{\n  "done": true,\n  "message": null\n}\n',
    });
    expect(await run("api", "GET", "/no/such/path")).toMatchObject({ code: 3 });
    expect(await run("api", "FETCH", "/user/me")).toMatchObject({ code: 2 });
  });
});

describe("a list that is watched", () => {
  test("[BC2915] --watch shows a list again, and programs get a row only when it has changed", async () => {
    let looks = 0;
    on.onSleep = async () => {
      looks++;
      if (looks === 1) await api.post("/orgs", { name: "Watched" });
      if (looks === 3) throw new CliError("Enough.");
    };
    const { out } = await run("orgs", "list", "--watch", "-o", "json");
    const names = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).name);
    expect(names.filter((name: string) => name === "Watched")).toHaveLength(1);
    expect(new Set(names).size).toBe(names.length);
    on.isTerminal = true;
    on.onSleep = () => {
      throw new CliError("Enough.");
    };
    expect((await run("orgs", "list", "-w")).err).toMatch(/NAME[\s\S]*Watched/);
  });
});

describe("what mends it", () => {
  test("[BC2912] a refused token and an unreachable address of the environment name their variable", async () => {
    on.env = { BINNACLE_URL: world.url, BINNACLE_TOKEN: "bnc_wrong" };
    expect((await run("whoami")).err).toMatch(/^fix: set BINNACLE_TOKEN to a token that is valid/m);
    on.env = { BINNACLE_URL: "http://127.0.0.1:1", BINNACLE_TOKEN: "t" };
    on.fetch = () => Promise.reject(new TypeError("fetch failed"));
    expect((await run("whoami")).err).toMatch(/^fix: check BINNACLE_URL, which is http:\/\/127\.0\.0\.1:1,/m);
    on.fetch = globalThis.fetch;
    on.env = { BINNACLE_URL: `${world.url}/wrong`, BINNACLE_TOKEN: world.admin.token };
    expect(await run("whoami")).toMatchObject({ err: expect.stringContaining("Is it that of a control plane?") });
  });

  test("[BC2912] a cluster that was never connected and has projects is abandoned before it is deleted", async () => {
    const away = (await api.post(`/orgs/${world.demoOrgId}/clusters`, { name: "away" })).body;
    await api.post("/projects", { name: "left", cluster_id: away.id });
    const refused = await run("clusters", "delete", "away", "--yes");
    expect(refused).toMatchObject({ code: 5, err: expect.stringMatching(/^fix: binnacle clusters abandon away/m) });
  });
});

test("[AU2901] [BC2914] whoami says what a token may do, where and until when", async () => {
  const made = (await api.post("/cli-tokens", { name: "ci", scopes: ["read"], project_id })).body;
  on.env = { BINNACLE_URL: world.url, BINNACLE_TOKEN: made.token };
  const { out } = await run("whoami");
  expect(out).toMatch(/^MAY +what you may, by a token of read$/m);
  expect(out).toMatch(new RegExp(`^ONLY IN +project ${project_id}$`, "m"));
  expect(out).toMatch(new RegExp(`^UNTIL +${made.expires_at.slice(0, 10)}`, "m"));
  expect((await api.get("/user/me")).body.token).toBeNull();
});
