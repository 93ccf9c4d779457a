import { ANNOTATIONS, LABELS, type ObservedObject } from "@binnacle/contract";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type AddonWorld, addonWorld } from "../addon/addon-world.fixture.ts";
import { type AppWorld, appWorld, workload } from "../app/app-world.fixture.ts";
import { ownLabels } from "../desired/ownership.ts";
import { HELM } from "../helm/helm-program.fixture.ts";
import type { KubeObject } from "../kube/kube-client.ts";
import { CLAIMS, PODS } from "../kube/resource-types.ts";
import { createObservations } from "./observations.adapter.ts";

const WITHIN = { timeout: 40_000, interval: 200 };
const CALM = { phase: "running", drift: { state: "in_sync" } };
const VOLUMES = [{ name: "data", mount_path: "/data", size_gb: 1 }];

/** Each as `Kind name < parent's name`, without what Kubernetes appends to names. */
function lineage(objects: readonly ObservedObject[]): string[] {
  const names = new Map(objects.map(({ id, kind }) => [id, kind]));
  return objects
    .map(({ kind, component, parent_id }) => `${kind} < ${parent_id ? names.get(parent_id) : component}`)
    .sort();
}

describe("an app of workloads on a cluster", { timeout: 90_000 }, () => {
  let world: AppWorld;
  beforeEach(async () => {
    world = await appWorld();
    world.apps.start();
  });
  afterEach(() => world?.stop());

  const observe = () =>
    createObservations({
      kube: world.client,
      clusterId: world.clusterId,
      view: world.view,
      helmReleases: { objects: async () => [] },
      pods: world.ports.pods,
      nowMs: Date.now,
    });
  async function resources(app = "shop") {
    const answer = await observe()({ name: "resources", namespace: world.namespace, app });
    if (!("resources" in answer)) throw new Error("it answers something else");
    return answer.resources;
  }
  async function outlook(components: string[] | null = null) {
    const about = { namespace: world.namespace, app: "shop", components, addon_instance: null };
    const answer = await observe()({ name: "deletion", ...about });
    if (!("deletion" in answer)) throw new Error("it answers something else");
    return answer.deletion;
  }

  /** Objects of somebody else in the namespace, one of which says that it is the app's. */
  async function neighbours() {
    const { client, namespace } = world;
    const spec = { terminationGracePeriodSeconds: 0, containers: [{ name: "main", image: "nginx" }] };
    const labels = { ...ownLabels(world.clusterId), [LABELS.app]: "shop", [LABELS.component]: "web" };
    await client.create({ apiVersion: "v1", kind: "Pod", metadata: { name: "posing", namespace, labels }, spec });
    await client.create({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "theirs", namespace, labels: { [LABELS.app]: "shop" } },
    });
    await client.create({
      apiVersion: "v1",
      kind: "Event",
      metadata: { name: "theirs.1", namespace },
      involvedObject: { kind: "ConfigMap", namespace, name: "theirs", uid: "00000000-0000-0000-0000-000000000001" },
      reason: "Stranger",
      message: "Not about the app.",
      type: "Warning",
    });
  }

  test("[TE14] [TE15] an app is shown as a tree of its own objects down to the pods, without values of Secrets", async () => {
    await neighbours();
    const env = [{ name: "COLOR", value: "very-blue" }];
    await world.deploy(
      [
        workload("web", { env, replicas: 2, ports: [{ name: "http", port: 80 }] }),
        workload("db", { kind: "statefulset", volumes: VOLUMES }),
      ],
      { secrets: { web: { KEY: "hush-hush" } } },
    );
    await world.seen(CALM);
    const { objects, truncated } = await vi.waitFor(async () => {
      const found = await resources();
      expect(found.objects.every(({ status }) => status === "ready")).toBe(true);
      return found;
    }, WITHIN);
    expect(truncated).toBe(false);
    expect(lineage(objects)).toEqual([
      "ConfigMap < web",
      "Deployment < web",
      "PersistentVolumeClaim < StatefulSet",
      "Pod < ReplicaSet",
      "Pod < ReplicaSet",
      "Pod < StatefulSet",
      "PodDisruptionBudget < web",
      "ReplicaSet < Deployment",
      "Secret < web",
      "Service < db",
      "Service < web",
      "StatefulSet < db",
    ]);
    const text = JSON.stringify(objects);
    expect(text).not.toMatch(/hush|very-blue|posing|theirs/);
    expect(objects.find(({ kind }) => kind === "Deployment")).toMatchObject({
      name: "shop-web",
      namespace: world.namespace,
      desired: 2,
      ready: 2,
      created_at: expect.stringMatching(/^20/),
    });
    expect((await resources("other")).objects).toEqual([]);
  });

  test("[TE14] an object that was deleted behind the operator's back is shown as missing", async () => {
    await world.deploy([workload("web", { env: [{ name: "A", value: "1" }] })]);
    await world.seen(CALM);
    await world.apps.stop();
    await world.client.delete(await world.client.resourceTypeOf("v1", "ConfigMap"), "shop-web-env", world.namespace);
    const { objects } = await resources();
    expect(objects.filter(({ status }) => status === "missing").map(({ kind, name }) => [kind, name])).toEqual([
      ["ConfigMap", "shop-web-env"],
    ]);
  });

  test("[TE16] an app has the events about its own objects, and not those about others", async () => {
    await neighbours();
    await world.deploy([workload("web")]);
    await world.seen(CALM);
    const [pod] = (
      await world.client.list(PODS, { namespace: world.namespace, labelSelector: `${LABELS.app}=shop` })
    ).items.filter(({ metadata }) => metadata.ownerReferences !== undefined);
    const { name = "", uid } = pod?.metadata ?? {};
    const about = { kind: "Pod", namespace: world.namespace, name, uid };
    await world.client.create({
      apiVersion: "v1",
      kind: "Event",
      metadata: { name: `${name}.1`, namespace: world.namespace },
      involvedObject: about,
      reason: "BackOff",
      message: "Back-off restarting failed container",
      type: "Warning",
      count: 4,
      firstTimestamp: "2026-01-31T09:00:00Z",
      lastTimestamp: "2126-01-31T09:30:00Z",
    });
    const answer = await observe()({ name: "events", namespace: world.namespace, app: "shop" });
    if (!("events" in answer)) throw new Error("it answers something else");
    const { events } = answer.events;
    expect(events[0]).toEqual({
      type: "Warning",
      reason: "BackOff",
      message: "Back-off restarting failed container",
      count: 4,
      first_seen_at: "2026-01-31T09:00:00.000Z",
      last_seen_at: "2126-01-31T09:30:00.000Z",
      object: { kind: "Pod", name, component: "web" },
    });
    expect(events.map(({ reason }) => reason)).not.toContain("Stranger");
  });

  test("[TE18] the outlook of a deletion is what happens: an app loses its volumes, and those of a component are kept", async () => {
    await world.deploy([
      workload("web", { volumes: VOLUMES }),
      workload("db", { kind: "statefulset", volumes: VOLUMES }),
    ]);
    await world.seen(CALM);
    const claimNames = async () =>
      (await world.client.list(CLAIMS, { namespace: world.namespace })).items
        .map(({ metadata }) => metadata.name)
        .sort();
    const fates = ({ volumes }: Awaited<ReturnType<typeof outlook>>) =>
      volumes.map(({ claim, fate, kept_by }) => [claim, fate === "kept" ? kept_by : "goes"]).sort();
    expect(await claimNames()).toEqual(["data-shop-db-0", "shop-web-data"]);
    expect(fates(await outlook(["db"]))).toEqual([["data-shop-db-0", "app"]]);
    expect((await outlook(["db"])).objects.map(({ kind }) => kind).sort()).toEqual(["Service", "StatefulSet"]);

    await world.deploy([workload("web", { volumes: VOLUMES })]);
    await world.seen(CALM);
    await vi.waitFor(async () => expect(await world.get("apps/v1", "StatefulSet", "shop-db")).toBeNull(), WITHIN);
    expect(await claimNames()).toEqual(["data-shop-db-0", "shop-web-data"]);
    expect(fates(await outlook())).toEqual([
      ["data-shop-db-0", "goes"],
      ["shop-web-data", "goes"],
    ]);
    await world.remove();
    await vi.waitFor(() => expect(world.reports.at(-1)?.report).toEqual({ state: "gone" }), WITHIN);
    expect(await claimNames()).toEqual([]);
  });

  test("[TE18] the outlook of a project's deletion shows its whole namespace, but not a namespace of somebody else", async () => {
    const { client, namespace } = world;
    await world.project({});
    await vi.waitFor(() => expect(world.view.get("project", `project/${namespace}`)).not.toBeNull(), WITHIN);
    const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
    await client.create({
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: "theirs", namespace },
      spec,
    });
    const whole = { name: "deletion", namespace, app: null, components: null, addon_instance: null } as const;
    const going = await observe()(whole);
    expect(going).toMatchObject({
      deletion: { objects: [{ kind: "Namespace", name: namespace }], volumes: [{ claim: "theirs", kept_by: null }] },
    });
    const annotations = { [ANNOTATIONS.resourceId]: "01932c07-31f1-7a4e-8d8b-0000000000ff" };
    await client.apply(
      { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace, annotations } },
      { force: true },
    );
    expect(await observe()(whole)).toMatchObject({ deletion: { objects: [], volumes: [] } });
  });
});

