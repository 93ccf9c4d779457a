import type { AppReport, DesiredComponent, Gone } from "@binnacle/contract";
import { beforeEach, describe, expect, test, vi } from "vitest";
import type { KubeObject } from "../kube/kube-client.ts";
import { type AppWorld, appWorld, WEB, workload } from "./app-world.fixture.ts";

const IN_SYNC = { state: "in_sync", summary: null, fields: [], detected_at: null };
const CALM = { phase: "running", drift: expect.objectContaining(IN_SYNC) };
const sinceOf = (report: AppReport | Gone | undefined) => (report && "phase" in report && report.phase_since) || "";
const DEPLOYMENT = ["apps/v1", "Deployment", "shop-web"] as const;

describe("what somebody does to the objects of an app", () => {
  let world: AppWorld;
  beforeEach(async () => {
    world = await appWorld();
    world.apps.start();
    return () => world.stop();
  });

  const replicas = () => world.replicas("shop-web");
  const drifts = () => world.reports.flatMap(({ report }) => ("drift" in report ? [report.drift] : []));
  const firstDrift = () => drifts().find(({ state }) => state === "drifted");

  test("[AO29] [AO32] [AO88] a change that somebody makes to an object of an app is reported by field, then undone and remembered with who made it", async () => {
    await world.deploy([WEB]);
    await world.seen(CALM);
    await world.edit(...DEPLOYMENT, {
      spec: { replicas: 5, template: { spec: { terminationGracePeriodSeconds: 5 } } },
    });
    await vi.waitFor(() => expect(firstDrift()).toBeDefined(), { timeout: 10_000 });
    expect(firstDrift()).toMatchObject({
      summary: "/spec/replicas of Deployment shop-web was changed by kubectl-edit, and 1 more.",
      detected_at: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    const object = { kind: "Deployment", name: "shop-web" };
    const manager = "kubectl-edit";
    expect(firstDrift()?.fields).toEqual([
      { object, pointer: "/spec/replicas", desired: 2, observed: 5, manager },
      { object, pointer: "/spec/template/spec/terminationGracePeriodSeconds", desired: 30, observed: 5, manager },
    ]);
    const byThem = { object, manager, repaired_at: expect.stringMatching(/^\d{4}-.*Z$/) };
    await world.seen({
      ...CALM,
      drift: {
        ...IN_SYNC,
        repaired: expect.arrayContaining([
          expect.objectContaining({ ...byThem, pointer: "/spec/replicas" }),
          expect.objectContaining({ ...byThem, pointer: "/spec/template/spec/terminationGracePeriodSeconds" }),
        ]),
      },
    });
    expect(await replicas()).toBe(2);
  });

  test("[AO30] drift is found where somebody deleted an item of a list, a key of a map or a whole object", async () => {
    await world.deploy([workload("web", { ports: [{ name: "http", port: 80 }], env: [{ name: "A", value: "1" }] })], {
      secrets: { web: { KEY: "s3cret" } },
    });
    await world.seen(CALM);
    await world.edit("v1", "Secret", "shop-web-secrets", { data: { KEY: "bmV3" } });
    await world.edit("v1", "ConfigMap", "shop-web-env", {
      metadata: { labels: { "app.kubernetes.io/part-of": "theirs" } },
      data: { A: null },
    });
    await world.client.delete(await world.client.resourceTypeOf("v1", "Service"), "shop-web", world.namespace);
    const find = () => drifts().find(({ fields }) => fields.length === 4);
    await vi.waitFor(() => expect(find()).toBeDefined(), { timeout: 10_000 });
    expect(find()?.fields).toEqual(
      expect.arrayContaining([
        { object: { kind: "ConfigMap", name: "shop-web-env" }, pointer: "/data/A", desired: "1" },
        {
          object: { kind: "ConfigMap", name: "shop-web-env" },
          pointer: "/metadata/labels/app.kubernetes.io~1part-of",
          desired: "shop",
          observed: "theirs",
          manager: "kubectl-edit",
        },
        { object: { kind: "Secret", name: "shop-web-secrets" }, pointer: "/data/KEY", manager: "kubectl-edit" },
        { object: { kind: "Service", name: "shop-web" }, pointer: "" },
      ]),
    );
    expect(JSON.stringify(world.reports)).not.toContain("bmV3");
    await world.seen(CALM);
    expect(await world.get("v1", "Service", "shop-web")).not.toBeNull();
    expect(await world.get("v1", "ConfigMap", "shop-web-env")).toMatchObject({ data: { A: "1" } });
  });

  test("[AO33] with the drift policy report, a change stays until the app is deployed again", async () => {
    world.apps.settings({ drift_policy: "report" });
    await world.deploy([WEB]);
    await world.seen(CALM);
    await world.edit(...DEPLOYMENT, { spec: { replicas: 5 } });
    await world.seen({ drift: { state: "drifted", fields: [{ pointer: "/spec/replicas", desired: 2, observed: 5 }] } });
    await world.deploy([WEB]);
    await world.seen(CALM);
    expect(await replicas()).toBe(2);
    await world.edit(...DEPLOYMENT, { spec: { replicas: 5 } });
    await world.seen({ drift: { state: "drifted" } });
    world.apps.settings({ drift_policy: "heal" });
    await world.seen(CALM);
  });

  test("[AO41] [AO42] [AO43] an app whose replicas somebody took is degraded at once also while drift is only reported, and heals later", async () => {
    world.apps.settings({ drift_policy: "report" });
    await world.deploy([WEB]);
    const names = expect.stringMatching(/^shop-web-/);
    const pod = { name: names, phase: "Running", reason: null, restarts: 0, node: expect.any(String) };
    const web = { name: "web", phase: "running", desired: 2, ready: 2, updated: 2, restarts: 0, image: "nginx:1.29" };
    await world.seen({ ...CALM, components_status: [{ ...web, pods: [pod, pod] }] });
    await world.seen({ ...CALM, phase_since: expect.stringMatching(/^\d{4}-.*Z$/) });
    const begun = world.reports.at(-1)?.report;
    await world.edit(...DEPLOYMENT, { spec: { replicas: 0 } });
    await world.seen({
      phase: "degraded",
      reason: "NoReplicas",
      message: "web: Deployment shop-web has 0 of 2 replicas ready.",
      drift: { state: "drifted", fields: [{ pointer: "/spec/replicas", desired: 2, observed: 0 }] },
    });
    const down = world.reports.at(-1)?.report;
    expect(Date.parse(sinceOf(down))).toBeGreaterThan(Date.parse(sinceOf(begun)));

    await world.client.delete(await world.client.resourceTypeOf("apps/v1", "Deployment"), "shop-web", world.namespace);
    await world.seen({
      phase: "degraded",
      reason: "WorkloadMissing",
      phase_since: sinceOf(down),
      components: [{ name: "web", ready_replicas: 0 }],
      components_status: [{ phase: "degraded", reason: "WorkloadMissing", desired: 2, ready: 0, pods: [] }],
    });
    world.apps.settings({ drift_policy: "heal" });
    await world.seen(CALM);
    expect(sinceOf(world.reports.at(-1)?.report)).not.toBe(sinceOf(begun));
  });

  test("[AO7] [AO34] a field that another manager declares blocks the sync of an app until a take-over", async () => {
    await world.deploy([WEB]);
    await world.seen(CALM);
    const theirs: KubeObject = {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "shop-web", namespace: world.namespace },
      spec: { replicas: 7 },
    };
    await world.client.apply(theirs, { fieldManager: "argocd", force: true });
    await world.seen({
      drift: {
        state: "blocked_sync",
        summary: "Held by argocd, though the app must set it: /spec/replicas of Deployment shop-web.",
        fields: [{ pointer: "/spec/replicas", desired: 2, observed: 7, manager: "argocd" }],
      },
    });
    await world.deploy([workload("web", { replicas: 3, image: "nginx:1.30" })]);
    await world.seen({ phase: "degraded", reason: "BlockedSync", drift: { state: "blocked_sync" } });
    expect(await world.get(...DEPLOYMENT)).toMatchObject({
      spec: { replicas: 7, template: { spec: { containers: [{ image: "nginx:1.29" }] } } },
    });
    await world.deploy([workload("web", { replicas: 3, image: "nginx:1.30" })], { take_over: true });
    await world.seen(CALM);
    expect(await replicas()).toBe(3);
    await world.client.apply(theirs, { fieldManager: "argocd", force: true });
    await world.seen({ drift: { state: "blocked_sync" } });
    expect(await replicas()).toBe(7);
  });

  test("[HE30] [HE31] drift of a chart component is reported, and a redeploy or a take-over has the chart applied again", async () => {
    const chart = { repo: "https://charts.example.com", name: "redis" };
    const cache: DesiredComponent = { name: "cache", type: "chart", release: { chart, export_schema: {} } };
    const field = {
      object: { kind: "StatefulSet", name: "redis" },
      pointer: "/spec/replicas",
      desired: 3,
      observed: 0,
    };
    const ready = { state: "ready", message: null, exports: {} } as const;
    world.releases.set("shop-cache", ready, world.namespace);
    await world.deploy([cache]);
    await world.seen(CALM);
    world.releases.set("shop-cache", { ...ready, drifted: [field] }, world.namespace);
    await world.seen({ drift: { state: "drifted", fields: [field] } });
    world.releases.set("shop-cache", { ...ready, healed: [field] }, world.namespace);
    await world.seen(CALM);

    const blocked = [{ action: "blocked", fields: [field], summary: "Held by argocd." }] as const;
    world.releases.set("shop-cache", { ...ready, blocked }, world.namespace);
    await world.seen({ drift: { state: "blocked_sync", summary: "Held by argocd." } });
    expect(world.releases.asked.at(-1)).toEqual({ isSyncing: false, takeOver: false });
    await world.deploy([cache]);
    await vi.waitFor(() => expect(world.releases.asked.at(-1)).toEqual({ isSyncing: true, takeOver: false }));
    await world.deploy([cache], { take_over: true });
    await vi.waitFor(() => expect(world.releases.asked.at(-1)).toEqual({ isSyncing: true, takeOver: true }));
    world.releases.set("shop-cache", ready, world.namespace);
    await world.seen(CALM);
  });

  test("[AO27] a field that is only added, defaulted or written in another form is not drift", async () => {
    await world.deploy([
      workload("web", {
        ports: [{ name: "http", port: 80 }],
        resources: { requests: { cpu: "0.1", memory: "1024Mi" } },
        autoscale: { min: 1, max: 5, cpu_percent: 70 },
        probes: { liveness: { port: 80 } },
      }),
    ]);
    await world.seen(CALM);
    await world.edit(...DEPLOYMENT, {
      metadata: { labels: { team: "green" }, annotations: { "example.com/seen": "now" } },
      spec: { replicas: 3, template: { metadata: { annotations: { "example.com/injected": "yes" } } } },
    });
    await world.seen({ ...CALM, components: [{ name: "web", ready_replicas: 3 }] });
    await world.apps.stop();
    const before = world.reports.length;
    const writes = vi.spyOn(world.client, "apply");
    for (let pass = 0; pass < 5; pass += 1) await world.reconciler.reconcile(world.key);
    expect(writes.mock.calls.filter(([, options]) => options?.dryRun !== true)).toEqual([]);
    expect(world.reports.slice(before).map(({ report }) => report)).toEqual(
      Array.from({ length: 5 }, () => expect.objectContaining(CALM)),
    );
    // What was once found to be right is not asked about again until it changes.
    expect(writes.mock.calls.length).toBeLessThanOrEqual(4);
  });
});
