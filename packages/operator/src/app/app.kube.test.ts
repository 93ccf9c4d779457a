import { LABELS } from "@binnacle/contract";
import { beforeEach, describe, expect, inject, test, vi } from "vitest";
import { ownLabels } from "../desired/ownership.ts";
import { fieldsIn, specOf } from "../kube/object-fields.ts";
import { type AppWorld, appWorld, CALM, WEB, workload } from "./app-world.fixture.ts";

const NOTHING = { apiVersion: "", kind: "", metadata: { name: "" } };

describe("an app on a cluster", () => {
  let world: AppWorld;
  beforeEach(async () => {
    world = await appWorld();
    world.apps.start();
    return () => world.stop();
  });

  test("[AO1] an app becomes a workload of every kind, with all objects that belong to it", async () => {
    const volumes = [{ name: "data", mount_path: "/data", size_gb: 1 }];
    const ports = [{ name: "http", port: 80 }];
    await world.deploy(
      [
        workload("web", {
          ports,
          volumes,
          ingress: { host: "shop.example.com" },
          env: [{ name: "LOG_LEVEL", value: "info" }],
        }),
        workload("db", { kind: "statefulset", replicas: 2, ports, volumes }),
        workload("migrate", { kind: "job" }),
        workload("nightly", { kind: "cronjob", schedule: "0 3 * * *" }),
        workload("api", { autoscale: { min: 2, max: 4, cpu_percent: 70 } }),
      ],
      { secrets: { web: { API_KEY: "s3cret" } } },
    );
    await world.seen({
      ...CALM,
      components: [
        { name: "web", ready_replicas: 1 },
        { name: "db", ready_replicas: 2 },
        { name: "migrate", ready_replicas: 0 },
        { name: "nightly", ready_replicas: 0 },
        { name: "api", ready_replicas: 2 },
      ],
    });
    const deployment = await world.get("apps/v1", "Deployment", "shop-web");
    const [ours] = deployment?.metadata.managedFields ?? [];
    expect(ours).toMatchObject({ manager: "binnacle", operation: "Apply" });
  });

  test("[AO15] an app on a cluster is scaled, paused, resumed and changed", async () => {
    await world.deploy([WEB]);
    await world.seen({ ...CALM, components: [{ name: "web", ready_replicas: 2 }] });
    await world.deploy([workload("web", { replicas: 3 })]);
    await world.seen({ ...CALM, components: [{ name: "web", ready_replicas: 3 }] });
    await world.deploy([workload("web", { replicas: 3 })], { paused: true });
    await world.seen({ phase: "paused", components: [{ name: "web", ready_replicas: 0 }] });
    await world.deploy([workload("web", { replicas: 3 })]);
    await world.seen({ ...CALM, components: [{ name: "web", ready_replicas: 3 }] });
  });

  test("[AO16] a component keeps its replicas when autoscaling begins, and gets them back after a pause", async () => {
    const autoscale = { min: 1, max: 6, cpu_percent: 70 };
    await world.deploy([workload("web", { replicas: 4 })]);
    await world.seen({ ...CALM, components: [{ name: "web", ready_replicas: 4 }] });
    await world.deploy([workload("web", { replicas: 4, autoscale })]);
    await world.seen(CALM);
    expect(await world.replicas("shop-web")).toBe(4);
    await world.deploy([workload("web", { replicas: 4, autoscale })], { paused: true });
    await world.seen({ phase: "paused" });
    await world.deploy([workload("web", { replicas: 4, autoscale })]);
    await world.seen({ ...CALM, components: [{ name: "web", ready_replicas: 1 }] });
    await world.deploy([workload("web", { replicas: 2 })]);
    await world.seen({ ...CALM, components: [{ name: "web", ready_replicas: 2 }] });
  });

  test("[AO120] an app with a new autoscaler minimum is running once that many replicas are ready", async () => {
    const scaled = (min: number) => [workload("web", { autoscale: { min, max: 6, cpu_percent: 70 } })];
    await world.deploy(scaled(1));
    await world.seen(CALM);
    const generation = await world.deploy(scaled(4));
    await world.seen(CALM);
    const first = world.reports.find(
      ({ generation: of, report }) => of === generation && "phase" in report && report.phase === "running",
    );
    expect(first?.report).toMatchObject({ components: [{ name: "web", ready_replicas: 4 }] });
  });

  test("[AO3] an app loses the objects of a removed component, and no others", async () => {
    const volumes = [{ name: "data", mount_path: "/data", size_gb: 1 }];
    await world.deploy([WEB, workload("api", { volumes, ports: [{ name: "http", port: 80 }] })]);
    await world.seen(CALM);
    await world.deploy([WEB]);
    await world.seen({ ...CALM, components: [{ name: "web", ready_replicas: 2 }] });
    await vi.waitFor(async () => expect(await world.get("apps/v1", "Deployment", "shop-api")).toBeNull(), {
      timeout: 30_000,
    });
    expect(await world.get("v1", "Service", "shop-api")).toBeNull();
    expect(await world.get("apps/v1", "Deployment", "shop-web")).not.toBeNull();
    expect(await world.get("v1", "PersistentVolumeClaim", "shop-api-data")).not.toBeNull();
  });

  test("[AO4] an app does not prune an object that somebody else has created again under the same name", async () => {
    await world.deploy([WEB, workload("api", { env: [{ name: "A", value: "1" }] })]);
    await world.seen(CALM);
    await world.apps.stop();
    const type = await world.client.resourceTypeOf("v1", "ConfigMap");
    await world.client.delete(type, "shop-api-env", world.namespace);
    const theirs = { name: "shop-api-env", namespace: world.namespace };
    await world.client.create({ apiVersion: "v1", kind: "ConfigMap", metadata: theirs, data: { mine: "yes" } });
    await world.deploy([WEB]);
    world.apps.start();
    await world.seen({ ...CALM, components: [{ name: "web", ready_replicas: 2 }] });
    await vi.waitFor(async () => expect(await world.get("apps/v1", "Deployment", "shop-api")).toBeNull(), {
      timeout: 30_000,
    });
    expect(await world.get("v1", "ConfigMap", "shop-api-env")).toMatchObject({ data: { mine: "yes" } });
  });

  test("[AO8] [AO9] an app leaves an object of somebody else alone until the app is told to take the object over", async () => {
    const metadata = { name: "shop-web", namespace: world.namespace };
    const spec = { selector: { app: "theirs" }, ports: [{ name: "theirs", port: 80 }] };
    await world.client.create({ apiVersion: "v1", kind: "Service", metadata, spec }, { fieldManager: "somebody" });
    await world.deploy([WEB]);
    await world.seen({
      phase: "failed",
      reason: "BlockedSync",
      drift: {
        state: "blocked_sync",
        summary: "Service shop-web exists and belongs to somebody else.",
        fields: [{ object: { kind: "Service", name: "shop-web" }, pointer: "", manager: "somebody" }],
      },
    });
    await world.reconciler.reconcile(world.key);
    expect(await world.get("apps/v1", "Deployment", "shop-web")).toBeNull();
    expect(await world.get("v1", "Service", "shop-web")).toMatchObject({ spec: { selector: { app: "theirs" } } });
    await world.deploy([WEB], { take_over: true });
    await world.seen(CALM);
    expect(await world.get("v1", "Service", "shop-web")).toMatchObject({
      metadata: { labels: ownLabels(world.clusterId) },
    });
  });

  test("[AO8] an app leaves an object of another app alone, though Binnacle manages that object too", async () => {
    const labels = { ...ownLabels(world.clusterId), [LABELS.app]: "sho", [LABELS.component]: "p-web" };
    const metadata = { name: "shop-web-env", namespace: world.namespace, labels };
    await world.client.create({ apiVersion: "v1", kind: "ConfigMap", metadata, data: { A: "theirs" } });
    await world.deploy([workload("web", { env: [{ name: "A", value: "ours" }] })]);
    await world.seen({ drift: { state: "blocked_sync" } });
    expect(await world.get("v1", "ConfigMap", "shop-web-env")).toMatchObject({ data: { A: "theirs" } });
  });

  test("[AO17] an app is reconciled when the pull secrets of its namespace change, and when one of its objects changes", async () => {
    await world.deploy([WEB]);
    await world.seen(CALM);
    const pulls = async () => {
      const { template } = specOf((await world.get("apps/v1", "Deployment", "shop-web")) ?? NOTHING);
      return specOf({ ...NOTHING, ...fieldsIn(template) })["imagePullSecrets"];
    };
    expect(await pulls()).toBeUndefined();
    await world.registries(["harbor"]);
    await vi.waitFor(async () => expect(await pulls()).toEqual([{ name: "harbor" }]), { timeout: 10_000 });
    await world.seen(CALM);
    expect(world.reports.every(({ report }) => "drift" in report && report.drift.state !== "drifted")).toBe(true);
    await world.client.delete(await world.client.resourceTypeOf("v1", "Service"), "shop-web", world.namespace);
    await world.seen({ drift: { state: "drifted" } }, 10_000);
    await world.seen(CALM);
  });

  test("[AO17] [AO40] an app is reconciled when the pod security level of its project changes, which is not drift", async () => {
    await world.deploy([WEB]);
    await world.seen(CALM);
    const rendered = async () => JSON.stringify(await world.get("apps/v1", "Deployment", "shop-web"));
    expect(await rendered()).not.toContain("runAsNonRoot");
    await world.project({ pod_security: "restricted" });
    await vi.waitFor(async () => expect(await rendered()).toContain('"runAsNonRoot":true'), { timeout: 10_000 });
    await world.seen(CALM);
    expect(world.reports.every(({ report }) => "drift" in report && report.drift.state !== "drifted")).toBe(true);
  });

  test("[AO10] an app reports that a volume of a StatefulSet cannot be renamed or shrunk, and keeps the volume", async () => {
    const db = (name: string, size_gb: number) =>
      workload("db", { kind: "statefulset", volumes: [{ name, mount_path: "/data", size_gb }] });
    await world.deploy([db("data", 2)]);
    await world.seen(CALM);
    for (const other of [db("other", 2), db("data", 1)]) {
      await world.deploy([other]);
      await world.seen({ phase: "degraded", reason: "ImmutableField" });
    }
    await world.deploy([db("data", 2)]);
    await world.seen(CALM);
  });

  test("[AO11] an app reports an object that the cluster refuses before anything is applied", async () => {
    const labels = { team: "no value of a label" };
    await world.deploy([workload("web", { env: [{ name: "A", value: "1" }], labels })]);
    await world.seen({ phase: "failed", reason: "ObjectRefused" });
    expect(await world.get("v1", "ConfigMap", "shop-web-env")).toBeNull();
  });

  test("[AO18] an app does not run a finished Job again when somebody deletes the Job", async () => {
    const type = await world.client.resourceTypeOf("batch/v1", "Job");
    const jobs = async () => (await world.client.list(type, { namespace: world.namespace })).items;
    await world.deploy([workload("migrate", { kind: "job" })]);
    await world.seen(CALM);
    const [job] = await jobs();
    await world.client.delete(type, job?.metadata.name ?? "", world.namespace, { propagation: "Background" });
    await vi.waitFor(async () => expect(await jobs()).toEqual([]));
    await world.deploy([workload("migrate", { kind: "job" })]);
    await world.seen(CALM);
    expect(await jobs()).toEqual([]);
    await world.deploy([workload("migrate", { kind: "job", args: ["again"] })]);
    await world.seen(CALM);
    expect(await jobs()).toHaveLength(1);
  });

  test.skipIf(!inject("isSimulated"))("[AO24] an app reports why its pods do not get ready", async () => {
    await world.deploy([WEB]);
    await world.seen(CALM);
    const fate = { metadata: { annotations: { "test.binnacle.dev/fate": "crash" } } };
    await world.edit("apps/v1", "Deployment", "shop-web", { spec: { template: fate } });
    await world.seen({ phase: "deploying", reason: "CrashLoopBackOff", drift: { state: "in_sync" } });
  });
});
