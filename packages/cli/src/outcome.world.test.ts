import type { DriftReport } from "@binnacle/contract";
import { startWorld } from "@binnacle/world";
import { afterAll, beforeEach, describe, expect, test, vi } from "vitest";
import { type SimulationOptions, simulateOperator } from "../../../test/world/simulated-operator.ts";
import { lastThatRan } from "./app-rollback.ts";
import { type Machine, machine } from "./host.fixture.ts";

const world = await startWorld();
const { api } = world.admin;
const cluster = (await api.post(`/orgs/${world.demoOrgId}/clusters`, { name: "edge" })).body;
/** What the cluster refuses from now on, by name, with the cause. */
const refused = new Map<string, string>();
const drift: DriftReport = { state: "in_sync", summary: null, fields: [], detected_at: null };

const reportOf: NonNullable<SimulationOptions["reportOf"]> = ({ kind, ...applied }) => {
  const body = applied.body as { name?: string; metadata?: { name?: string }; spec?: { components?: object[] } };
  const message = [...refused].find(([name]) => JSON.stringify(body).includes(`"${name}"`))?.[1];
  if (message === undefined) return undefined;
  if (kind === "app") return { phase: "invalid", reason: "UnknownExport", message, components: [], drift };
  if (kind === "addon_instance") return { phase: "failed", reason: "InstallFailed", message, exports: {} };
  return kind === "project" ? { state: "namespace_conflict", message } : undefined;
};
const operator = simulateOperator({ url: world.url, token: cluster.connection_token, reportOf });
await vi.waitFor(() => expect(operator.link.isLive).toBe(true), { timeout: 30_000 });
afterAll(async () => {
  await operator.stop();
  await world.stop();
});

let on: Machine;
beforeEach(() => {
  refused.clear();
  on = machine({ BINNACLE_URL: world.url, BINNACLE_TOKEN: world.admin.token, BINNACLE_PROJECT: "shop" });
});
const run = (...argv: string[]) => on.run(...argv);
const done = (text: string) => ({ code: 0, err: expect.stringContaining(text) });
const failed = (cause: string) => ({ code: 1, err: expect.stringMatching(new RegExp(`^error: .*${cause}`, "m")) });
const file = (name: string, image: string) =>
  `name: ${name}\ncomponents:\n  - name: web\n    workload_spec:\n      image: ${image}\n`;

await machine({ BINNACLE_URL: world.url, BINNACLE_TOKEN: world.admin.token }).run("projects", "create", "shop");

describe("changes that are waited for", () => {
  test("[BC2901] a change of an app ends with 1 and the cause where its revision fails, whatever made it", async () => {
    on.files.set("binnacle.yaml", file("web-app", "nginx:1"));
    expect(await run("apps", "deploy")).toMatchObject(done("shop/web-app is running (revision 1)."));
    on.files.set("value", "hush");
    const set = ["apps", "secrets", "set", "web-app", "KEY", "--value-file", "value"];
    expect(await run(...set)).toMatchObject(done("shop/web-app is running (revision 2)."));
    refused.set("web-app", "Nothing of it fits.");
    const changes = [
      set.with(-1, "other"),
      ["apps", "secrets", "unset", "web-app", "KEY"],
      ["apps", "scale", "web-app", "2"],
      ["apps", "redeploy", "web-app"],
      ["apps", "rollback", "web-app"],
    ];
    on.files.set("other", "more");
    for (const change of changes) expect(await run(...change)).toMatchObject(failed("Nothing of it fits."));
    expect(await run("apps", "scale", "web-app", "3", "--no-wait")).toMatchObject(
      done("Follow it with: binnacle apps wait shop/web-app"),
    );
  });

  test("[BC2901] attaching and detaching an addon, and an addon itself, are waited for", async () => {
    const [definition] = (await api.get("/addon-definitions")).body.data;
    expect(await run("addons", "create", "db", definition.name)).toMatchObject(done("db is ready (revision 1)."));
    on.files.set("binnacle.yaml", file("holder", "nginx:1"));
    expect(await run("apps", "deploy")).toMatchObject({ code: 0 });
    expect(await run("apps", "attach-addon", "holder", "db")).toMatchObject(
      done("shop/holder is running (revision 2)"),
    );
    refused.set("holder", "It needs its database.");
    expect(await run("apps", "detach-addon", "holder", "db")).toMatchObject(failed("It needs its database."));
    refused.set("broken", "The chart cannot be read.");
    const broken = ["addons", "create", "broken", definition.name];
    expect(await run(...broken)).toMatchObject(failed("broken: The chart cannot be read."));
    expect(await run("addons", "create", "cache", definition.name, "--no-wait")).toMatchObject({ code: 0 });
  });

  test("[BC2901] a project is waited for, and a namespace that is somebody else's is a failure", async () => {
    expect(await run("projects", "create", "fine")).toMatchObject(done("fine is ready."));
    refused.set("taken", "The namespace is somebody else's.");
    expect(await run("projects", "create", "taken")).toMatchObject(failed("The namespace is somebody else's."));
  });

  test("[BC2901] a deletion is waited for until what was deleted is gone", async () => {
    on.files.set("binnacle.yaml", file("leaving", "nginx:1"));
    await run("apps", "deploy");
    expect(await run("apps", "delete", "leaving", "--yes")).toMatchObject(done("Deleted shop/leaving."));
    expect((await run("apps", "show", "leaving")).code).toBe(3);
    const deleted = await run("projects", "delete", "fine", "--yes", "-o", "json");
    expect(deleted.code).toBe(0);
    expect(JSON.parse(deleted.out)).toEqual({ name: "fine", deleted: true });
  });
});

