import { randomUUID } from "node:crypto";
import { FINALIZER, type PodSecurity, type Reports } from "@binnacle/contract";
import { inject, vi } from "vitest";
import { createChartAccounts } from "../helm/chart-account.store.ts";
import { startHostClaims } from "../hosts/host-claims.reconciler.ts";
import { KINDS } from "../kinds.ts";
import { createKubeClient } from "../kube/client.adapter.ts";
import type { KubeClient } from "../kube/kube-client.ts";
import { kubeAccessFrom } from "../kube/kubeconfig.adapter.ts";
import { realClock } from "../kube/real-clock.adapter.ts";
import { ADDON_INSTANCES, APPS, NAMESPACES, PROJECTS, SECRETS } from "../kube/resource-types.ts";
import type { ServiceAccountName } from "../kube/role-binding.ts";
import type { Clock } from "../kube/work-queue.ts";
import type { StatusSink, Subject } from "../link/ports.ts";
import { projectKind } from "../project/project-kind.reconciler.ts";
import { ALL_RIGHTS, createProjectRights } from "../project/project-rights.store.ts";
import { pullSecretsKind } from "../pull-secrets/pull-secrets-kind.reconciler.ts";
import { reconcilerFor } from "../reconcile/kind.reconciler.ts";
import { installDefinitions } from "./definitions.fixture.ts";
import { createDesiredStore } from "./desired.store.ts";
import { startDesiredView } from "./desired-view.adapter.ts";
import { ownSelector } from "./ownership.ts";

type Report = Reports[keyof Reports];

/** Remembers the reports of each key, oldest first. */
export function createRecorder(): StatusSink & { of(key: string): readonly (Subject & { report: Report })[] } {
  const seen = new Map<string, (Subject & { report: Report })[]>();
  return {
    report: (_kind, { key, resource_id, generation }, report) => {
      seen.set(key, [...(seen.get(key) ?? []), { key, resource_id, generation, report }]);
    },
    of: (key) => seen.get(key) ?? [],
  };
}

/** It looks again at what is not watched after 3 seconds instead of 15. */
const FASTER = 5;
const clock: Clock = {
  now: () => realClock.now() * FASTER,
  after: (ms, callback) => realClock.after(ms / FASTER, callback),
};

const silent = { info: () => undefined, warn: () => undefined };

interface TestOperatorOptions {
  readonly kubeconfig?: string;
  /** With whose rights it works; an administrator's unless told. */
  readonly as?: KubeClient;
  readonly clusterId?: string;
  /** The account that `as` is, and the roles that the operator's chart has brought. */
  readonly installed?: {
    readonly account: ServiceAccountName;
    readonly projectsRole: string;
    readonly chartsRole: string;
  };
  readonly podSecurityLimit?: PodSecurity;
  /** It only stores what it is sent. */
  readonly isIdle?: boolean;
}

/** An operator of a cluster of its own, as far as it keeps what it is told and makes namespaces and pull secrets. */
export async function startTestOperator({
  kubeconfig = inject("kubeconfig"),
  as,
  clusterId = randomUUID(),
  installed,
  podSecurityLimit = "privileged",
  isIdle = false,
}: TestOperatorOptions = {}) {
  const admin = createKubeClient(await kubeAccessFrom({ KUBECONFIG: kubeconfig }));
  await installDefinitions(admin);
  const kube = as ?? admin;
  const sink = createRecorder();
  const damaged: string[] = [];
  const projectRights = installed
    ? createProjectRights({ kube, clusterId, account: installed.account, role: installed.projectsRole, clock })
    : ALL_RIGHTS;
  const own = { clusterId, projectRights, podSecurityLimit };
  const ports = { kube, kinds: KINDS, ...own, sink, clock, log: silent, nowMs: Date.now };
  // It gives up after a time, which a busy machine needs.
  const store = createDesiredStore({
    ...ports,
    clock: realClock,
    namespace: installed?.account.namespace ?? "default",
    namespaceWaitMs: 3_000,
  });
  const view = startDesiredView({ ...ports, onDamaged: (key) => damaged.push(key) });
  await view.synced;
  const accounts = createChartAccounts({ ...ports, role: installed?.chartsRole ?? "binnacle-charts" });
  const hosts = startHostClaims({ ...ports, view });
  await hosts.synced;
  const reconcilers = [
    reconcilerFor(projectKind, { ...ports, accounts, hosts, view }),
    reconcilerFor(pullSecretsKind, { ...ports, view }),
  ];
  if (!isIdle) for (const reconciler of reconcilers) reconciler.start();

  return {
    kube: admin,
    clusterId,
    projectRights,
    store,
    view,
    sink,
    damaged,
    hosts,
    /** A name that no other test has. */
    name: (base: string) => `${base}-${clusterId.slice(0, 8)}`,
    async stop() {
      await Promise.all(reconcilers.map((reconciler) => reconciler.stop()));
      await hosts.stop();
      await view.stop();
      await sweep(admin, clusterId);
      await admin.close();
    },
  };
}
export type TestOperator = Awaited<ReturnType<typeof startTestOperator>>;

/** Takes away what is left of a test, whatever holds it. */
async function sweep(kube: KubeClient, clusterId: string): Promise<void> {
  const labelSelector = ownSelector(clusterId);
  for (const type of [APPS, ADDON_INSTANCES, PROJECTS, SECRETS, NAMESPACES]) {
    for (const { metadata } of (await kube.list(type, { labelSelector })).items) {
      await kube.delete(type, metadata.name, metadata.namespace);
      if (!metadata.finalizers?.includes(FINALIZER)) continue;
      const patch = { metadata: { finalizers: null } };
      await kube.patch(type, metadata.name, metadata.namespace, patch, { kind: "merge" }).catch(() => undefined);
    }
  }
}

/** As long as a busy machine may take for what is quick otherwise. */
export const eventually = <T>(observe: () => Promise<T> | T, timeoutMs = 30_000): Promise<T> =>
  vi.waitFor(observe, { timeout: timeoutMs, interval: 100 });

/** Waits until the newest report of a key is of this state. */
export async function reported(operator: TestOperator, key: string, state: string, timeoutMs = 40_000) {
  return vi.waitFor(
    () => {
      const last = operator.sink.of(key).at(-1);
      if (last?.report && "state" in last.report && last.report.state === state) return last;
      throw new Error(`${key} is ${JSON.stringify(last?.report ?? "not reported")} and not ${state}`);
    },
    { timeout: timeoutMs, interval: 50 },
  );
}
