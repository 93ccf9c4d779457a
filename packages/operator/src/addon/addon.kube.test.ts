import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { LABELS } from "@binnacle/contract";
import { afterEach, beforeEach, describe, expect, inject, test, vi } from "vitest";
import { isOurs } from "../desired/ownership.ts";
import { HELM } from "../helm/helm-program.fixture.ts";
import { fieldsIn } from "../kube/object-fields.ts";
import { ADDON_INSTANCES } from "../kube/resource-types.ts";
import { type AddonWorld, addonWorld, EXPORT_SCHEMA } from "./addon-world.fixture.ts";

const PASSWORD = "pa55-w0rd-of-the-test";
const READY = { phase: "ready", reason: "ReleaseReady" };
const decoded = (text: unknown) => Buffer.from(String(text), "base64").toString();

/** What a person does beside us. */
const byHand = (world: AddonWorld, ...args: readonly string[]) =>
  promisify(execFile)(HELM ?? "helm", ["--kubeconfig", inject("kubeconfig"), "--namespace", world.namespace, ...args]);

describe.skipIf(!HELM)("an addon on a cluster", { timeout: 120_000 }, () => {
  let world: AddonWorld;
  beforeEach(async () => {
    world = await addonWorld();
  });
  afterEach(() => world?.stop());

  const color = async () => fieldsIn((await world.get("v1", "ConfigMap", "db-tiny"))?.["data"])["color"];

  test("[SN7] an instance in a suspended project is neither upgraded nor corrected, and is both when the suspension ends", async () => {
    await world.tell({ color: "blue", password: PASSWORD });
    await world.seen(READY);
    await world.tellProject({ suspended: true, told: 2 });
    await world.seen({ phase: "ready", reason: "Suspended" });
    const calls = (await world.helm.calls()).length;
    await world.tell({ color: "green", password: PASSWORD });
    await world.seen({ phase: "upgrading", reason: "Suspended", message: expect.stringContaining("is not applied") });
    expect(await color()).toBe("blue");
    expect(await world.helm.calls()).toHaveLength(calls);
    await world.forget();
    await world.seen({ phase: "deleting", reason: "Suspended" });
    expect(await color()).toBe("blue");
    await world.tellProject({ told: 3 });
    await world.seen({ state: "gone" });
  });

  test("[HE1] [HE5] [HE14] [HE15] [HE19] an addon becomes a Helm release, is upgraded when its values change, and Helm rests when nothing changes", async () => {
    await world.tell({ color: "blue", password: PASSWORD });
    const host = `db-tiny.${world.namespace}.svc`;
    await world.seen({ ...READY, exports: { host, password: null, url: null } });
    expect(world.reports[0]).toMatchObject({ phase: "installing" });
    const secret = await world.get("v1", "Secret", "db-addon-exports");
    expect(secret && isOurs(secret, world.clusterId)).toBe(true);
    expect(secret?.metadata.labels).toMatchObject({ [LABELS.addon]: "db" });
    const { password, url } = fieldsIn(secret?.["data"]);
    expect([decoded(password), decoded(url)]).toEqual([PASSWORD, `tiny://:${PASSWORD}@${host}`]);

    await world.tell({ color: "green", password: PASSWORD, replicas: 2 });
    await world.seen(READY);
    expect(await color()).toBe("green");
    expect(world.reports.map((report) => ("phase" in report ? report.phase : "gone"))).toContain("upgrading");
    expect(await world.client.get(ADDON_INSTANCES, "db", world.namespace)).toMatchObject({
      status: {
        phase: "ready",
        generation: 2,
        readyGeneration: 2,
        conditions: [{ type: "Ready", status: "True", reason: "ReleaseReady" }, {}, {}],
      },
    });

    const calls = await world.helm.calls();
    const steps = ["template", "upgrade"];
    expect(calls.map(({ args }) => args.split(" ")[0])).toEqual([...steps, ...steps]);
    const before = world.reports.length;
    world.addons.resync();
    await vi.waitFor(() => expect(world.reports.length).toBeGreaterThan(before));
    await world.restart();
    await vi.waitFor(() => expect(world.reports.length).toBeGreaterThan(before + 1));
    await world.seen(READY);
    expect(await world.helm.calls()).toHaveLength(calls.length);
    expect(await world.revisions()).toHaveLength(2);
  });

  test("[HE2] [HE8] [HE9] an addon whose Helm process is killed is repaired, and its secrets do not show in the process meanwhile", async () => {
    await world.tell({ hang: true, password: PASSWORD });
    const first = await world.atWork("upgrade", "pending-install");
    const seenBySystem = await readFile(`/proc/${first.pid}/cmdline`, "utf8");
    expect(seenBySystem).toContain("upgrade");
    expect(seenBySystem).not.toContain(PASSWORD);
    const variables = await readFile(`/proc/${first.pid}/environ`, "utf8");
    const names = variables.split("\0").map((pair) => pair.split("=")[0]);
    expect(names).toEqual(expect.arrayContaining(["PATH", "HOME", "KUBECONFIG", "HELM_CACHE_HOME"]));
    expect(names.filter((name) => name?.startsWith("BINNACLE"))).toEqual([]);
    process.kill(first.pid, "SIGKILL");
    await world.seen({ phase: "failed", reason: "InstallFailed", message: "Helm was stopped by SIGKILL." });

    await world.tell({ color: "blue", password: PASSWORD });
    await world.seen(READY);
    await world.tell({ hang: true, color: "red", password: PASSWORD });
    const second = await world.atWork("upgrade", "pending-upgrade");
    process.kill(second.pid, "SIGKILL");
    await world.seen({ phase: "degraded", reason: "UpgradeFailed" });
    await world.tell({ color: "green", password: PASSWORD });
    await world.seen(READY);
    expect(await color()).toBe("green");

    const calls = await world.helm.calls();
    expect(calls.map(({ args }) => args.split(" ")[0])).toEqual(expect.arrayContaining(["uninstall", "rollback"]));
    expect(calls.map(({ text }) => text).join("\n")).not.toContain(PASSWORD);
    expect(world.logged.join("\n")).not.toContain(PASSWORD);
    expect(JSON.stringify(world.reports)).not.toContain(PASSWORD);
    await vi.waitFor(async () => expect(await world.helm.leftovers()).toEqual([]));
  });

  test("[HE44] an addon is not rolled back to a release record that somebody in its project has rewritten", async () => {
    await world.tell({ color: "blue" });
    await world.seen(READY);
    await world.tell({ hang: true, color: "red" });
    const { pid } = await world.atWork("upgrade", "pending-upgrade");
    const planted = "metadata: {name: planted}\nspec: {rules: [{host: planted.example.com, http: {paths: []}}]}";
    const hidden = `kind: ConfigMap\napiVersion: networking.k8s.io/v1\nkind: Ingress\n${planted}`;
    await world.rewrite(1, (manifest) => `${manifest}\n---\n${hidden}\n`);
    process.kill(pid, "SIGKILL");
    await world.tell({ color: "green" });
    await world.seen(READY);
    expect(await color()).toBe("green");
    expect(await world.get("networking.k8s.io/v1", "Ingress", "planted")).toBeNull();
    const calls = await world.helm.calls();
    expect(calls.filter(({ args }) => args.startsWith("rollback"))).toEqual([]);
  });

  test("[HE3] [HE18] an addon leaves a release of somebody else with its name alone, also when the addon is deleted", async () => {
    const { repo, name } = world.charts.chart;
    await byHand(world, "install", "db", name, "--repo", repo, "--set", "color=theirs");
    await world.tell({ color: "ours" });
    await world.seen({ phase: "failed", reason: "ReleaseConflict" });
    await world.forget();
    await vi.waitFor(() => expect(world.reports.at(-1)).toEqual({ state: "gone" }), { timeout: 20_000 });
    expect(await color()).toBe("theirs");
    expect(await world.helm.calls()).toEqual([]);
  });

  test("[HE1] an addon's release that somebody has rolled back is brought back to its desired values", async () => {
    await world.tell({ color: "blue" });
    await world.seen(READY);
    await world.tell({ color: "green" });
    await world.seen(READY);
    await byHand(world, "rollback", "db", "1");
    expect(await color()).toBe("blue");
    world.addons.resync();
    await vi.waitFor(async () => expect(await color()).toBe("green"), { timeout: 30_000 });
    await world.seen(READY);
  });

  test("[HE11] [HE4] an addon reports why its installation fails without revealing a value, and recovers", async () => {
    await world.tell({ refuse: true, password: PASSWORD });
    const message = "The chart refuses its values: the password [masked] is not taken";
    await world.seen({ phase: "failed", reason: "InstallFailed", message });
    await world.tell({ password: PASSWORD });
    await world.seen(READY);
    await world.tell({}, { chart: { ...world.charts.chart, version: "9.9.9" } });
    await world.seen({ phase: "degraded", message: expect.stringContaining("has no chart tiny of version 9.9.9") });
    expect(world.logged.join("\n")).not.toContain(PASSWORD);
  });

  test("[HE6] an addon waits while somebody else holds the Lease of its release", async () => {
    const metadata = { name: "binnacle-helm-db", namespace: world.namespace };
    const spec = { holderIdentity: "another", leaseDurationSeconds: 3_600, renewTime: "2026-01-01T00:00:00.000000Z" };
    await world.client.create({ apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata, spec });
    await world.tell({});
    await world.seen({ phase: "installing", reason: "Waiting" });
    expect(await world.helm.calls()).toEqual([]);
    const type = await world.client.resourceTypeOf("coordination.k8s.io/v1", "Lease");
    await world.client.delete(type, metadata.name, world.namespace);
    await world.seen(READY);
    expect(await world.client.get(type, metadata.name, world.namespace)).toBeNull();
  });

  test("[HE7] a running Helm process ends when the operator restarts, and the next operator finishes the installation", async () => {
    await world.tell({ hang: true });
    const { pid } = await world.atWork("upgrade", "pending-install");
    await world.restart();
    expect(() => process.kill(pid, 0)).toThrow();
    await world.tell({});
    await world.seen(READY);
  });

  test("[HE17] an addon leaves a Secret of somebody else with the name of its exports alone", async () => {
    const metadata = { name: "db-addon-exports", namespace: world.namespace };
    await world.client.create({ apiVersion: "v1", kind: "Secret", metadata, stringData: { mine: "yes" } });
    await world.tell({ password: PASSWORD });
    await world.seen({ phase: "failed", reason: "ExportsConflict" });
    expect(fieldsIn((await world.get("v1", "Secret", "db-addon-exports"))?.["data"])).toEqual({ mine: "eWVz" });
  });

  test("[HE20] [HE13] a deleted addon is removed except for what its chart keeps, and its report names what blocks the removal", async () => {
    await world.tell({ password: PASSWORD });
    await world.seen(READY);
    const type = await world.client.resourceTypeOf("v1", "ConfigMap");
    const held = (finalizers: readonly string[] | null) =>
      world.client.patch(type, "db-tiny", world.namespace, { metadata: { finalizers } }, { kind: "merge" });
    await held(["example.com/backup"]);
    await world.forget();
    await world.seen({ phase: "deleting", message: "Still on the cluster: ConfigMap db-tiny." });
    await held(null);
    await vi.waitFor(() => expect(world.reports.at(-1)).toEqual({ state: "gone" }), { timeout: 40_000 });
    for (const [apiVersion, kind, name] of [
      ["apps/v1", "Deployment", "db-tiny"],
      ["v1", "Secret", "db-tiny"],
      ["v1", "Secret", "db-addon-exports"],
      ["v1", "Secret", "binnacle-addon-db"],
    ] as const) {
      expect(await world.get(apiVersion, kind, name)).toBeNull();
    }
    expect(await world.revisions()).toEqual([]);
    expect(await world.client.get(ADDON_INSTANCES, "db", world.namespace)).toBeNull();
    expect(await world.get("v1", "PersistentVolumeClaim", "db-tiny")).not.toBeNull();
  });

  test("[HE15] [HE16] [AO43] an addon instance gives its exports to apps, as a chart component of an app does", async () => {
    const changes: string[] = [];
    const end = world.releases.onChange((namespace) => changes.push(namespace));
    await world.tell({ password: PASSWORD });
    await world.seen(READY);
    const instance = (await world.releases.instances(world.namespace)).get("db");
    expect(instance).toMatchObject({ state: "ready", keys: ["host", "password", "url"] });
    expect(instance?.exports["password"]).toMatchObject({ secret: { name: "db-addon-exports", key: "password" } });
    expect(changes).toContain(world.namespace);

    const wanted = {
      clusterId: world.clusterId,
      projectId: "01932c07-31f1-7a4e-8d8b-0000000000ab",
      namespace: world.namespace,
      app: "shop",
      component: "cache",
      name: "shop-cache",
      chart: world.charts.chart,
      exportSchema: EXPORT_SCHEMA,
      values: { password: PASSWORD },
    };
    const options = { mayHeal: () => false, isSyncing: false, takeOver: false };
    expect(await world.releases.ensure(wanted, options)).toMatchObject({ state: "progressing" });
    const state = await vi.waitFor(
      async () => {
        const found = await world.releases.ensure(wanted, options);
        expect(found).toMatchObject({ state: "ready", message: null });
        return found;
      },
      { timeout: 40_000, interval: 200 },
    );
    expect(state).toMatchObject({ counts: { desired: 1, ready: 1, image: "tiny:1" }, pods: [{ kind: "Pod" }] });
    expect(state.exports).toMatchObject({
      host: { value: `shop-cache-tiny.${world.namespace}.svc` },
      password: { secret: { name: "shop-cache-exports", key: "password" } },
    });
    const place = { namespace: world.namespace, name: "shop-cache", chart: null };
    expect(await world.releases.remove({ ...place, app: "shop-cach" })).toBe("gone");
    expect(await world.get("apps/v1", "Deployment", "shop-cache-tiny")).not.toBeNull();
    await vi.waitFor(async () => expect(await world.releases.remove({ ...place, app: "shop" })).toBe("gone"), {
      timeout: 30_000,
      interval: 200,
    });
    expect(await world.get("apps/v1", "Deployment", "shop-cache-tiny")).toBeNull();
    expect(await world.get("v1", "Secret", "shop-cache-exports")).toBeNull();
    end();
  });
});
