import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { ownLabels } from "../desired/ownership.ts";
import { NO_COUNTS } from "../kube/workload-counts.ts";
import { type AppWorld, appWorld, CALM, WEB, workload } from "./app-world.fixture.ts";

describe("an app that waits for what it needs", () => {
  let world: AppWorld;
  beforeEach(async () => {
    world = await appWorld();
    world.apps.start();
    return () => world.stop();
  });

  test("[AO12] an app starts a component once the components that it depends on are ready", async () => {
    const slow = workload("migrate", { kind: "job" });
    await world.deploy([{ ...WEB, depends_on: ["migrate"] }, slow], {});
    await world.seen(CALM);
    const order = world.reports.map(({ report }) => ("message" in report ? report.message : null));
    expect(order[0]).toContain("web: It waits for migrate.");
  });

  test("[AO13] a component that uses a release's exports starts once the release is ready, with the exported values", async () => {
    const release = { chart: { repo: "https://charts.example.com", name: "postgres" }, export_schema: {} };
    const schema = { host: { description: "The host.", secret: false, from: { service: "shop-db" } } };
    const db = { name: "db", type: "chart" as const, release: { ...release, export_schema: schema } };
    const export_refs = [{ component: "db", key: "host", env: "DB_HOST" }];
    await world.deploy([{ ...WEB, export_refs }, db]);
    await world.seen({ phase: "deploying", reason: "WaitingForExports" });
    expect(world.releases.installed.get("shop-db")).toMatchObject({
      app: "shop",
      component: "db",
      chart: release.chart,
    });
    const exports = { host: { value: "shop-db.svc" } };
    world.releases.set("shop-db", { state: "ready", message: null, exports }, world.namespace);
    await world.seen(CALM);
    expect(await world.get("v1", "ConfigMap", "shop-web-env")).toMatchObject({ data: { DB_HOST: "shop-db.svc" } });
    await world.deploy([WEB]);
    await world.seen({ ...CALM, components: [{ name: "web", ready_replicas: 2 }] });
    expect(world.releases.removed).toEqual(["shop-db"]);
  });

  describe("that names an addon instance", () => {
    const COMPONENTS = [{ name: "db", type: "addon" as const, addon_instance: "main" }, WEB];
    const WAITING = { phase: "deploying", reason: "WaitingForAddonInstance" };
    const message = "It waits for the addon instance main.";

    test("[AO38] an app waits for a named addon instance while the hub may still send it, and runs once the instance exists", async () => {
      world.syncProgress.received(world.key);
      await world.deploy(COMPONENTS);
      await world.seen({ ...WAITING, message });
      world.releases.instances.set("main", { state: "ready", message: null, keys: [], exports: {}, counts: NO_COUNTS });
      world.releases.set("any", { state: "ready", message: null, exports: {} }, world.namespace);
      await world.seen(CALM);
      expect(world.reports.map(({ report }) => "phase" in report && report.phase)).not.toContain("invalid");
    });

    test("[AO38] an app that waits for an addon instance keeps its objects, and is invalid once the sync is complete", async () => {
      await world.deploy([WEB]);
      await world.seen(CALM);
      world.syncProgress.received(world.key);
      await world.deploy(COMPONENTS);
      await world.seen({ ...WAITING, components: [{ name: "web", ready_replicas: 2 }] });
      expect(await world.replicas("shop-web")).toBe(2);
      world.syncProgress.syncEnded();
      await world.seen({ phase: "invalid", reason: "UnknownAddonInstance" });
      // Another session tells of the app again.
      world.syncProgress.received(world.key);
      const before = world.reports.length;
      world.apps.resync();
      await vi.waitFor(() => expect(world.reports.length).toBeGreaterThan(before));
      await world.seen({ phase: "invalid" });
    });

    test("[AO121] an app whose addon instance was deleted reports that and what to do, and runs once the instance exists again", async () => {
      const main = { state: "ready", message: null, keys: [], exports: {}, counts: NO_COUNTS } as const;
      const tell = () => world.releases.set("any", { state: "ready", message: null, exports: {} }, world.namespace);
      world.releases.instances.set("main", main);
      // The hub has not told everything since.
      world.syncProgress.received(world.key);
      await world.deploy(COMPONENTS);
      await world.seen(CALM);
      world.releases.instances.delete("main");
      tell();
      await world.seen({
        phase: "invalid",
        reason: "AddonInstanceDeleted",
        message: expect.stringMatching(/^Component db needs the addon instance main, which was deleted\. Create /),
      });
      expect(await world.replicas("shop-web")).toBe(2);
      await world.deploy([...COMPONENTS, workload("api")]);
      await world.seen({ phase: "invalid", reason: "AddonInstanceDeleted" });
      world.releases.instances.set("main", main);
      tell();
      await world.seen(CALM);
    });

    test("[AO38] an app waits for an addon instance that the cluster holds but the operator has not seen yet", async () => {
      const { namespace, clusterId } = world;
      const chart = { repo: "https://charts.example.com", name: "postgres" };
      const spec = { project_id: randomUUID(), namespace, name: "main", chart };
      const metadata = { name: "main", namespace, labels: ownLabels(clusterId) };
      await world.client.create({ apiVersion: "binnacle.dev/v1alpha1", kind: "AddonInstance", metadata, spec });
      await world.deploy(COMPONENTS);
      await world.seen(WAITING);
    });
  });
});
