import { startWorld } from "@binnacle/world";
import { afterAll, expect, test, vi } from "vitest";
import { invalidOnceAttached, simulateOperator } from "../../../test/world/simulated-operator.ts";
import { machine } from "./host.fixture.ts";

const world = await startWorld();
const { api } = world.admin;
const cluster = (await api.post(`/orgs/${world.demoOrgId}/clusters`, { name: "edge" })).body;
const { id: project_id } = (await api.post("/projects", { name: "shop", cluster_id: cluster.id })).body;
const reportOf = invalidOnceAttached("Component web asks in vain.", ({ name }) => name !== "fine");
const operator = simulateOperator({ url: world.url, token: cluster.connection_token, reportOf });
await vi.waitFor(() => expect(operator.link.isLive).toBe(true), { timeout: 30_000 });
afterAll(async () => {
  await operator.stop();
  await world.stop();
});

test("[BC102] attaching an addon waits for the outcome, and an app that the cluster finds invalid is not a success", async () => {
  const [definition] = (await api.get("/addon-definitions")).body.data;
  await api.post("/addon-instances", { name: "db", project_id, addon_definition_id: definition.id });
  const components = [{ name: "web", workload_spec: { image: "nginx:1.29" } }];
  for (const name of ["fine", "refused", "bare"]) await api.post("/apps", { name, project_id, components });
  const on = machine({ BINNACLE_URL: world.url, BINNACLE_TOKEN: world.admin.token });
  // Time goes on by what is slept, so a pause ends when the cluster has reported.
  on.onSleep = async () => {
    await vi.waitFor(
      async () => {
        const { data } = (await api.get(`/apps?project_id=${project_id}`)).body;
        expect(data.every((app: { phase: string }) => app.phase === "running" || app.phase === "invalid")).toBe(true);
      },
      { timeout: 30_000 },
    );
  };
  const attach = (app: string, ...more: string[]) => on.run("apps", "attach-addon", app, "db", ...more);

  expect(await attach("fine")).toMatchObject({ code: 0, err: expect.stringContaining("shop/fine is running") });
  for (const [app, ...more] of [["refused"], ["bare", "--no-add"]] as const) {
    const ended = await attach(app, ...more);
    expect(ended).toMatchObject({ code: 1, err: expect.stringContaining("error: Component web asks in vain.\n") });
    expect(ended.err).not.toContain("is running");
    expect((await api.get(`/apps/shop/${app}?project_id=${project_id}`)).body).toMatchObject({
      phase: "invalid",
      revision: 2,
    });
  }
});
