import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { promisify } from "node:util";
import { gunzipSync, gzipSync } from "node:zlib";
import type { RepositoryCredential } from "@binnacle/charts";
import {
  type AddonBody,
  type AddonReport,
  ANNOTATIONS,
  DEFAULT_POLICY,
  type DesiredBodies,
  type Gone,
  LABELS,
} from "@binnacle/contract";
import { expect, inject, vi } from "vitest";
import { hashOf } from "../desired/custom-resource.ts";
import { installDefinitions } from "../desired/definitions.fixture.ts";
import { createDesiredStore } from "../desired/desired.store.ts";
import { startDesiredView } from "../desired/desired-view.adapter.ts";
import { ownLabels } from "../desired/ownership.ts";
import { type ChartContent, serveCharts } from "../helm/chart.fixture.ts";
import { createChartAccounts } from "../helm/chart-account.store.ts";
import { createChartFiles } from "../helm/chart-file.adapter.ts";
import { createHelm } from "../helm/helm.adapter.ts";
import { HELM, watchedHelm } from "../helm/helm-program.fixture.ts";
import { startHelmReleases } from "../helm/helm-releases.reconciler.ts";
import { operatorAccount } from "../helm/operator-account.fixture.ts";
import { createReleases } from "../helm/releases.adapter.ts";
import { digestOf, releaseOfInstance, revisionLabels } from "../helm/revision.ts";
import type { ChartName } from "../helm/rights.ts";
import { startHostClaims } from "../hosts/host-claims.reconciler.ts";
import { KINDS } from "../kinds.ts";
import { createKubeClient } from "../kube/client.adapter.ts";
import { clusterClient, freshNamespace } from "../kube/cluster.fixture.ts";
import type { KubeObject } from "../kube/kube-client.ts";
import { kubeAccessFrom } from "../kube/kubeconfig.adapter.ts";
import { fieldsIn } from "../kube/object-fields.ts";
import { startPodView } from "../kube/pod-view.adapter.ts";
import { realClock } from "../kube/real-clock.adapter.ts";
import { ADDON_INSTANCES, PROJECTS, SECRETS } from "../kube/resource-types.ts";
import { createProjectRights } from "../project/project-rights.store.ts";
import { reconcilerFor } from "../reconcile/kind.reconciler.ts";
import { addonKind } from "./addon-kind.reconciler.ts";
import { createInstances } from "./instances.ts";

const PROJECT_ID = "01932c07-31f1-7a4e-8d8b-0000000000ab";
const declared = (from: AddonBody["spec"]["export_schema"][string]["from"], secret = false) => ({
  description: "It.",
  secret,
  from,
});
export const EXPORT_SCHEMA: AddonBody["spec"]["export_schema"] = {
  host: declared({ service: `\${fullname}` }),
  password: declared({ secret: `\${fullname}`, key: "password" }, true),
  url: declared({ value: `tiny://:\${exports.password|uri}@\${exports.host}` }, true),
};

export interface AddonWorldOptions {
  /** Besides the small one. */
  readonly charts?: Readonly<Record<string, ChartContent>>;
  /** Of the operator's chart. */
  readonly clusterWideCharts?: boolean;
  /** Annotations of ingress controllers that charts may use. */
  readonly ingressAnnotations?: readonly string[];
  /** Of private chart repositories. */
  readonly credentials?: readonly RepositoryCredential[];
}

/** What the operator logs and reports. */
function recorder() {
  const logged: string[] = [];
  const write = (fields: object, message: string) => {
    const { err } = fields as { readonly err?: Error };
    logged.push(`${message} ${JSON.stringify(fields)} ${err?.stack}`);
  };
  const reports: (AddonReport | Gone)[] = [];
  const generations: number[] = [];
  const sink = {
    report(_kind: string, subject: { readonly generation: number }, report: unknown) {
      reports.push(report as AddonReport | Gone);
      generations.push(subject.generation);
    },
  };
  return { logged, log: { info: write, warn: write }, reports, generations, sink };
}

/**
 * An operator of a cluster of its own, as far as addons go, with a namespace that nobody else uses. It has the rights that
 * its chart gives it and no others; `client` is an administrator's.
 */
