import { LABELS } from "@binnacle/contract";
import { beforeEach, describe, expect, inject, test, vi } from "vitest";
import { ownLabels } from "../desired/ownership.ts";
import { CLAIMS, PODS } from "../kube/resource-types.ts";
import { type AppWorld, appWorld, CALM, workload } from "./app-world.fixture.ts";

describe("a volume that was made with another storage class", () => {
  let world: AppWorld;
  beforeEach(async () => {
    world = await appWorld();
    world.apps.start();
    return () => world.stop();
  });

  test.each(["deployment", "statefulset"] as const)(
    "[AO3104] another storage class for a volume of a %s is refused in words before anything is applied, and set back it goes on",
    async (kind) => {
      const classed = (storage_class: string, value: string) =>
        workload("web", {
          kind,
          env: [{ name: "A", value }],
          volumes: [{ name: "data", mount_path: "/data", size_gb: 1, storage_class }],
        });
      await world.deploy([classed("first", "1")]);
      const made = kind === "deployment" ? "PersistentVolumeClaim" : "StatefulSet";
      const version = made === "StatefulSet" ? "apps/v1" : "v1";
      const name = made === "StatefulSet" ? "shop-web" : "shop-web-data";
      await vi.waitFor(async () => expect(await world.get(version, made, name)).not.toBeNull(), { timeout: 20_000 });
      await world.deploy([classed("second", "2")]);
      await world.seen({ reason: "ImmutableVolume" });
      expect((await world.get("v1", "ConfigMap", "shop-web-env"))?.["data"]).toEqual({ A: "1" });
      await world.deploy([classed("first", "2")]);
      await vi.waitFor(
        async () => expect((await world.get("v1", "ConfigMap", "shop-web-env"))?.["data"]).toEqual({ A: "2" }),
        { timeout: 20_000 },
      );
    },
  );
});

const sized = (size_gb: number) => [{ name: "data", mount_path: "/data", size_gb }];

/** Nothing enlarges the volumes of a real node of the tests. */
describe.skipIf(!inject("isSimulated"))("a volume that is to grow", () => {
  let world: AppWorld;
  beforeEach(async () => {
    world = await appWorld();
    world.apps.start();
    return () => world.stop();
  });

  const asked = async (name: string) => {
    const claim = await world.get("v1", "PersistentVolumeClaim", name);
    return (claim?.["spec"] as { resources: { requests: { storage: string } } } | undefined)?.resources.requests
      .storage;
  };

  /** The part of the storage driver, which no simulated cluster has. */
  async function enlarge(name: string, storage: string) {
    await vi.waitFor(async () => expect(await asked(name)).toBe(storage), { timeout: 20_000 });
    await world.client.patchStatus(CLAIMS, name, world.namespace, { capacity: { storage } });
  }

  test("[AO58] a volume of a Deployment grows, and the app is running again once it has grown", async () => {
    await world.deploy([workload("web", { volumes: sized(1) })]);
    await world.seen(CALM);
    await world.deploy([workload("web", { volumes: sized(2) })]);
    await enlarge("shop-web-data", "2Gi");
    await world.seen(CALM);
  });

  test("[AO58] a volume of a StatefulSet grows for each replica, and all pods run on while the StatefulSet is recreated", async () => {
    const db = (size_gb: number) => workload("db", { kind: "statefulset", replicas: 2, volumes: sized(size_gb) });
    const set = () => world.get("apps/v1", "StatefulSet", "shop-db");
    const podIds = async () => {
      const { items } = await world.client.list(PODS, { namespace: world.namespace });
      return items.map(({ metadata }) => metadata.uid).sort();
    };
    await world.deploy([db(1)]);
    await world.seen({ ...CALM, components: [{ name: "db", ready_replicas: 2 }] });
    const [before, pods] = [await set(), await podIds()];
    expect(pods).toHaveLength(2);
    await world.deploy([db(3)]);
    for (const claim of ["data-shop-db-0", "data-shop-db-1"]) await enlarge(claim, "3Gi");
    await world.seen({ ...CALM, components: [{ name: "db", ready_replicas: 2 }] });
    const after = await set();
    expect(after?.metadata.uid).not.toBe(before?.metadata.uid);
    expect(JSON.stringify(after?.["spec"])).toContain('"storage":"3Gi"');
    expect(await podIds()).toEqual(pods);
  });

  test("[AO59] a volume whose storage class forbids growth keeps its size, the app says so, and goes on once the size is set back", async () => {
    const metadata = {
      name: "shop-web-data",
      namespace: world.namespace,
      labels: { ...ownLabels(world.clusterId), [LABELS.app]: "shop", [LABELS.component]: "web" },
    };
    const resources = { requests: { storage: "1Gi" } };
    const spec = { accessModes: ["ReadWriteOnce"], storageClassName: "simulated-fixed", resources };
    await world.client.create({ apiVersion: "v1", kind: "PersistentVolumeClaim", metadata, spec });
    await world.deploy([workload("web", { volumes: sized(1) })]);
    await world.seen(CALM);
    await world.deploy([workload("web", { volumes: sized(2), env: [{ name: "A", value: "1" }] })]);
    await world.seen({ phase: "degraded", reason: "VolumeNotExpandable" });
    expect(await asked("shop-web-data")).toBe("1Gi");
    expect(await world.get("v1", "ConfigMap", "shop-web-env")).toBeNull();
    await world.deploy([workload("web", { volumes: sized(1), env: [{ name: "A", value: "1" }] })]);
    await world.seen(CALM);
  });
});
