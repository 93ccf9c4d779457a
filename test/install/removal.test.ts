import { expect, test, vi } from "vitest";
import { definitionId } from "../../packages/server/src/catalog/catalog-file.ts";
import { traces } from "./node.ts";
import { Project, SOON } from "./project.ts";

const NAME = "leaves-nothing-behind";

test("[IS2318] a project that is deleted leaves nothing behind on the cluster: no object, no volume, no record of Helm", async () => {
  const project = await Project.open(NAME);
  const volumes = [{ name: "data", mount_path: "/data", size_gb: 1 }];
  const ports = [{ name: "http", port: 8080 }];
  const ingress = { host: `${NAME}.example.com`, port: 8080 };
  const component = { name: "web", workload_spec: { kind: "statefulset", image: "page:1", ports, volumes, ingress } };
  await project.create("page", [{ ...component, secrets: { KEY: "a secret of the app" } }]);
  const { body: addon } = await project.api.post("/addon-instances", {
    name: "front",
    project_id: project.id,
    addon_definition_id: definitionId("starter"),
  });
  await project.reaches("page", { phase: "running" });
  await vi.waitFor(async () => {
    expect((await project.api.get(`/addon-instances/${addon.id}`)).body.phase).toBe("ready");
  }, SOON);
  const before = await traces(NAME);
  for (const kind of ["Namespace", "PersistentVolume", "Ingress", "Secret", "StatefulSet"])
    expect(before.some((trace) => trace.startsWith(`${kind} `))).toBe(true);

  expect((await project.api.delete(`/projects/${project.id}`)).status).toBe(202);
  await vi.waitFor(async () => expect((await project.api.get(`/projects/${project.id}`)).status).toBe(404), SOON);
  await vi.waitFor(async () => expect(await traces(NAME)).toEqual([]), SOON);
});
