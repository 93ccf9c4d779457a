import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { appKind } from "../app/app-kind.reconciler.ts";
import { standInReleases } from "../app/releases.fixture.ts";
import { createSyncProgress } from "../app/sync-progress.ts";
import { eventually, reported, startTestOperator, type TestOperator } from "../desired/cluster.fixture.ts";
import { applyApp, applyProject } from "../desired/frames.fixture.ts";
import { ownLabels } from "../desired/ownership.ts";
import { clusterClient, freshNamespace } from "../kube/cluster.fixture.ts";
import type { KubeObject, ResourceType } from "../kube/kube-client.ts";
import { statusOf } from "../kube/object-fields.ts";
import { startPodView } from "../kube/pod-view.adapter.ts";
import { realClock } from "../kube/real-clock.adapter.ts";
import { INGRESSES, PROJECTS } from "../kube/resource-types.ts";
import { ALL_RIGHTS } from "../project/project-rights.store.ts";
import { reconcilerFor } from "../reconcile/kind.reconciler.ts";
import { startHostClaims } from "./host-claims.reconciler.ts";

const HTTP_ROUTES: ResourceType = {
  group: "gateway.networking.k8s.io",
  version: "v1",
  plural: "httproutes",
  kind: "HTTPRoute",
  namespaced: true,
};
/** Kubernetes has no definition of its own for it. */
const HTTP_ROUTE_DEFINITION: KubeObject = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: {
    name: "httproutes.gateway.networking.k8s.io",
    annotations: { "api-approved.kubernetes.io": "https://github.com/kubernetes-sigs/gateway-api/pull/3328" },
  },
  spec: {
    group: HTTP_ROUTES.group,
    names: { kind: "HTTPRoute", listKind: "HTTPRouteList", plural: "httproutes", singular: "httproute" },
    scope: "Namespaced",
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ],
  },
};

const log = { info: () => undefined, warn: () => undefined };
let operator: TestOperator;
let pods: ReturnType<typeof startPodView>;
let apps: Pick<TestOperator, "stop"> & { start(): void };
beforeAll(async () => {
  const admin = await clusterClient();
  await admin.apply(HTTP_ROUTE_DEFINITION, { force: true });
  await eventually(() => admin.list(HTTP_ROUTES));
  await admin.close();
  operator = await startTestOperator();
  const { kube, view, sink, hosts, clusterId } = operator;
  pods = startPodView({ kube, log });
  await pods.synced;
  const syncProgress = createSyncProgress();
  syncProgress.syncEnded();
  const settings = { drift_policy: "heal" } as const;
  const own = {
    clusterId,
    projectRights: ALL_RIGHTS,
    podSecurityLimit: "privileged",
    appsAtOnce: 5,
    version: "1.0.0",
  } as const;
  const shared = { kube, view, sink, clock: realClock, log, ...own, nowMs: Date.now };
  const releases = standInReleases().port;
  apps = reconcilerFor(appKind, { ...shared, releases, pods, hosts, syncProgress, settings });
  apps.start();
});
afterAll(async () => {
  await apps?.stop();
  await pods?.stop();
  await operator?.stop();
});

async function project(base: string): Promise<string> {
  const name = operator.name(base);
  expect(await operator.store.apply(applyProject(name))).toBeNull();
  await reported(operator, `project/${name}`, "ready");
  return name;
}

const someHost = (name: string) => `${operator.name(name)}.hosts.test`;
const ingress = (namespace: string, host: string, more: Partial<KubeObject["metadata"]> = {}): KubeObject => ({
  apiVersion: "networking.k8s.io/v1",
  kind: "Ingress",
  metadata: { name: "made-by-a-pod", namespace, ...more },
  spec: { defaultBackend: { service: { name: "web", port: { number: 80 } } }, rules: [{ host }] },
});
const find = (namespace: string) => operator.kube.get(INGRESSES, "made-by-a-pod", namespace);
const holds = async (namespace: string, host: string) =>
  eventually(async () => {
    const found = await operator.kube.get(PROJECTS, namespace);
    expect(statusOf(found as KubeObject)["hosts"]).toHaveProperty([host]);
  });

async function deploy(namespace: string, host: string): Promise<string> {
  expect(await operator.store.apply(applyApp({ namespace, host }))).toBeNull();
  return `app/${namespace}/web`;
}
const last = (key: string) => operator.sink.of(key).at(-1)?.report;

