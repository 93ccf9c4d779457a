import { beforeEach, describe, expect, test, vi } from "vitest";
import { specOf } from "../kube/object-fields.ts";
import { type AppWorld, appWorld, CALM, workload } from "./app-world.fixture.ts";

describe("a workload with all that it can say", () => {
  let world: AppWorld;
  beforeEach(async () => {
    world = await appWorld();
    world.apps.start();
    return () => world.stop();
  });

  test("[RN30] [RN31] [RN32] [RN33] runs without drift, and loses what is not said any more", async () => {
    const said = {
      labels: { team: "payments" },
      annotations: { note: "by hand" },
      security_context: { run_as_user: 1000, run_as_non_root: true, read_only_root_filesystem: true },
      termination_grace_seconds: 5,
      node_selector: { "kubernetes.io/os": "linux" },
      tolerations: [{ key: "spot", operator: "Exists", effect: "NoExecute", toleration_seconds: 60 }],
      affinity: { pod_anti_affinity: { preferred: [{ weight: 1 }] } },
      topology_spread: [{ topology_key: "kubernetes.io/hostname" }],
    } as const;
    await world.deploy([workload("web", structuredClone(said) as never)]);
    await world.seen(CALM);
    expect(await world.get("apps/v1", "Deployment", "shop-web")).toMatchObject({
      metadata: { labels: { team: "payments" }, annotations: { note: "by hand" } },
      spec: { template: { spec: { nodeSelector: said.node_selector, terminationGracePeriodSeconds: 5 } } },
    });
    await world.deploy([workload("web")]);
    await world.seen(CALM);
    const bare = await world.get("apps/v1", "Deployment", "shop-web");
    expect(bare?.metadata.labels).not.toHaveProperty("team");
    expect(specOf(bare ?? { apiVersion: "", kind: "", metadata: { name: "" } })).not.toHaveProperty(
      "template.spec.tolerations",
    );
  });

  test("[RN36] has files, and is replaced when one of them changes", async () => {
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

  test("[RN37] [AO57] runs with containers that prepare it and sidecars, and a job is done without them", async () => {
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

  test("[AO56] [RN34] is a daemonset on every node, with its numbers, and stops for a pause", async () => {
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

  test("[RN35] has a disruption budget as long as it has several replicas", async () => {
    const budget = () => world.get("policy/v1", "PodDisruptionBudget", "shop-web");
    await world.deploy([workload("web", { replicas: 2 })]);
    await world.seen(CALM);
    expect(await budget()).toMatchObject({ spec: { maxUnavailable: 1 } });
    await world.deploy([workload("web", { replicas: 1 })]);
    await world.seen(CALM);
    await vi.waitFor(async () => expect(await budget()).toBeNull());
    await world.deploy([workload("web", { replicas: 3 })]);
    await world.seen(CALM);
    expect(await budget()).not.toBeNull();
  });
});
