import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { KubeClient } from "../kube/kube-client.ts";
import { type AppWorld, appWorld, CALM, WEB, workload } from "./app-world.fixture.ts";

const DEPLOYMENT = ["apps/v1", "Deployment", "shop-web"] as const;
const GRACE = { spec: { template: { spec: { terminationGracePeriodSeconds: 77 } } } };
const HELD = { phase: "running", reason: "Suspended", suspended: true };
const DB = { name: "db", type: "chart", release: { chart: { repo: "r", name: "db" }, export_schema: {} } } as const;

describe("an app that is suspended", () => {
  let world: AppWorld;
  beforeEach(async () => {
    world = await appWorld();
    world.apps.start();
  });
  afterEach(() => world.stop());

  /** What is written to the cluster during the work, beside the status of the app and events about it. */
  async function writesDuring(work: () => Promise<unknown>): Promise<string[]> {
    const methods: readonly (keyof KubeClient)[] = ["apply", "create", "patch", "delete"];
    const spies = methods.map((method) => [method, vi.spyOn(world.client, method)] as const);
    await work();
    const written = spies.flatMap(([method, spy]) =>
      spy.mock.calls.flatMap((args) => (/"dryRun":true|"kind":"Event"/.test(JSON.stringify(args)) ? [] : [method])),
    );
    for (const [, spy] of spies) spy.mockRestore();
    return written;
  }

  test("[AP605] a suspended app runs on, its drift is reported and not corrected, and is corrected when the suspension ends", async () => {
    await world.deploy([WEB]);
    await world.seen(CALM);
    await world.deploy([WEB], { suspended: true });
    await world.seen({ ...HELD, drift: { state: "in_sync" } });
    await world.edit(...DEPLOYMENT, GRACE);
    const pointer = "/spec/template/spec/terminationGracePeriodSeconds";
    await world.seen({
      suspended: true,
      drift: { state: "drifted", fields: [{ pointer, desired: 30, observed: 77 }] },
    });
    expect(await writesDuring(() => world.apps.reconcile(world.key))).toEqual([]);
    expect(await world.get(...DEPLOYMENT)).toMatchObject(GRACE);
    await world.deploy([WEB]);
    await world.seen(CALM);
    expect(world.reports.at(-1)?.report).not.toHaveProperty("suspended");
    expect(await world.get(...DEPLOYMENT)).not.toMatchObject(GRACE);
  });

  test("[AP605] a suspended app gets no change, no new component and no new object, and keeps what is removed, until the suspension ends", async () => {
    await world.deploy([WEB, workload("old")]);
    await world.seen(CALM);
    await world.deploy([{ ...WEB, workload_spec: { ...WEB.workload_spec, replicas: 4 } }, workload("new")], {
      suspended: true,
    });
    await world.seen({ suspended: true, phase: "deploying", drift: { state: "unknown" } });
    expect(world.reports.at(-1)?.report).toMatchObject({
      reason: "Suspended",
      message: expect.stringMatching(/what is stored is not applied/),
    });
    expect(await writesDuring(() => world.apps.reconcile(world.key))).toEqual([]);
    expect(await world.replicas("shop-web")).toBe(2);
    expect(await world.replicas("shop-old")).toBe(1);
    expect(await world.get("apps/v1", "Deployment", "shop-new")).toBeNull();
    await world.deploy([{ ...WEB, workload_spec: { ...WEB.workload_spec, replicas: 4 } }, workload("new")]);
    await world.seen(CALM);
    expect(await world.replicas("shop-web")).toBe(4);
    expect(await world.replicas("shop-new")).toBe(1);
    expect(await world.get("apps/v1", "Deployment", "shop-old")).toBeNull();
  });

  test("[AP605] a suspended app is not made again where its objects are deleted, and the loss is reported as degraded", async () => {
    await world.deploy([WEB]);
    await world.seen(CALM);
    await world.deploy([WEB], { suspended: true });
    await world.seen(HELD);
    await world.client.delete(await world.client.resourceTypeOf("apps/v1", "Deployment"), "shop-web", world.namespace);
    await world.seen({
      suspended: true,
      phase: "degraded",
      drift: { state: "drifted" },
      components: [{ name: "web", ready_replicas: 0 }],
    });
    expect(await writesDuring(() => world.apps.reconcile(world.key))).toEqual([]);
    expect(await world.get(...DEPLOYMENT)).toBeNull();
    await world.deploy([WEB]);
    await world.seen(CALM);
  });

  test("[AP606] a suspended app holds its releases, and neither installs, upgrades nor removes one", async () => {
    await world.deploy([WEB]);
    await world.seen(CALM);
    await world.deploy([WEB, DB], { suspended: true });
    await world.seen({ suspended: true });
    expect(world.releases.installed.size).toBe(0);
    await world.deploy([WEB, DB]);
    await vi.waitFor(() => expect([...world.releases.installed.keys()]).toEqual(["shop-db"]));
    world.releases.set("shop-db", { state: "ready", message: null, exports: {} }, world.namespace);
    await world.seen(CALM);
    await world.deploy([WEB], { suspended: true });
    await world.seen({ suspended: true, drift: { state: "unknown" } });
    expect(world.releases.removed).toEqual([]);
    await world.deploy([WEB]);
    await vi.waitFor(() => expect(world.releases.removed).toEqual(["shop-db"]));
  });

  test("[AP605] a suspended app stays so after a restart of the operator, and its custom resource says so", async () => {
    await world.deploy([WEB]);
    await world.seen(CALM);
    await world.deploy([WEB], { suspended: true });
    await world.seen(HELD);
    await world.edit(...DEPLOYMENT, GRACE);
    // One that knows nothing but what is stored in the cluster.
    expect(await writesDuring(() => world.reconciler.reconcile(world.key))).toEqual([]);
    const holder = world.view.holder("app", world.key);
    await vi.waitFor(() => expect(world.view.holder("app", world.key)).toMatchObject({ status: { suspended: true } }));
    expect(holder).not.toBeNull();
  });
});
