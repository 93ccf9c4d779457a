import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { KubeClient } from "../kube/kube-client.ts";
import { type AppWorld, appWorld, CALM, WEB, workload } from "./app-world.fixture.ts";

const DEPLOYMENT = ["apps/v1", "Deployment", "shop-web"] as const;

describe("an app that rests", () => {
  let world: AppWorld;
  beforeEach(async () => {
    world = await appWorld();
  });
  afterEach(() => world.stop());

  /** The requests of a look at the app, by method. */
  async function requestsOf(look: () => Promise<unknown>): Promise<string[]> {
    const methods: readonly (keyof KubeClient)[] = [
      "get",
      "list",
      "apply",
      "create",
      "patch",
      "patchStatus",
      "delete",
      "raw",
    ];
    const spies = methods.map((method) => [method, vi.spyOn(world.client, method)] as const);
    await look();
    const requests = spies.flatMap(([method, spy]) => spy.mock.calls.map(() => method));
    for (const [, spy] of spies) spy.mockRestore();
    return requests;
  }

  test("[AO95] a look at an app of which nothing has changed asks the API server nothing, and drift is healed all the same", async () => {
    world.apps.start();
    await world.deploy([
      WEB,
      workload("db", { kind: "statefulset", volumes: [{ name: "data", mount_path: "/d", size_gb: 1 }] }),
    ]);
    await world.seen(CALM);
    await vi.waitFor(async () => expect(await requestsOf(() => world.apps.reconcile(world.key))).toEqual([]), {
      timeout: 60_000,
      interval: 1_000,
    });
    await world.edit(...DEPLOYMENT, { spec: { template: { spec: { terminationGracePeriodSeconds: 77 } } } });
    await world.seen({ drift: { repaired: [{ object: { kind: "Deployment" } }] } });
    await world.seen(CALM);
    expect(await world.get(...DEPLOYMENT)).not.toMatchObject({
      spec: { template: { spec: { terminationGracePeriodSeconds: 77 } } },
    });
  });

  test("[AO95] [AO17] a look at an app that stays broken asks the API server nothing either", async () => {
    world.apps.start();
    await world.deploy([workload("web", { image: "does-not-exist:1" })]);
    await world.seen({ phase: "failed" }).catch(() => world.seen({ phase: "deploying" }));
    await vi.waitFor(async () => expect(await requestsOf(() => world.apps.reconcile(world.key))).toEqual([]), {
      timeout: 60_000,
      interval: 1_000,
    });
  });
});
