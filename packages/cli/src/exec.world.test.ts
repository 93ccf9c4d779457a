import { startWorld } from "@binnacle/world";
import { afterAll, beforeEach, expect, test, vi } from "vitest";
import { simulateOperator } from "../../../test/world/simulated-operator.ts";
import { type Machine, machine } from "./host.fixture.ts";

let on: Machine;

const world = await startWorld();
const { api } = world.admin;
const cluster = (await api.post(`/orgs/${world.demoOrgId}/clusters`, { name: "edge" })).body;
const project = (await api.post("/projects", { name: "shop", cluster_id: cluster.id })).body;
const components = [{ name: "web", workload_spec: { image: "nginx:1.29" } }];
await api.post("/apps", { name: "front", project_id: project.id, components });
await api.post("/apps", {
  name: "two",
  project_id: project.id,
  components: [...components, { ...components[0], name: "b" }],
});
const operator = simulateOperator({ url: world.url, token: cluster.connection_token });
await vi.waitFor(() => expect(operator.link.isLive).toBe(true), { timeout: 30_000 });
afterAll(async () => {
  await operator.stop();
  await world.stop();
});
beforeEach(() => {
  on = machine({ BINNACLE_URL: world.url, BINNACLE_TOKEN: world.admin.token });
});

test("[BC36] `apps exec` ends with the exit code of the command, and keeps stdout and stderr apart", async () => {
  const ran = await on.run("apps", "exec", "shop/front", "--", "end", "3");
  expect(ran).toEqual({ code: 3, out: "hello\n", err: "oops\n" });
  expect(on.rawModes).toEqual([false, "restored"]);
});

test("[BC36] `apps exec` takes its input from a pipe", async () => {
  const ran = await on.piped("one\ntwo\n", "apps", "exec", "front", "--", "cat");
  expect(ran).toEqual({ code: 0, out: "one\ntwo\n", err: "" });
});

test("[BC36] `apps exec` has a terminal where there is one, unless told otherwise, and restores it", async () => {
  on.isTerminal = true;
  on.columns = 132;
  expect((await on.run("apps", "exec", "front", "--", "size")).out).toBe("24 132\n");
  await on.run("apps", "exec", "front", "--no-tty", "--", "end", "0");
  expect((await on.run("apps", "exec", "front", "--", "missing")).code).not.toBe(0);
  expect(on.rawModes).toEqual([true, "restored", false, "restored", true, "restored"]);
});

test("[BC36] `apps exec` says why it cannot run a command, and leaves the terminal alone", async () => {
  on.isTerminal = true;
  expect(await on.run("apps", "exec", "front", "--pod", "other-0")).toMatchObject({
    code: 3,
    err: "error: The component web has no pod other-0.\n",
  });
  expect(await on.run("apps", "exec", "two")).toMatchObject({ code: 2, err: expect.stringContaining("--component") });
  expect((await on.run("apps", "exec", "two", "--component", "b", "--", "end", "4")).code).toBe(4);
  expect(on.rawModes).toEqual([true, "restored"]);
});

test("[BC36] `apps exec` takes the options that kubectl has, and arguments that are empty", async () => {
  on.isTerminal = true;
  expect((await on.run("apps", "exec", "-it", "front", "-c", "web", "--", "end", "5", "")).code).toBe(5);
  expect(on.rawModes).toEqual([true, "restored"]);
  const { data } = (await world.admin.api.get(`/orgs/${world.demoOrgId}/audit-log`)).body;
  expect(data).toContainEqual(
    expect.objectContaining({ action: "app.exec", changes: expect.objectContaining({ command: ["end", "5", ""] }) }),
  );
});
