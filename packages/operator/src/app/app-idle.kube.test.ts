import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { KubeObject } from "../kube/kube-client.ts";
import { type AppWorld, appWorld, workload } from "./app-world.fixture.ts";

const POLICIES = "admissionregistration.k8s.io/v1";
const DEPLOYMENT = ["apps/v1", "Deployment", "shop-web"] as const;

/** A cluster that changes Deployments on their way in, also where they say otherwise, as webhooks do. */
function mutationIn(namespace: string): readonly KubeObject[] {
  const patch = `[
    JSONPatch{op: "replace", path: "/spec/template/spec/terminationGracePeriodSeconds", value: 45},
    JSONPatch{op: "add", path: "/spec/template/metadata/labels/mesh", value: "yes"}]`;
  const rule = {
    apiGroups: ["apps"],
    apiVersions: ["v1"],
    resources: ["deployments"],
    operations: ["CREATE", "UPDATE"],
  };
  const matchResources = { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } } };
  const metadata = { name: `mutate-${namespace}` };
  return [
    {
      apiVersion: POLICIES,
      kind: "MutatingAdmissionPolicy",
      metadata,
      spec: {
        reinvocationPolicy: "Never",
        failurePolicy: "Fail",
        matchConstraints: { resourceRules: [rule] },
        mutations: [{ patchType: "JSONPatch", jsonPatch: { expression: patch } }],
      },
    },
    {
      apiVersion: POLICIES,
      kind: "MutatingAdmissionPolicyBinding",
      metadata,
      spec: { policyName: metadata.name, matchResources },
    },
  ];
}

/** For so long nothing is done to the app, while the cluster goes on; a few looks in a row tell most of it. */
const IDLE_MS = Number(process.env["IDLE_MINUTES"] ?? "0") * 60_000;
const LEAST_LOOKS = 5;

describe("an app that nobody touches", () => {
  let world: AppWorld;
  beforeEach(async () => {
    world = await appWorld();
    for (const object of mutationIn(world.namespace)) await world.client.apply(object);
  });
  afterEach(async () => {
    for (const { apiVersion, kind, metadata } of mutationIn(world.namespace)) {
      await world.client.delete(await world.client.resourceTypeOf(apiVersion, kind), metadata.name);
    }
    await world.stop();
  });

  test("[AO27] [AO28] an app that nobody touches does not drift, whatever defaults, autoscalers and webhooks do to its objects", {
    timeout: IDLE_MS + 120_000,
  }, async () => {
    world.apps.start();
    await vi.waitFor(async () => {
      const probe = {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name: "probe", namespace: world.namespace },
      };
      const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "a", image: "a" }] } };
      const spec = { selector: { matchLabels: { a: "b" } }, template };
      const made = await world.client.apply({ ...probe, spec }, { dryRun: true });
      expect(made).toMatchObject({ spec: { template: { spec: { terminationGracePeriodSeconds: 45 } } } });
    }, 30_000);
    await world.deploy(
      [
        workload("web", {
          ports: [
            { name: "http", port: 80 },
            { name: "dns", port: 53, protocol: "UDP" },
          ],
          resources: { requests: { cpu: "0.1", memory: "1024Mi" } },
          autoscale: { min: 2, max: 5, cpu_percent: 70 },
          probes: { liveness: { port: 80 }, readiness: { path: "/", port: 80 } },
          volumes: [{ name: "data", mount_path: "/data", size_gb: 1 }],
          ingress: { host: "shop.example.com" },
          env: [{ name: "A", value: "1" }],
        }),
        workload("db", { kind: "statefulset", volumes: [{ name: "data", mount_path: "/data", size_gb: 1 }] }),
        workload("nightly", { kind: "cronjob", schedule: "*/1 * * * *" }),
        workload("migrate", { kind: "job" }),
      ],
      { secrets: { web: { KEY: "s3cret" } } },
    );
    await world.seen({ phase: "running", drift: { state: "in_sync" } });
    const before = await world.get(...DEPLOYMENT);
    expect(before).toMatchObject({ spec: { template: { spec: { terminationGracePeriodSeconds: 45 } } } });
    const applied = vi.spyOn(world.client, "apply");
    const seen = world.reports.length;
    const untilMs = performance.now() + IDLE_MS;
    for (let context = 0; context < LEAST_LOOKS || performance.now() < untilMs; context += 1) {
      const annotations = { "example.com/last-seen": String(context) };
      await world.edit(...DEPLOYMENT, { metadata: { annotations } }, "some-controller");
      await world.reconciler.reconcile(world.key);
      if (IDLE_MS > 0) await pause(1_000);
    }
    const reports = world.reports.slice(seen).map(({ report }) => report);
    expect(reports.filter((report) => !("drift" in report) || report.drift.state !== "in_sync")).toEqual([]);
    expect(applied.mock.calls.filter(([, options]) => options?.dryRun !== true)).toEqual([]);
    expect((await world.get(...DEPLOYMENT))?.["spec"]).toEqual(before?.["spec"]);
  });
});