describe("a route that something other than Binnacle makes in the namespace of a project", () => {
  test("[HE46] a route with the host of another project's app is removed, whatever labels the route has", async () => {
    const [shop, bank] = [await project("shop"), await project("bank")];
    const host = someHost("first");
    await deploy(shop, host);
    await holds(shop, host);
    const own = () => operator.kube.get(INGRESSES, "web-front", shop);
    // The project has the host before the app's own route is there.
    await eventually(async () => expect(await own()).not.toBeNull());
    const labels = { ...ownLabels(operator.clusterId), "binnacle.dev/app": "web" };
    await operator.kube.create(ingress(bank, host, { labels }));
    await eventually(async () => expect(await find(bank)).toBeNull());
    const message = expect.stringContaining(`Ingress made-by-a-pod was removed, because it asked for the host ${host}`);
    await eventually(() => expect(last(`project/${bank}`)).toMatchObject({ state: "apply_failed", message }));
    expect(await own()).not.toBeNull();
  });

  test("[HE46] a route stays until its host is changed to one of another project, and is removed then", async () => {
    const [shop, bank] = [await project("shop-2"), await project("bank-2")];
    const [host, free] = [someHost("second"), someHost("free")];
    await operator.kube.create(ingress(bank, free));
    await holds(bank, free);
    await deploy(shop, host);
    await holds(shop, host);
    const rules = [{ host }];
    await operator.kube.patch(INGRESSES, "made-by-a-pod", bank, { spec: { rules } }, { kind: "merge" });
    await eventually(async () => expect(await find(bank)).toBeNull());
  });

  test("[HE46] an HTTPRoute with the host of another project is removed", async () => {
    const [shop, bank] = [await project("shop-3"), await project("bank-3")];
    const host = someHost("third");
    await deploy(shop, host);
    await holds(shop, host);
    const route = { apiVersion: "gateway.networking.k8s.io/v1", kind: "HTTPRoute" };
    const metadata = { name: "made-by-a-pod", namespace: bank };
    await operator.kube.create({ ...route, metadata, spec: { hostnames: [host] } });
    await eventually(async () => expect(await operator.kube.get(HTTP_ROUTES, metadata.name, bank)).toBeNull());
  });

  test("[HE46] a route stays where the namespace is not the project's own", async () => {
    const shop = await project("shop-7");
    const host = someHost("seventh");
    await deploy(shop, host);
    await holds(shop, host);
    const theirs = await freshNamespace(operator.kube);
    expect(await operator.store.apply(applyProject(theirs.name))).toBeNull();
    await reported(operator, `project/${theirs.name}`, "namespace_conflict");
    await operator.kube.create(ingress(theirs.name, host));
    await eventually(() => expect(operator.hosts.takenByOthers(theirs.name, [host])).toEqual([host]));
    const sentinel = someHost("sentinel-7");
    await operator.kube.create(ingress(shop, sentinel));
    await holds(shop, sentinel);
    expect(await find(theirs.name)).not.toBeNull();
    await theirs.remove();
  });

  test("[HE46] a route stays where its namespace belongs to no project", async () => {
    const shop = await project("shop-4");
    const host = someHost("fourth");
    await deploy(shop, host);
    await holds(shop, host);
    const object = { ...ingress("default", host), metadata: { name: operator.name("admin"), namespace: "default" } };
    await operator.kube.create(object);
    const sentinel = someHost("sentinel");
    await operator.kube.create(ingress(shop, sentinel));
    await holds(shop, sentinel);
    expect(await operator.kube.get(INGRESSES, object.metadata.name, "default")).not.toBeNull();
    await operator.kube.delete(INGRESSES, object.metadata.name, "default");
  });
});

describe("a host that a chart of another project serves", () => {
  test("[AO70] an app with a host that a chart of another project serves fails without being applied, until the host is free", async () => {
    const [shop, bank] = [await project("shop-5"), await project("bank-5")];
    const host = someHost("fifth");
    await operator.kube.create(ingress(bank, host));
    await holds(bank, host);
    await eventually(() => expect(last(`project/${bank}`)).toMatchObject({ state: "ready", hosts: [host] }));
    const key = await deploy(shop, host);
    const message = expect.stringContaining(`asks for the host ${host}, which another namespace`);
    await eventually(() => expect(last(key)).toMatchObject({ phase: "failed", reason: "HostTaken", message }));
    const deployments = await operator.kube.resourceTypeOf("apps/v1", "Deployment");
    expect(await operator.kube.get(deployments, "web-front", shop)).toBeNull();
    expect(await operator.kube.get(INGRESSES, "web-front", shop)).toBeNull();
    expect(await find(bank)).not.toBeNull();
    await operator.kube.delete(INGRESSES, "made-by-a-pod", bank);
    await eventually(async () => expect(await operator.kube.get(INGRESSES, "web-front", shop)).not.toBeNull());
    await holds(shop, host);
  });
});

describe("an operator that was away", () => {
  test("[HE47] an operator that was stopped knows afterwards who had a host, however old a route changed meanwhile is", async () => {
    const [shop, bank] = [await project("shop-6"), await project("bank-6")];
    const [host, free] = [someHost("sixth"), someHost("sixth-free")];
    await operator.kube.create(ingress(bank, free));
    await holds(bank, free);
    await operator.kube.create(ingress(shop, host));
    await holds(shop, host);
    await operator.hosts.stop();
    await operator.kube.patch(INGRESSES, "made-by-a-pod", bank, { spec: { rules: [{ host }] } }, { kind: "merge" });
    const { kube, view, clusterId } = operator;
    const again = startHostClaims({
      kube,
      view,
      clusterId,
      projectRights: ALL_RIGHTS,
      clock: realClock,
      nowMs: Date.now,
      log,
    });
    await eventually(async () => expect(await find(bank)).toBeNull());
    expect(await find(shop)).not.toBeNull();
    await again.stop();
  });
});
