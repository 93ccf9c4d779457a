import { randomUUID } from "node:crypto";
import type { Tracer } from "@binnacle/tracing";
import { createInstances } from "./addon/instances.ts";
import { createSyncProgress, type SyncProgress } from "./app/sync-progress.ts";
import type { Config } from "./config.ts";
import { createDesiredStore } from "./desired/desired.store.ts";
import type { DesiredStore, DesiredView } from "./desired/desired-state.ts";
import { startDesiredView } from "./desired/desired-view.adapter.ts";
import { createDetachment } from "./detach/detach.adapter.ts";
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
import type { KubeClient } from "./kube/kube-client.ts";
import { startPodView } from "./kube/pod-view.adapter.ts";
import { realClock as clock } from "./kube/real-clock.adapter.ts";
import { withWatchSilence } from "./kube/watch-silence.ts";
import { type Link, startLink } from "./link/link.adapter.ts";
import { createEventOutbox, createStatusOutbox } from "./link/outbox.ts";
import type { LinkLog } from "./link/ports.ts";
import { createMemoryTokenStore, createSecretTokenStore } from "./link/token.adapter.ts";
import { permitted } from "./permitted.ts";
import { ALL_RIGHTS, createProjectRights, type ProjectRights } from "./project/project-rights.store.ts";
import { type ChangeTraces, createChangeTraces } from "./reconcile/change-traces.ts";
import { reconcilerFor } from "./reconcile/kind.reconciler.ts";
import type { ReconcileMetrics } from "./reconcile/metrics.ts";
import { startFacts } from "./telemetry/facts.adapter.ts";
import { startTelemetry } from "./telemetry/telemetry.adapter.ts";
import { type SelfUpgrade, startSelfUpgrade } from "./upgrade/self-upgrade.reconciler.ts";
import { OPERATOR_VERSION } from "./version.ts";

export interface Operator {
  /** Whether the hub has taken it in. */
  readonly isConnected: boolean;
  /** Ends the session with the hub first, so that nothing new comes, and then waits for what is under way. */
  stop(): Promise<void>;
}

export interface OperatorPorts {
  readonly access: KubeAccess;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: LinkLog;
  /** Null, or missing, where tracing is off. Whoever opened it stops it. */
  readonly tracer?: Tracer | null;
  readonly metrics?: ReconcileMetrics;
}

/**
 * Resolves once the stored resources are read and reconciled; it does not need the hub. Rejects, and leaves nothing
 * running, while the cluster does not answer.
 */
