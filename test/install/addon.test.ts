import { expect, test, vi } from "vitest";
import { definitionId } from "../../packages/server/src/catalog/catalog-file.ts";
import { helm } from "./node.ts";
import { Project, SOON } from "./project.ts";

test("[IS2317] an addon of the company's own catalog is installed from its chart repository by Helm, and an app reaches it", async () => {
  const project = await Project.open("addons");
  const { body: addon, status } = await project.api.post("/addon-instances", {
    name: "front",
    project_id: project.id,
    addon_definition_id: definitionId("starter"),
    values: { replicaCount: 2 },
  });
  expect(status, JSON.stringify(addon)).toBe(201);
  await vi.waitFor(async () => {
    const { body } = await project.api.get(`/addon-instances/${addon.id}`);
    expect(body).toMatchObject({ phase: "ready", components_status: [{ ready: 2 }] });
  }, SOON);
  const releases = JSON.parse(await helm("list", "--namespace", "addons", "--output", "json"));
  expect(releases).toMatchObject([{ name: "front", chart: "starter-0.1.0", status: "deployed" }]);

  const host = { name: "HOST", export_ref: { component: "front", key: "host" } };
  await project.create("page", [
    { name: "front", type: "addon", addon_spec: { instance: "front" } },
    { name: "web", workload_spec: { image: "page:1", env: [host] } },
  ]);
  await project.reaches("page", { phase: "running" });
  const got = await project.exec("page", "web", ["/bin/sh", "-c", 'wget -q -O - "http://$HOST:8080"']);
  expect(got).toEqual({ code: 0, stdout: "here\n", stderr: "" });

  expect((await project.api.delete(project.path("page"))).status).toBe(204);
  await vi.waitFor(async () => expect((await project.api.get(project.path("page"))).status).toBe(404), SOON);
  expect((await project.api.delete(`/addon-instances/${addon.id}`)).status).toBe(204);
  await vi.waitFor(async () => {
    expect(JSON.parse(await helm("list", "--namespace", "addons", "--output", "json"))).toEqual([]);
  }, SOON);
});
