import { beforeEach, describe, expect, test, vi } from "vitest";
import { type AppWorld, appWorld, CALM, workload } from "./app-world.fixture.ts";

describe("a workload with all that it can say", () => {
  let world: AppWorld;
  beforeEach(async () => {
    world = await appWorld();
    world.apps.start();
    return () => world.stop();
  });

  test("[RN36] a workload has its files, and its template changes when one of them changes", async () => {
    const web = (content: string) =>
      workload("web", {
        files: [
          { path: "/etc/app.yaml", content },
          { path: "/etc/token", secret: "TOKEN" },
        ],
      });
    const template = async () => {
      const deployment = await world.get("apps/v1", "Deployment", "shop-web");
      return JSON.stringify(deployment?.["spec"]);
    };
    const secrets = { web: { TOKEN: "hunter2" } };
    await world.deploy([web("a: 1")], { secrets });
    await world.seen(CALM);
    const before = await template();
    await world.edit("v1", "ConfigMap", "shop-web-files", { data: { more: "x" } });
    await world.deploy([web("a: 2")], { secrets });
    await world.seen(CALM);
    expect(await template()).not.toBe(before);
    expect(Object.values((await world.get("v1", "ConfigMap", "shop-web-files"))?.["data"] ?? {})).toContain("a: 2");
    await world.deploy([web("a: 2")]);
    await world.seen({ phase: "invalid", reason: "MissingSecret" });
    await world.deploy([workload("web")]);
    await world.seen(CALM);
    await vi.waitFor(async () => expect(await world.get("v1", "ConfigMap", "shop-web-files")).toBeNull());
  });

  test("[RN37] [AO57] a workload runs with init containers and sidecars, and a job that has them completes", async () => {
    const containers = {
      init_containers: [{ name: "migrate", image: "app:1", env: [{ name: "PRICE", value: "$5" }] }],
      sidecars: [{ name: "proxy", image: "envoy:1" }],
    };
    const job = workload("once", { kind: "job", ...structuredClone(containers) });
    await world.deploy([workload("web", containers), job]);
    await world.seen(CALM);
    expect(world.reports.at(-1)?.report).toMatchObject({
      components_status: [
        { name: "web", phase: "running", ready: 1, image: "nginx:1.29" },
        { name: "once", phase: "completed", image: "done:1" },
      ],
    });
  });

  test("[AO56] [RN34] a daemonset runs on every node, reports its numbers, and has no pods while the app is paused", async () => {
    const agent = workload("agent", { kind: "daemonset" });
    await world.deploy([agent]);
    await world.seen({ ...CALM, components: [{ name: "agent", ready_replicas: expect.any(Number) }] });
    const status = world.reports.at(-1)?.report as { components_status: { desired: number; ready: number }[] };
    const [{ desired, ready } = { desired: 0, ready: 0 }] = status.components_status;
    expect(desired).toBeGreaterThan(0);
    expect(ready).toBe(desired);
    await world.deploy([agent], { paused: true });
    await world.seen({ phase: "paused", components: [{ name: "agent", ready_replicas: 0 }] });
    await world.deploy([agent]);
    await world.seen({ ...CALM, components: [{ name: "agent", ready_replicas: desired }] });
  });
});
