import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, inject, test, vi } from "vitest";
import { binaryFolder } from "../../../../test/kube/binaries.ts";
import type { KubeObject } from "../kube/kube-client.ts";
import { listIn, statusOf, textIn } from "../kube/object-fields.ts";
import { APPS, EVENTS } from "../kube/resource-types.ts";
import { type AppWorld, appWorld, CALM, WEB, workload } from "./app-world.fixture.ts";

const run = promisify(execFile);
const kubectlPath = join(binaryFolder() ?? "", "kubectl");
const hasKubectl = binaryFolder() !== null && existsSync(kubectlPath);

describe("what the cluster says of an app", () => {
  let world: AppWorld;
  beforeEach(async () => {
    world = await appWorld();
    world.apps.start();
  });
  afterEach(() => world.stop());

  const app = async (): Promise<KubeObject> => {
    const found = await world.client.get(APPS, "shop", world.namespace);
    if (!found) throw new Error("there is no app");
    return found;
  };
  const conditions = async (): Promise<Record<string, string>> =>
    Object.fromEntries(listIn(statusOf(await app())["conditions"]).map(({ type, status }) => [type, status]));
  const events = async () => {
    const fieldSelector = `involvedObject.uid=${(await app()).metadata.uid}`;
    const { items } = await world.client.list(EVENTS, { namespace: world.namespace, fieldSelector });
    return items.map(({ type, reason, message }) => [type, reason, message].map(textIn).join(" "));
  };
  const kubectl = async (...args: readonly string[]) => {
    const given = ["--kubeconfig", inject("kubeconfig"), "--namespace", world.namespace, ...args];
    return (await run(kubectlPath, given, { timeout: 60_000 })).stdout;
  };

  test("[OD46] [OD47] [OD52] an app that is deployed becomes Ready for the generation of its object, with an event for each step", async () => {
    await world.deploy([WEB]);
    await world.seen(CALM);
    expect(await conditions()).toEqual({ Ready: "True", Reconciling: "False", Stalled: "False" });
    const { metadata, status } = await app();
    expect(status).toMatchObject({
      observedGeneration: metadata.generation,
      conditions: [{ observedGeneration: metadata.generation, reason: "RolloutComplete" }, {}, {}],
    });
    const recorded = await events();
    expect(recorded.filter((text) => text.startsWith("Normal RollingOut deploying"))).toHaveLength(1);
    expect(recorded).toContain("Normal RolloutComplete running: All components run as they were asked for.");

    await world.deploy([{ ...WEB, workload_spec: { ...WEB.workload_spec, replicas: 3 } }]);
    await world.seen(CALM);
    const after = await app();
    expect(after.metadata.generation).toBeGreaterThan(metadata.generation ?? 0);
    expect(statusOf(after)["observedGeneration"]).toBe(after.metadata.generation);
  });

  test("[OD50] [OD52] looks at an app that stays the same write neither its status nor an event", async () => {
    await world.deploy([WEB]);
    await world.seen(CALM);
    await world.apps.stop();
    await world.reconciler.reconcile(world.key);
    const before = [(await app()).metadata.resourceVersion, await events()];
    for (let looks = 0; looks < 3; looks += 1) await world.reconciler.reconcile(world.key);
    expect([(await app()).metadata.resourceVersion, await events()]).toEqual(before);
  });

  test("[OD46] [OD49] [OD52] an app that cannot run is Stalled, one that is paused is not Ready, and one that is suspended says so", async () => {
    await world.deploy([workload("web", { ingress: { host: "shop.example.com" } })]);
    await world.seen({ phase: "invalid" });
    expect(await conditions()).toEqual({ Ready: "False", Reconciling: "False", Stalled: "True" });
    expect((await events()).some((text) => text.startsWith("Warning "))).toBe(true);
    await world.deploy([WEB], { paused: true });
    await world.seen({ phase: "paused" });
    expect(await conditions()).toEqual({ Ready: "False", Reconciling: "False", Stalled: "False" });
    await world.deploy([WEB]);
    await world.seen(CALM);
    await world.deploy([WEB], { suspended: true });
    await world.seen({ phase: "running", suspended: true });
    expect(await conditions()).toEqual({ Ready: "True", Reconciling: "False", Stalled: "False", Suspended: "True" });
    await world.deploy([WEB]);
    await world.seen({ ...CALM, reason: "RolloutComplete" });
    expect(await conditions()).not.toHaveProperty("Suspended");
  });

  test("[OC26] a table of apps shows whether they are ready, their phase and the reason", async () => {
    await world.deploy([WEB]);
    await world.seen(CALM);
    const table = await world.client.raw<{
      columnDefinitions: { name: string }[];
      rows: { cells: unknown[] }[];
    }>("GET", `/apis/binnacle.dev/v1alpha1/namespaces/${world.namespace}/apps`, {
      accept: "application/json;as=Table;v=v1;g=meta.k8s.io",
    });
    expect(table.columnDefinitions.slice(0, 4).map(({ name }) => name)).toEqual(["Name", "Ready", "Phase", "Reason"]);
    expect(table.rows[0]?.cells.slice(0, 4)).toEqual(["shop", "True", "running", "RolloutComplete"]);
  });

  test.skipIf(!hasKubectl)(
    "[OD46] [OD47] [OD52] kubectl waits for an app, also for its next generation, and describes what has happened to it",
    async () => {
      await world.deploy([WEB]);
      const waiting = kubectl("wait", "--for=condition=Ready", "app.binnacle.dev/shop", "--timeout=50s");
      expect(await waiting).toContain("condition met");
      await world.apps.stop();
      await world.deploy([{ ...WEB, workload_spec: { ...WEB.workload_spec, replicas: 3 } }]);
      const early = kubectl("wait", "--for=condition=Ready", "app.binnacle.dev/shop", "--timeout=1s");
      await expect(early).rejects.toThrow(/timed out/);
      await vi.waitFor(async () => {
        await world.reconciler.reconcile(world.key);
        const now = kubectl("wait", "--for=condition=Ready", "app.binnacle.dev/shop", "--timeout=1s");
        expect(await now).toContain("condition met");
      }, 60_000);
      const described = await kubectl("describe", "app.binnacle.dev/shop");
      expect(described).toMatch(/Normal\s+RolloutComplete\s.*running: All components run as they were asked for\./);
      expect(await kubectl("get", "apps.binnacle.dev")).toMatch(/shop\s+True\s+running\s+RolloutComplete/);
    },
  );
});