export async function startOperator(
  config: Config,
  { access, env, log, tracer = null, metrics }: OperatorPorts,
): Promise<Operator> {
  const { clusterId, namespace, tokenSecret, secrets } = config;
  const kube = measuredClient(access, metrics);
  const outbox = createStatusOutbox(randomUUID);
  const events = createEventOutbox();
  const traces = createChangeTraces({ tracer, sink: outbox, nowMs: Date.now });
  const { sink } = traces;
  const projectRights = rightsOf(config, kube);
  const ports = { kube, kinds: KINDS, clusterId, namespace, projectRights, sink, traces, clock, nowMs: Date.now, log };
  let link: Link | null = null;
  let selfUpgrade: SelfUpgrade | null = null;
  const closing = async (error: unknown): Promise<never> => {
    await selfUpgrade?.stop();
    await kube.close();
    throw error;
  };

  // First of all: an image that fails in what follows is taken back when it is started again.
  selfUpgrade = await upgradeOf(config, { ...ports, isConnected: () => link?.isLive ?? false }).catch(closing);
  const store = createDesiredStore(ports);
  const { settings, isDetaching = false } = await store.memory().catch(closing);
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
  const helmReleases = startHelmReleases({
    ...ports,
    ...chartSettings(config, view),
    helm,
    accounts,
    hosts,
    holder: `operator-${randomUUID()}`,
    podView: pods,
  });
  metrics?.helm(helmReleases.load);
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
    podSecurityLimit: config.podSecurityLimit,
    appsAtOnce: config.appsAtOnce,
    version: OPERATOR_VERSION,
    ...(metrics ? { metrics } : {}),
  };
  const reconcilers = KINDS.map((kind) => reconcilerFor(kind, kindPorts));
  const stopReconciling = once(async () => {
    await Promise.all(reconcilers.map((reconciler) => reconciler.stop()));
  });
  const stopWork = once(async () => {
    await stopReconciling();
    await Promise.all([helmReleases.stop(), hosts.stop()]);
  });
  const finishWork = async () => {
    await Promise.all([helmReleases.finish(), stopReconciling()]);
    await stopWork();
  };
  const detachment = createDetachment({ ...ports, store, finishWork });
  if (isDetaching) detachment.resume();
  else for (const reconciler of reconcilers) reconciler.start();

  const tokens = tokenSecret
    ? createSecretTokenStore(secrets.token, { kube, namespace, name: tokenSecret }, log)
    : createMemoryTokenStore(secrets.token, log);
  const seen = { view, facts, releasePods: helmReleases.pods, helmReleases, pods, prometheusUrl: config.prometheusUrl };
  const telemetry = startTelemetry({ ...ports, ...seen, events, random: Math.random });
  const answerer = permitted(telemetry.answerer, config);
  const started = startLink({
    hubUrl: config.hubUrl,
    hubProxy: config.hubProxy,
    operatorVersion: OPERATOR_VERSION,
    store: { ...detachment.guarded(noticed(store, { syncProgress, traces })), inventory: view.inventory },
    onSyncEnd: syncProgress.syncEnded,
    outbox,
    events,
    answerer: { ...answerer, detach: detachment.answer, ...(selfUpgrade ? { upgrade: selfUpgrade.answer } : {}) },
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
    get isConnected() {
      return started.isLive;
    },
    async stop() {
      await selfUpgrade?.stop();
      await started.stop();
      await repositories.settled();
      await telemetry.stop();
      await stopWork();
      await Promise.all([pods.stop(), view.stop(), facts.stop()]);
      await kube.close();
    },
  };
}

function measuredClient(access: KubeAccess, metrics: ReconcileMetrics | undefined): KubeClient {
  const { kube, silences } = withWatchSilence(createKubeClient(access), clock.now);
  metrics?.watches(silences);
  return kube;
}

/** The store, whose frames are known to whoever waits for them. */
function noticed(
  store: DesiredStore,
  { syncProgress, traces }: { readonly syncProgress: SyncProgress; readonly traces: ChangeTraces },
): DesiredStore {
  return {
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
  };
}

/** Whoever stops it first, it is stopped once. */
function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | null = null;
  return () => (done ??= work());
}

/** What charts may do, and how many Helms install them at once. */
function chartSettings(config: Config, view: DesiredView) {
  const { namespace, clusterChartsAccount } = config;
  return {
    rights: {
      clusterWideCharts: (place: string) =>
        view.get("project", `project/${place}`)?.spec.policy?.cluster_wide_charts ?? [],
      clusterWideUser: clusterChartsAccount ? accountUser(namespace, clusterChartsAccount) : null,
    },
    ingressAnnotations: config.ingressAnnotations,
    areBroadIngressesAllowed: config.broadIngresses === "on",
    slots: config.helmSlots,
  };
}

/** Those that the operator gives itself where its chart has installed it. */
const rightsOf = ({ clusterId, namespace, serviceAccount, projectsRole }: Config, kube: KubeClient): ProjectRights =>
  serviceAccount && projectsRole
    ? createProjectRights({ kube, clusterId, account: { namespace, name: serviceAccount }, role: projectsRole, clock })
    : ALL_RIGHTS;

type UpgradePorts = Omit<Parameters<typeof startSelfUpgrade>[0], "deployment" | "pod">;

/** Null where the chart's values forbid it, and outside of a pod. */
const upgradeOf = async ({ deployment, pod }: Config, ports: UpgradePorts): Promise<SelfUpgrade | null> =>
  deployment && pod ? startSelfUpgrade({ ...ports, deployment, pod }) : null;