describe("a deployment that does not run", () => {
  test("[BC2902] rollback without a number restores the last revision that ran, and not the one before", async () => {
    const deployment = (revision: number, status: "succeeded" | "failed" | "superseded") => ({ revision, status });
    const history = [deployment(4, "failed"), deployment(3, "failed"), deployment(2, "succeeded")];
    expect(lastThatRan([...history, deployment(1, "succeeded")], 5)).toBe(2);
    expect(lastThatRan(history, 2)).toBeNull();

    for (const image of ["nginx:1", "nginx:2", "nginx:3"]) {
      on.files.set("binnacle.yaml", file("front", image));
      if (image === "nginx:2") refused.set("nginx:2", "It does not start.");
      expect((await run("apps", "deploy")).code).toBe(image === "nginx:2" ? 1 : 0);
    }
    const back = await run("apps", "rollback", "front");
    expect(back).toMatchObject(done("Rolling shop/front back to revision 1, the last one that ran."));
    expect((await run("apps", "export", "front")).out).toContain("image: nginx:1");
  });

  test("[BC2902] with --rollback-on-failure a failed deployment is rolled back, and still ends with 1", async () => {
    on.files.set("binnacle.yaml", file("safe", "nginx:1"));
    expect((await run("apps", "deploy", "--rollback-on-failure")).code).toBe(0);
    refused.set("nginx:9", "It does not start.");
    on.files.set("binnacle.yaml", file("safe", "nginx:9"));
    const ran = await run("apps", "deploy", "--rollback-on-failure");
    expect(ran).toMatchObject(failed("Revision 2 of shop/safe has failed and was rolled back: It does not start."));
    expect((await run("apps", "show", "safe", "-o", "jsonpath=$.phase")).out).toBe("running\n");
    // What was never deployed is not rolled back.
    on.files.set("binnacle.yaml", "name: [");
    expect((await run("apps", "deploy", "--rollback-on-failure")).code).toBe(2);
    expect((await run("apps", "show", "safe", "-o", "jsonpath=$.revision")).out).toBe("3\n");
    expect((await run("apps", "deploy", "--rollback-on-failure", "--no-wait")).code).toBe(2);
  });
});

describe("a dry run", () => {
  test("[BC2903] a dry run refuses what the deployment would refuse, with the line of the file, and changes nothing", async () => {
    on.files.set("binnacle.yaml", `${file("dry", "nginx:1")}      replcas: 3\n`);
    const wrong = await run("apps", "deploy", "--dry-run");
    expect(wrong).toMatchObject({ code: 2, out: "", err: expect.stringMatching(/error: binnacle\.yaml:6: .*replcas/) });
    on.files.set("binnacle.yaml", `${file("dry", "nginx:1")}      ports: [{ name: http, port: 99999 }]\n`);
    expect(await run("apps", "deploy", "--dry-run")).toMatchObject({ code: 2 });
    on.files.set("binnacle.yaml", file("dry", "nginx:1"));
    expect(await run("apps", "deploy", "--dry-run")).toMatchObject({ code: 10, err: "" });
    expect((await run("apps", "show", "dry")).code).toBe(3);
  });

  test("[BC2904] the plan of a dry run is JSON or YAML where that is asked for, without secrets", async () => {
    on.files.set("binnacle.yaml", `${file("planned", "nginx:1")}    secrets: { KEY: hush }\n`);
    const { code, out } = await run("apps", "deploy", "--dry-run", "-o", "json");
    expect([code, out.includes("hush")]).toEqual([10, false]);
    expect(JSON.parse(out)).toMatchObject({
      data: [{ namespace: "shop", name: "planned", action: "create", before: null, after: { components: [{}] } }],
      total_count: 1,
    });
    const changed = await run("apps", "deploy", "-o", "json");
    expect(JSON.parse(changed.out)).toMatchObject({ name: "planned", phase: "running" });
    expect((await run("apps", "deploy", "--dry-run", "-o", "yaml")).out).toContain("action: none\n");
    refused.set("planned", "It does not start.");
    const scaled = await run("apps", "scale", "planned", "2", "-o", "json");
    expect([scaled.code, JSON.parse(scaled.out).phase]).toEqual([1, "invalid"]);
  });
});
