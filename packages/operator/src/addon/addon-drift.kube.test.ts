import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { HELM } from "../helm/helm-program.fixture.ts";
import { fieldsIn } from "../kube/object-fields.ts";
import { type AddonWorld, addonWorld } from "./addon-world.fixture.ts";

const PASSWORD = "pa55-w0rd-of-the-test";
const READY = { phase: "ready", reason: "ReleaseReady" };

describe.skipIf(!HELM)("the objects of an addon", { timeout: 120_000 }, () => {
  let world: AddonWorld;
  beforeEach(async () => {
    world = await addonWorld();
  });
  afterEach(() => world?.stop());

  test("[HE12] an addon's report says why its pods do not get ready, and a deleted object of its release is made again", async () => {
    await world.tell({ fate: "crash" });
    // Without a readiness probe a real kubelet may call the pod ready before its first crash: the instance has served then.
    const phase = expect.stringMatching(/^(installing|degraded)$/);
    await world.seen({ phase, reason: "CrashLoopBackOff" });
    await world.tell({});
    await world.seen(READY);
    const type = await world.client.resourceTypeOf("apps/v1", "Deployment");
    await world.client.delete(type, "db-tiny", world.namespace);
    await world.seen({ phase: "degraded", reason: "ObjectMissing" });
    await world.seen(READY);
    expect(await world.get("apps/v1", "Deployment", "db-tiny")).not.toBeNull();
  });

  const edit = async (patch: unknown, kind = "Deployment", apiVersion = "apps/v1") => {
    const type = await world.client.resourceTypeOf(apiVersion, kind);
    const options = { kind: "merge", fieldManager: "kubectl-edit" } as const;
    await world.client.patch(type, "db-tiny", world.namespace, patch, options);
  };
  const image = (name: string) => ({ spec: { template: { spec: { containers: [{ name: "main", image: name }] } } } });
  const calm = { ...READY, drift: { state: "in_sync", fields: [] } };

  test("[HE30] [AO43] an addon's report shows by field what somebody has changed, and the operator heals it without a new revision", async () => {
    await world.tell({ password: PASSWORD, replicas: 2 });
    const pod = { name: expect.stringMatching(/^db-tiny-/), phase: "Running" };
    const workload = { name: "db-tiny", phase: "running", desired: 2, ready: 2, updated: 2, image: "tiny:1" };
    await world.seen({ ...calm, components_status: [{ ...workload, pods: [pod, pod] }] });
    await edit({ spec: { replicas: 0 } });
    const object = { kind: "Deployment", name: "db-tiny" };
    await world.seen({
      phase: "degraded",
      reason: "NotReady",
      message: "Deployment db-tiny has 0 of 2 replicas ready.",
      components_status: [{ ...workload, phase: "degraded", ready: 0, updated: 0 }],
      drift: {
        state: "drifted",
        fields: [{ object, pointer: "/spec/replicas", desired: 2, observed: 0, manager: "kubectl-edit" }],
      },
    });
    await world.seen(calm);
    await edit(image("tiny:2"));
    const pointer = "/spec/template/spec/containers/0/image";
    await world.seen({
      drift: { state: "drifted", fields: [{ object, pointer, desired: "tiny:1", observed: "tiny:2" }] },
    });
    await world.seen(calm);
    await edit({ data: { password: "bmV3" } }, "Secret", "v1");
    await world.seen({ drift: { state: "drifted", fields: [{ pointer: "/data/password" }] } });
    await world.seen(calm);
    await edit({ data: { color: "theirs" } }, "ConfigMap", "v1");
    await world.seen({ drift: { state: "drifted", fields: [{ pointer: "/data/color" }] } });
    await world.seen(calm);
    expect(fieldsIn((await world.get("v1", "ConfigMap", "db-tiny"))?.["data"])["color"]).toBe("red");
    expect(JSON.stringify(world.reports)).not.toMatch(/bmV3|theirs/);
    expect(await world.revisions()).toHaveLength(1);
    // Helm still upgrades what was healed.
    await world.tell({ password: PASSWORD, replicas: 1 });
    await world.seen(calm);
    expect(await world.get("apps/v1", "Deployment", "db-tiny")).toMatchObject({ spec: { replicas: 1 } });
  });

  test("[HE31] with the drift policy report, changed objects of an addon stay until the next generation applies them again", async () => {
    world.addons.settings({ drift_policy: "report" });
    await world.tell({});
    await world.seen(calm);
    await edit(image("tiny:2"));
    await world.seen({ phase: "ready", drift: { state: "drifted" } });
    await world.tell({});
    await world.seen(calm);
    expect(await world.revisions()).toHaveLength(1);
    await edit({ spec: { replicas: 3 } });
    await world.seen({ phase: "ready", drift: { state: "drifted" } });
    await world.tell({ color: "blue" });
    await world.seen(calm);
    expect(await world.get("apps/v1", "Deployment", "db-tiny")).toMatchObject({ spec: { replicas: 1 } });
    expect(await world.revisions()).toHaveLength(2);
  });
});
