import { randomUUID } from "node:crypto";
import type { Tracer } from "@binnacle/tracing";
import { createInstances } from "./addon/instances.ts";
import { createSyncProgress } from "./app/sync-progress.ts";
import type { Config } from "./config.ts";
import { createDesiredStore } from "./desired/desired.store.ts";
import { startDesiredView } from "./desired/desired-view.adapter.ts";
import { createChartAccounts } from "./helm/chart-account.store.ts";
import { createChartFiles } from "./helm/chart-file.adapter.ts";
import { openChartRepositories } from "./helm/chart-repositories.store.ts";
import { createHelm } from "./helm/helm.adapter.ts";
import { startHelmReleases } from "./helm/helm-releases.reconciler.ts";
import { createReleases } from "./helm/releases.adapter.ts";
import { accountUser } from "./helm/rights.ts";
import { startHostClaims } from "./hosts/host-claims.reconciler.ts";
import { KINDS } from "./kinds.ts";
import { createKubeClient } from "./kube/client.adapter.ts";
import type { KubeAccess } from "./kube/kube-access.ts";
import { startPodView } from "./kube/pod-view.adapter.ts";
import { realClock as clock } from "./kube/real-clock.adapter.ts";
import { type Link, startLink } from "./link/link.adapter.ts";
import { createEventOutbox, createStatusOutbox } from "./link/outbox.ts";
import type { LinkLog } from "./link/ports.ts";
import { createMemoryTokenStore, createSecretTokenStore } from "./link/token.adapter.ts";
import { createChangeTraces } from "./reconcile/change-traces.ts";
import { reconcilerFor } from "./reconcile/kind.reconciler.ts";
import { startFacts } from "./telemetry/facts.adapter.ts";
import { startTelemetry } from "./telemetry/telemetry.adapter.ts";
import { OPERATOR_VERSION } from "./version.ts";

export interface Operator {
  /** Ends the session with the hub first, so that nothing new comes, and then waits for what is under way. */
  stop(): Promise<void>;
}

export interface OperatorPorts {
  readonly access: KubeAccess;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: LinkLog;
  /** Null, or missing, where tracing is off. Whoever opened it stops it. */
  readonly tracer?: Tracer | null;
}

/**
 * Resolves once the stored resources are read and reconciled; it does not need the hub. Rejects, and leaves nothing
 * running, while the cluster does not answer.
 */
export async function startOperator(
  config: Config,
  { access, env, log, tracer = null }: OperatorPorts,
): Promise<Operator> {
  const { clusterId, namespace, tokenSecret, clusterChartsAccount, secrets } = config;
  const kube = createKubeClient(access);
  const outbox = createStatusOutbox(randomUUID);
  const events = createEventOutbox();
  const traces = createChangeTraces({ tracer, sink: outbox, nowMs: Date.now });
  const { sink } = traces;
  const ports = { kube, kinds: KINDS, clusterId, namespace, sink, traces, clock, nowMs: Date.now, log };
  let link: Link | null = null;
  const closing = async (error: unknown): Promise<never> => {
    await kube.close();
    throw error;
  };

  const store = createDesiredStore(ports);
  const { settings } = await store.memory().catch(closing);
  const repositories = await openChartRepositories(ports).catch(closing);
  const facts = await startFacts(ports).catch(closing);
  const view = startDesiredView({ ...ports, onDamaged: () => link?.renew() });
  await view.synced;

  const pods = startPodView({ kube, log });
  await pods.synced;
  const hosts = startHostClaims({ ...ports, view });
  await hosts.synced;

  const charts = createChartFiles({ allowedHosts: config.chartHosts, credentials: repositories.current });
  const helm = createHelm({ program: config.helm, access, charts, env });
  const accounts = createChartAccounts({ ...ports, role: config.chartsRole });
  const rights = {
    clusterWideCharts: (place: string) =>
      view.get("project", `project/${place}`)?.spec.policy?.cluster_wide_charts ?? [],
    clusterWideUser: clusterChartsAccount ? accountUser(namespace, clusterChartsAccount) : null,
  };
  const helmReleases = startHelmReleases({
    ...ports,
    helm,
    accounts,
    rights,
    hosts,
    ingressAnnotations: config.ingressAnnotations,
    holder: `operator-${randomUUID()}`,
    podView: pods,
  });
  const instances = createInstances(view, helmReleases);
  const releases = createReleases(helmReleases, instances);
  const syncProgress = createSyncProgress();
  const kindPorts = {
    ...ports,
    view,
    accounts,
    helmReleases,
    instances,
    releases,
    pods,
    hosts,
    syncProgress,
    settings,
  };
  const reconcilers = KINDS.map((kind) => reconcilerFor(kind, kindPorts));
  for (const reconciler of reconcilers) reconciler.start();

  const tokens = tokenSecret
    ? createSecretTokenStore(secrets.token, { kube, namespace, name: tokenSecret }, log)
    : createMemoryTokenStore(secrets.token, log);
  const { prometheusUrl } = config;
  const releasePods = helmReleases.pods;
  const seen = { view, facts, releasePods, helmReleases, pods };
  const telemetry = startTelemetry({ ...ports, ...seen, prometheusUrl, events, random: Math.random });
  const started = startLink({
    hubUrl: config.hubUrl,
    operatorVersion: OPERATOR_VERSION,
    store: {
      ...store,
      apply(frame) {
        syncProgress.received(frame.key);
        traces.received(frame);
        return store.apply(frame);
      },
      remove(frame) {
        traces.received(frame);
        return store.remove(frame);
      },
    },
    onSyncEnd: syncProgress.syncEnded,
    outbox,
    events,
    answerer: telemetry.answerer,
    commands: {
      resync() {
        for (const reconciler of reconcilers) reconciler.resync();
      },
      settings(changed) {
        for (const reconciler of reconcilers) reconciler.settings(changed);
      },
      chartRepositories: repositories.update,
    },
    tokens,
    facts: facts.current,
    clock,
    random: Math.random,
    newId: randomUUID,
    log,
  });
  link = started;

  return {
    async stop() {
      await started.stop();
      await repositories.settled();
      await telemetry.stop();
      await Promise.all(reconcilers.map((reconciler) => reconciler.stop()));
      await Promise.all([helmReleases.stop(), hosts.stop(), pods.stop(), view.stop(), facts.stop()]);
      await kube.close();
    },
  };
}
