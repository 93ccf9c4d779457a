import { LABELS } from "@binnacle/contract";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { APPS } from "../kube/resource-types.ts";
import { type AppWorld, appWorld, CALM, workload } from "./app-world.fixture.ts";

describe("an app that is removed from a cluster", () => {
  let world: AppWorld;
  beforeEach(async () => {
    world = await appWorld();
    world.apps.start();
    return () => world.stop();
  });

  test("[AO14] a removed app loses all its objects, volumes included, and is reported gone only after that", async () => {
    const volumes = [{ name: "data", mount_path: "/data", size_gb: 1 }];
    await world.deploy([workload("web", { volumes }), workload("db", { kind: "statefulset", volumes })]);
    await world.seen(CALM);
    await world.remove();
    await vi.waitFor(() => expect(world.reports.at(-1)?.report).toEqual({ state: "gone" }), { timeout: 40_000 });
    const selector = { namespace: world.namespace, labelSelector: `${LABELS.app}=shop` };
    for (const [apiVersion, kind] of [
      ["apps/v1", "Deployment"],
      ["apps/v1", "StatefulSet"],
      ["v1", "PersistentVolumeClaim"],
      ["v1", "Pod"],
    ] as const) {
      const type = await world.client.resourceTypeOf(apiVersion, kind);
      expect((await world.client.list(type, selector)).items).toEqual([]);
    }
    expect(await world.client.get(APPS, "shop", world.namespace)).toBeNull();
    const before = world.reports.slice(0, -1).map(({ report }) => report);
    expect(before.at(-1)).toMatchObject({ phase: "deleting" });
  });

  test("[AO14] an app is not gone while somebody else's finalizer holds one of its objects, and its report names the object", async () => {
    await world.deploy([workload("web", { env: [{ name: "A", value: "1" }] })]);
    await world.seen(CALM);
    const held = { metadata: { finalizers: ["example.com/backup"] } };
    await world.edit("v1", "ConfigMap", "shop-web-env", held);
    await world.remove();
    await world.seen({ phase: "deleting", message: "Still on the cluster: ConfigMap shop-web-env." });
    await world.edit("v1", "ConfigMap", "shop-web-env", { metadata: { finalizers: null } });
    await vi.waitFor(() => expect(world.reports.at(-1)?.report).toEqual({ state: "gone" }), { timeout: 40_000 });
  });

  test("[AO14] removing an app deletes objects that its status has forgotten, and leaves objects of somebody else", async () => {
    await world.deploy([workload("web", { env: [{ name: "A", value: "1" }] })]);
    await world.seen(CALM);
    await world.apps.stop();
    const metadata = { name: "theirs", namespace: world.namespace, labels: { [LABELS.app]: "shop" } };
    await world.client.create({ apiVersion: "v1", kind: "ConfigMap", metadata });
    const { uid = "" } = (await world.get("v1", "ConfigMap", "theirs"))?.metadata ?? {};
    const item = { group: "", version: "v1", kind: "ConfigMap", component: "web", name: "theirs", uid };
    const inventory = [
      { ...item, namespace: world.namespace },
      { ...item, namespace: "default" },
    ];
    await world.client.patchStatus(APPS, "shop", world.namespace, { inventory });
    await world.remove();
    world.apps.start();
    await vi.waitFor(() => expect(world.reports.at(-1)?.report).toEqual({ state: "gone" }), { timeout: 40_000 });
    expect(await world.get("apps/v1", "Deployment", "shop-web")).toBeNull();
    expect(await world.get("v1", "ConfigMap", "theirs")).not.toBeNull();
  });
});
