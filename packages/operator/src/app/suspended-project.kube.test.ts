import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { APPS } from "../kube/resource-types.ts";
import { type AppWorld, appWorld, CALM, WEB, workload } from "./app-world.fixture.ts";

const DEPLOYMENT = ["apps/v1", "Deployment", "shop-web"] as const;
const GRACE = { spec: { template: { spec: { terminationGracePeriodSeconds: 77 } } } };

describe("an app in a suspended project", () => {
  let world: AppWorld;
  beforeEach(async () => {
    world = await appWorld();
    world.apps.start();
  });
  afterEach(() => world.stop());

  const suspend = (generation: number) => world.project({}, { suspended: true, generation });
  const unsuspend = (generation: number) => world.project({}, { generation });

  test("[SN7] nothing of it is applied or corrected while its project is suspended, and all of it is afterwards, without a word about the app", async () => {
    await world.project({});
    await world.deploy([WEB]);
    await world.seen(CALM);
    await suspend(2);
    await world.seen({ phase: "running", reason: "Suspended", suspended: true, drift: { state: "in_sync" } });
    await world.edit(...DEPLOYMENT, GRACE);
    await world.seen({ suspended: true, drift: { state: "drifted" } });
    await world.deploy([{ ...WEB, workload_spec: { ...WEB.workload_spec, replicas: 4 } }, workload("new")]);
    await world.seen({ suspended: true, phase: "deploying" });
    expect(await world.get(...DEPLOYMENT)).toMatchObject(GRACE);
    expect(await world.replicas("shop-web")).toBe(2);
    expect(await world.get("apps/v1", "Deployment", "shop-new")).toBeNull();
    await unsuspend(3);
    await world.seen(CALM);
    expect(world.reports.at(-1)?.report).not.toHaveProperty("suspended");
    expect(await world.replicas("shop-web")).toBe(4);
    expect(await world.replicas("shop-new")).toBe(1);
    expect(await world.get(...DEPLOYMENT)).not.toMatchObject(GRACE);
  });

  test("[SN7] the end of the project's suspension leaves an app alone that is suspended by itself, and the other way round", async () => {
    await world.project({});
    await world.deploy([WEB]);
    await world.seen(CALM);
    await suspend(2);
    await world.deploy([WEB], { suspended: true });
    await world.seen({ suspended: true });
    await unsuspend(3);
    await world.edit(...DEPLOYMENT, GRACE);
    await world.seen({ suspended: true, drift: { state: "drifted" } });
    expect(await world.get(...DEPLOYMENT)).toMatchObject(GRACE);
    await suspend(4);
    await world.deploy([WEB]);
    await world.seen({ suspended: true, drift: { state: "drifted" } });
    await unsuspend(5);
    await world.seen(CALM);
  });

  test("[SN7] an operator that has started again knows from the cluster alone that the project is suspended", async () => {
    await world.project({});
    await world.deploy([WEB]);
    await world.seen(CALM);
    await suspend(2);
    await world.seen({ suspended: true });
    await world.apps.stop();
    await world.edit(...DEPLOYMENT, GRACE);
    await world.reconciler.reconcile(world.key);
    expect(world.reports.at(-1)?.report).toMatchObject({ suspended: true, drift: { state: "drifted" } });
    expect(await world.get(...DEPLOYMENT)).toMatchObject(GRACE);
  });

  test("[SN8] an app that was being deleted waits until the suspension ends, and says so", async () => {
    await world.project({});
    await world.deploy([WEB]);
    await world.seen(CALM);
    await suspend(2);
    await world.seen({ suspended: true });
    await world.remove();
    await vi.waitFor(() =>
      expect(world.reports.at(-1)?.report).toMatchObject({
        phase: "deleting",
        reason: "Suspended",
        message: expect.stringContaining("is suspended"),
      }),
    );
    expect(await world.replicas("shop-web")).toBe(2);
    expect(await world.client.get(APPS, "shop", world.namespace)).not.toBeNull();
    await unsuspend(3);
    await vi.waitFor(() => expect(world.reports.at(-1)?.report).toEqual({ state: "gone" }));
    expect(await world.get(...DEPLOYMENT)).toBeNull();
  });
});
