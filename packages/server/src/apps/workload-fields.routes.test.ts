import { startWorld, type World } from "@binnacle/world";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openShop, type Shop, someName } from "./app.fixture.ts";

let world: World;
let shop: Shop;

beforeAll(async () => {
  world = await startWorld();
  shop = await openShop(world);
});
afterAll(() => world?.stop());

const SAID = {
  labels: { team: "payments" },
  annotations: { note: "by hand" },
  files: [
    { path: "/etc/app.yaml", content: "a: 1\n" },
    { path: "/etc/token", secret: "TOKEN" },
  ],
  init_containers: [{ name: "migrate", image: "app:1", env: [{ name: "A", value: "1" }] }],
  sidecars: [{ name: "proxy", image: "envoy:1" }],
  node_selector: { "kubernetes.io/arch": "arm64" },
  tolerations: [{ key: "spot", operator: "Exists" }],
  affinity: { pod_anti_affinity: { preferred: [{ weight: 1, topology_key: "topology.kubernetes.io/zone" }] } },
  topology_spread: [{ topology_key: "kubernetes.io/hostname", max_skew: 1, when_unsatisfiable: "DoNotSchedule" }],
  security_context: { run_as_user: 1000, run_as_non_root: true },
  termination_grace_seconds: 60,
};
const made = (workload_spec: object) => [{ name: "web", workload_spec, secrets: { TOKEN: "hunter2-of-a-file" } }];

describe("the fields of pods", () => {
  test("[AP100] [AP104] [AP106] [AP107] are stored, shown, changed by a merge patch and restored by a rollback", async () => {
    const name = await shop.app(made({ image: "app:1", ...SAID }));
    const first = await shop.viewer.api.get(shop.path(name));
    expect(first.body.components[0].workload_spec).toMatchObject(SAID);
    expect(JSON.stringify(first.body)).not.toContain("hunter2");
    const patch = {
      labels: { team: null, tier: "web" },
      files: [{ path: "/etc/app.yaml", content: "a: 2\n" }],
      sidecars: null,
    };
    const changed = await shop.editor.api.patch(shop.path(name), {
      components: [{ op: "patch", name: "web", workload_spec: patch }],
    });
    expect(changed.status).toBe(200);
    expect(changed.body.components[0].workload_spec).toMatchObject({ labels: { tier: "web" }, files: patch.files });
    expect(changed.body.components[0].workload_spec).not.toHaveProperty("sidecars");
    expect(changed.body.components[0].workload_spec.labels).not.toHaveProperty("team");
    const back = await shop.editor.api.post(shop.path(name, "/rollback"), { revision: 1 });
    expect(back.status).toBe(200);
    expect(back.body.components[0].workload_spec).toMatchObject(SAID);
  });

  test.each<[string, object, readonly string[]]>([
    ["privileged", { security_context: { privileged: true } }, ["security_context", "privileged"]],
    ["another app's label", { labels: { "binnacle.dev/app": "other" } }, ["labels", "binnacle.dev/app"]],
    ["a path of the kubelet", { files: [{ path: "/var/run/secrets/x", content: "" }] }, ["files", "0", "path"]],
    ["the host's network", { host_network: true }, ["host_network"]],
  ])("[AP101] refuse an editor who asks for more, and store nothing: %s", async (_, spec, loc) => {
    const name = someName();
    const body = { name, project_id: shop.project, components: made({ image: "app:1", ...spec }) };
    const refused = await shop.editor.api.post("/apps", body);
    expect(refused.status).toBe(422);
    expect(refused.body.detail[0].loc.map(String)).toEqual(["body", "components", "0", "workload_spec", ...loc]);
    expect((await shop.viewer.api.get(shop.path(name))).status).toBe(404);
    const app = await shop.app(made({ image: "app:1" }));
    const change = { components: [{ op: "patch", name: "web", workload_spec: spec }] };
    expect((await shop.editor.api.patch(shop.path(app), change)).status).toBe(422);
    expect((await shop.viewer.api.get(shop.path(app))).body.revision).toBe(1);
  });
});