export async function addonWorld({
  charts: others = {},
  clusterWideCharts = false,
  ingressAnnotations = [],
  credentials = [],
}: AddonWorldOptions = {}) {
  const client = await clusterClient();
  await installDefinitions(client);
  const clusterId = randomUUID();
  const account = await operatorAccount(client, { clusterId, clusterWideCharts });
  const access = { ...(await kubeAccessFrom({ KUBECONFIG: inject("kubeconfig") })), identity: account.identity };
  const kube = createKubeClient(access);
  const charts = await serveCharts(others);
  const helm = await watchedHelm();
  const { name: namespace, remove: removeNamespace } = await freshNamespace(client);
  const metadata = {
    name: namespace,
    labels: { ...ownLabels(clusterId), [LABELS.project]: PROJECT_ID },
    annotations: { [ANNOTATIONS.resourceId]: PROJECT_ID },
  };
  await client.apply({ apiVersion: "v1", kind: "Namespace", metadata }, { force: true });

  const { logged, log, reports, generations, sink } = recorder();
  const own = { kube, clusterId, clock: realClock };
  const projectRights = createProjectRights({ ...own, ...account, role: account.projectsRole });
  const ports = { ...own, kinds: KINDS, projectRights, nowMs: Date.now, log, sink };
  const podView = startPodView({ kube, log });
  await podView.synced;
  const view = startDesiredView(ports);
  await view.synced;
  const store = createDesiredStore({ ...ports, namespace });
  await tellProject();
  const hosts = startHostClaims({ ...ports, view });
  await hosts.synced;
  const key = `addon_instance/${namespace}/db`;
  const resource_id = randomUUID();
  let generation = 0;
  let allowed: readonly ChartName[] = [];

  /** Nothing reconciles it here. */
  async function tellProject({ suspended = false, told = 1 } = {}) {
    const held = suspended ? { suspended } : {};
    const spec = { org_id: randomUUID(), name: namespace, namespace, policy: DEFAULT_POLICY, ...held };
    const body: DesiredBodies["project"] = { spec, secret: {} };
    const named = { key: `project/${namespace}`, resource_id: PROJECT_ID, generation: told, hash: hashOf(body) };
    const frame = { type: "apply", id: randomUUID(), session: randomUUID(), kind: "project" } as const;
    expect(await store.apply({ ...frame, body, ...named })).toBeNull();
    await vi.waitFor(() => expect(view.get("project", named.key)?.generation).toBe(told));
  }

  /** Another process of the same operator is one with another holder. */
  function operator(holder: string) {
    const files = createChartFiles({ allowedHosts: ["127.0.0.1"], credentials: () => credentials });
    const program = createHelm({ program: helm.program, access, charts: files, env: process.env });
    const accounts = createChartAccounts({ ...ports, role: account.chartsRole });
    const rights = { clusterWideCharts: () => allowed, clusterWideUser: account.clusterWideUser };
    const settings = { drift_policy: "heal" } as const;
    const helmReleases = startHelmReleases({
      ...ports,
      helm: program,
      accounts,
      rights,
      hosts,
      ingressAnnotations,
      areBroadIngressesAllowed: false,
      holder,
      slots: 2,
      podView,
    });
    const instances = createInstances(view, helmReleases);
    const addons = reconcilerFor(addonKind, { ...ports, view, helmReleases, instances, settings });
    return {
      helmReleases,
      addons,
      releases: createReleases(helmReleases, instances),
      async stop() {
        await Promise.all([addons.stop(), helmReleases.stop()]);
      },
    };
  }
  let running = operator("first");

  const world = {
    client,
    /** With the rights of the operator's chart. */
    kube,
    view,
    podView,
    clusterId,
    namespace,
    key,
    helm,
    charts,
    reports,
    logged,
    hosts,
    /** Names charts that may have rights of the whole cluster. */
    allow(...names: readonly ChartName[]) {
      allowed = names;
    },
    get releases() {
      return running.releases;
    },
    get helmReleases() {
      return running.helmReleases;
    },
    get addons() {
      return running.addons;
    },

    tellProject,

    async tell(values: Record<string, unknown>, spec: Partial<AddonBody["spec"]> = {}) {
      generation += 1;
      const { chart } = charts;
      const body: AddonBody = {
        spec: { project_id: PROJECT_ID, namespace, name: "db", chart, export_schema: EXPORT_SCHEMA, ...spec },
        secret: { values },
      };
      const frame = { type: "apply", id: randomUUID(), session: randomUUID(), kind: "addon_instance", body } as const;
      expect(await store.apply({ ...frame, key, resource_id, generation, hash: hashOf(body) })).toBeNull();
    },

    /** Runs Helm as an operator with all rights has done, for what is told next. */
    async byAdmin(values: Readonly<Record<string, unknown>>, args: readonly string[]) {
      const id = releaseOfInstance(namespace, "db");
      const labels = revisionLabels(id, clusterId, { digest: digestOf({ chart: charts.chart, values }), version: 1 });
      const pairs = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
      const given = Object.entries(values).flatMap(([name, value]) => ["--set", `${name}=${String(value)}`]);
      const place = ["--kubeconfig", inject("kubeconfig"), "--namespace", namespace, "--labels", pairs.join(",")];
      await promisify(execFile)(HELM ?? "helm", [...args, ...place, ...given]);
    },

    async forget() {
      generation += 1;
      const frame = { type: "remove", id: randomUUID(), session: randomUUID(), kind: "addon_instance" } as const;
      expect(await store.remove({ ...frame, key, resource_id, generation })).toBeNull();
    },

    /** Waits for a report of the present generation that is like this. */
    async seen(expected: Record<string, unknown>, timeout = 40_000) {
      await vi.waitFor(
        () => {
          expect(reports.at(-1), JSON.stringify(reports.slice(-3))).toMatchObject(expected);
          expect(generations.at(-1)).toBe(generation);
        },
        { timeout, interval: 50 },
      );
    },

    /** The process of a Helm that is at work on this command. */
    async atWork(command: string, status: string) {
      return vi.waitFor(
        async () => {
          expect((await world.revisions()).at(-1)?.metadata.labels).toMatchObject({ status });
          const call = (await helm.calls()).findLast(({ args }) => args.startsWith(command));
          if (!call) throw new Error(`no Helm has begun to ${command}`);
          return call;
        },
        { timeout: 30_000, interval: 50 },
      );
    },

    async revisions(): Promise<readonly KubeObject[]> {
      const type = await client.resourceTypeOf("v1", "Secret");
      const labelSelector = "owner=helm,name=db";
      const { items } = await client.list(type, { namespace, labelSelector });
      return items.toSorted((one, other) => version(one) - version(other));
    },

    /** Changes the manifest in Helm's record of a revision. */
    async rewrite(revision: number, change: (manifest: string) => string) {
      const name = `sh.helm.release.v1.db.v${revision}`;
      const { release } = fieldsIn((await client.get(SECRETS, name, namespace))?.["data"]);
      const packed = Buffer.from(Buffer.from(String(release), "base64").toString(), "base64");
      const record = JSON.parse(gunzipSync(packed).toString()) as { readonly manifest: string };
      const changed = gzipSync(JSON.stringify({ ...record, manifest: change(record.manifest) })).toString("base64");
      const data = { release: Buffer.from(changed).toString("base64") };
      await client.patch(SECRETS, name, namespace, { data }, { kind: "merge" });
    },

    async get(apiVersion: string, kind: string, name: string): Promise<KubeObject | null> {
      return client.get(await client.resourceTypeOf(apiVersion, kind), name, namespace);
    },

    /** The operator ends, and another takes its place. */
    async restart(holder = "second") {
      await running.stop();
      running = operator(holder);
      running.addons.start();
    },

    async stop() {
      await running.stop();
      await hosts.stop();
      await podView.stop();
      await view.stop();
      charts.stop();
      await client.patch(PROJECTS, namespace, null, { metadata: { finalizers: null } }, { kind: "merge" });
      await client.delete(PROJECTS, namespace);
      const holder = await client.get(ADDON_INSTANCES, "db", namespace);
      const patch = { metadata: { finalizers: null } };
      if (holder) await client.patch(ADDON_INSTANCES, "db", namespace, patch, { kind: "merge" });
      await removeNamespace();
      await account.remove();
      await kube.close();
      await client.close();
      await helm.remove();
    },
  };
  running.addons.start();
  return world;
}
export type AddonWorld = Awaited<ReturnType<typeof addonWorld>>;

const version = ({ metadata }: KubeObject): number => Number(metadata.labels?.["version"]);
