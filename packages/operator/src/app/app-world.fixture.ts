import { randomUUID } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import {
  ANNOTATIONS,
  type AppBody,
  type AppReport,
  DEFAULT_POLICY,
  type DesiredBodies,
  type DesiredComponent,
  type DesiredPolicy,
  type Gone,
  LABELS,
} from "@binnacle/contract";
import { load } from "js-yaml";
import { expect, vi } from "vitest";
import { hashOf } from "../desired/custom-resource.ts";
import { createDesiredStore } from "../desired/desired.store.ts";
import { startDesiredView } from "../desired/desired-view.adapter.ts";
import { ownLabels } from "../desired/ownership.ts";
import { FREE_HOSTS } from "../hosts/host-claims.fixture.ts";
import { KINDS } from "../kinds.ts";
import { clusterClient, freshNamespace } from "../kube/cluster.fixture.ts";
import type { KubeClient, KubeObject } from "../kube/kube-client.ts";
import { specOf } from "../kube/object-fields.ts";
import { startPodView } from "../kube/pod-view.adapter.ts";
import { realClock } from "../kube/real-clock.adapter.ts";
import { APPS, PROJECTS, SECRETS } from "../kube/resource-types.ts";
import { ALL_RIGHTS } from "../project/project-rights.store.ts";
import { reconcilerFor } from "../reconcile/kind.reconciler.ts";
import { appKind } from "./app-kind.reconciler.ts";
import { standInReleases } from "./releases.fixture.ts";
import { createSyncProgress } from "./sync-progress.ts";

const DEFINITIONS = new URL("../../../../deploy/charts/binnacle-operator/files/crds/", import.meta.url);
const PROJECT_ID = "01932c07-31f1-7a4e-8d8b-0000000000aa";
export const QUIET = { info: () => undefined, warn: () => undefined };

async function installDefinitions(client: KubeClient): Promise<void> {
  for (const file of await readdir(DEFINITIONS)) {
    await client.apply(load(await readFile(new URL(file, DEFINITIONS), "utf8")) as KubeObject, { force: true });
  }
  await vi.waitFor(async () => client.list(APPS), { timeout: 20_000 });
}

export interface DeployOptions {
  /** Another app than that of the world. */
  readonly app?: string;
  readonly generation?: number;
  readonly paused?: boolean;
  readonly take_over?: boolean;
  readonly suspended?: boolean;
  readonly secrets?: AppBody["secret"]["secrets"];
}

/** The images are those that a real node of the tests has. The one of a job ends at once. */
export const workload = (name: string, spec: DesiredComponent["workload_spec"] = {}): DesiredComponent => ({
  name,
  type: "workload",
  workload_spec: { image: spec?.kind === "job" ? "done:1" : "nginx:1.29", ...spec },
});

export const WEB = workload("web", { replicas: 2, ports: [{ name: "http", port: 80 }] });

/** Each app keeps its id. */
function createResourceIds(): (app: string) => string {
  const ids = new Map<string, string>();
  return (app) => {
    const id = ids.get(app) ?? randomUUID();
    ids.set(app, id);
    return id;
  };
}

/** What an app reports that runs as it was asked for. */
export const CALM = { phase: "running", drift: { state: "in_sync" } };