describe.skipIf(!HELM)("components that are releases", { timeout: 180_000 }, () => {
  let world: AddonWorld;
  beforeEach(async () => {
    world = await addonWorld();
  });
  afterEach(() => world?.stop());

  /** The component `store` stands for the addon instance of the world. */
  const app = (): KubeObject => ({
    apiVersion: "binnacle.dev/v1alpha1",
    kind: "App",
    metadata: { name: "shop", namespace: world.namespace },
    spec: { components: [{ name: "store", type: "addon", addon_instance: "db" }] },
  });

  test("[TE14] [TE18] components that are releases show the release's objects, read with the rights of the operator's chart", async () => {
    const { kube, client, clusterId, view, podView, helmReleases, namespace } = world;
    await world.tell({ store: true, claims: true, password: "hush-hush" });
    await world.seen({ phase: "ready" });
    await client.create({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "db-tiny-theirs", namespace } });
    const observe = createObservations({
      kube,
      clusterId,
      view: { get: view.get, holder: (kind) => (kind === "app" ? app() : null) },
      helmReleases,
      pods: podView,
      nowMs: Date.now,
    });
    const answer = await vi.waitFor(async () => {
      const found = await observe({ name: "resources", namespace, app: "shop" });
      if (!("resources" in found)) throw new Error("it answers something else");
      expect(found.resources.objects.filter(({ kind }) => kind === "Pod")).toHaveLength(2);
      return found.resources;
    }, WITHIN);
    expect(lineage(answer.objects)).toEqual([
      "ConfigMap < store",
      "Deployment < store",
      "PersistentVolumeClaim < StatefulSet",
      "PersistentVolumeClaim < store",
      "Pod < ReplicaSet",
      "Pod < StatefulSet",
      "ReplicaSet < Deployment",
      "Secret < store",
      "Service < store",
      "StatefulSet < store",
    ]);
    expect(JSON.stringify(answer)).not.toMatch(/hush|theirs/);

    const ask = { name: "deletion", namespace, components: null } as const;
    expect(await observe({ ...ask, app: null, addon_instance: "db" })).toMatchObject({
      deletion: {
        objects: expect.arrayContaining([{ component: null, kind: "Deployment", name: "db-tiny", namespace }]),
        volumes: [
          { claim: "db-tiny", component: null, fate: "kept", kept_by: "chart" },
          { claim: "data-db-tiny-store-0", component: null, fate: "kept", kept_by: "release" },
        ],
      },
    });
    // The instance stays when an app that stands on it goes.
    expect(await observe({ ...ask, app: "shop", addon_instance: null })).toMatchObject({
      deletion: { objects: [], volumes: [] },
    });

    await world.forget();
    await vi.waitFor(() => expect(world.reports.at(-1)).toEqual({ state: "gone" }), WITHIN);
    const { items } = await client.list(CLAIMS, { namespace });
    expect(items.map(({ metadata }) => metadata.name).sort()).toEqual(["data-db-tiny-store-0", "db-tiny"]);
  });
});