/** An operator of a cluster of its own, as far as apps go, with one app in a namespace that nobody else uses. */
export async function appWorld({ name = "shop", log = QUIET } = {}) {
  const client = await clusterClient();
  await installDefinitions(client);
  const clusterId = randomUUID();
  const { name: namespace, remove: removeNamespace } = await freshNamespace(client);
  const metadata = {
    name: namespace,
    labels: { ...ownLabels(clusterId), [LABELS.project]: PROJECT_ID },
    annotations: { [ANNOTATIONS.resourceId]: PROJECT_ID },
  };
  await client.apply({ apiVersion: "v1", kind: "Namespace", metadata }, { force: true });

  const key = `app/${namespace}/${name}`;
  const resourceIdOf = createResourceIds();
  const reports: { readonly generation: number; readonly report: AppReport | Gone }[] = [];
  const sink = {
    report: (_kind: string, { generation }: { generation: number }, report: unknown) => {
      reports.push({ generation, report: report as AppReport | Gone });
    },
  };
  const shared = { kube: client, kinds: KINDS, clusterId, sink, projectRights: ALL_RIGHTS, clock: realClock, log };
  const view = startDesiredView(shared);
  await view.synced;
  const store = createDesiredStore({ ...shared, namespace });
  const pods = startPodView({ kube: client, log });
  await pods.synced;
  const releases = standInReleases();
  const syncProgress = createSyncProgress();
  syncProgress.syncEnded();
  const ports = {
    ...shared,
    view,
    releases: releases.port,
    pods,
    hosts: FREE_HOSTS,
    syncProgress,
    nowMs: Date.now,
    podSecurityLimit: "privileged",
    appsAtOnce: 5,
    version: "1.0.0",
    settings: { drift_policy: "heal" },
  } as const;
  let generation = 0;

  const world = {
    client,
    clusterId,
    namespace,
    key,
    view,
    ports,
    reports,
    releases,
    /** The hub has sent everything, unless a test says otherwise. */
    syncProgress,
    /** Never started: for single runs. */
    reconciler: reconcilerFor(appKind, ports),
    apps: reconcilerFor(appKind, ports),

    async deploy(components: readonly DesiredComponent[], options: DeployOptions = {}) {
      generation = options.generation ?? generation + 1;
      const { app = name, paused = false, take_over = false, secrets = {}, suspended } = options;
      const said = { paused, take_over, ...(suspended ? { suspended } : {}) };
      const body: AppBody = {
        spec: { project_id: PROJECT_ID, namespace, name: app, ...said, components: [...components] },
        secret: { secrets, values: {} },
      };
      const own = { key: `app/${namespace}/${app}`, resource_id: resourceIdOf(app), generation };
      const frame = { type: "apply", id: randomUUID(), session: randomUUID(), kind: "app", body, ...own } as const;
      expect(await store.apply({ ...frame, hash: hashOf(body) })).toBeNull();
      await vi.waitFor(() => expect(view.get("app", own.key)?.generation).toBe(generation));
      return generation;
    },

    /** Stores the project as the hub sends it. Nothing reconciles it here. */
    async project(policy: Partial<DesiredPolicy>, { suspended = false, generation: told = 1 } = {}) {
      const held = suspended ? { suspended } : {};
      const fence = { ...DEFAULT_POLICY, ...policy };
      const spec = { org_id: randomUUID(), name: namespace, namespace, policy: fence, ...held };
      const body: DesiredBodies["project"] = { spec, secret: {} };
      const named = { key: `project/${namespace}`, resource_id: PROJECT_ID, generation: told, hash: hashOf(body) };
      const frame = { type: "apply", id: randomUUID(), session: randomUUID(), kind: "project" } as const;
      expect(await store.apply({ ...frame, body, ...named })).toBeNull();
      await vi.waitFor(() => expect(view.get("project", named.key)?.generation).toBe(told));
    },

    /** Stores the pull secrets of the namespace as the hub sends them. */
    async registries(names: readonly string[]) {
      const registries = names.map((one) => ({ name: one, server: "r.example.com", username: "u", password: "p" }));
      const spec = { project_id: PROJECT_ID, namespace, names: [...names] };
      const body: DesiredBodies["registry_secrets"] = { spec, secret: { registries } };
      const named = {
        key: `registry_secrets/${namespace}`,
        resource_id: PROJECT_ID,
        generation: 1,
        hash: hashOf(body),
      };
      const frame = { type: "apply", id: randomUUID(), session: randomUUID(), kind: "registry_secrets" } as const;
      expect(await store.apply({ ...frame, body, ...named })).toBeNull();
    },

    async remove() {
      generation += 1;
      const frame = { type: "remove", id: randomUUID(), session: randomUUID(), kind: "app" } as const;
      expect(await store.remove({ ...frame, key, resource_id: resourceIdOf(name), generation })).toBeNull();
    },

    /** Waits for a report of the present generation that is like this. */
    async seen(expected: Record<string, unknown>, timeout = 30_000) {
      await vi.waitFor(() => expect(reports.at(-1)).toMatchObject({ generation, report: expected }), { timeout });
    },

    async get<T extends KubeObject = KubeObject>(apiVersion: string, kind: string, objectName: string) {
      return client.get<T>(await client.resourceTypeOf(apiVersion, kind), objectName, namespace);
    },

    async replicas(objectName: string): Promise<unknown> {
      const deployment = await world.get("apps/v1", "Deployment", objectName);
      return deployment && specOf(deployment)["replicas"];
    },

    /** Changes an object as `kubectl edit` does. */
    async edit(apiVersion: string, kind: string, objectName: string, patch: unknown, fieldManager = "kubectl-edit") {
      const type = await client.resourceTypeOf(apiVersion, kind);
      await client.patch(type, objectName, namespace, patch, { kind: "merge", fieldManager });
    },

    async stop() {
      await world.apps.stop();
      await pods.stop();
      await view.stop();
      await releaseFinalizers(client, namespace);
      await removeNamespace();
      await client.close();
    },
  };

  return world;
}
export type AppWorld = Awaited<ReturnType<typeof appWorld>>;

/** Nobody is left to take them away, and the namespace would wait for them forever. */
async function releaseFinalizers(client: KubeClient, namespace: string): Promise<void> {
  for (const [type, holder, place] of [
    ...(await client.list(APPS, { namespace })).items.map((app) => [APPS, app.metadata.name, namespace] as const),
    [SECRETS, "binnacle-registries", namespace],
    [PROJECTS, namespace, null],
  ] as const) {
    if (!(await client.get(type, holder, place))) continue;
    await client.patch(type, holder, place, { metadata: { finalizers: null } }, { kind: "merge" });
    if (place === null) await client.delete(type, holder);
  }
}
