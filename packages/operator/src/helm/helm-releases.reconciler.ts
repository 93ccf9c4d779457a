import { LABELS } from "@binnacle/contract";
import type { EnsureOptions, ReleaseDrift } from "../app/releases.ts";
import type { HostClaims } from "../hosts/host-claims.reconciler.ts";
import type { InformerLog } from "../kube/informer.adapter.ts";
import type { KubeClient, KubeObject } from "../kube/kube-client.ts";
import { KubeError } from "../kube/kube-error.ts";
import { createLeases } from "../kube/lease.store.ts";
import type { PodView } from "../kube/pod-view.ts";
import type { Clock } from "../kube/work-queue.ts";
import type { ChartAccounts } from "./chart-account.store.ts";
import { createExportsStore, type ExportsPlace } from "./exports.store.ts";
import type { ExportSchema, ResolvedExports } from "./exports.ts";
import type { Helm } from "./helm.adapter.ts";
import { createInspection } from "./inspection.adapter.ts";
import {
  createReleaseReconciler,
  type HelmLoad,
  type ReleaseObservation,
  type ReleaseRemoval,
} from "./release.reconciler.ts";
import { createReleasePods, createReleaseStore } from "./release.store.ts";
import { type ReleaseVerdict, verdictOn } from "./release.ts";
import { createReleaseObjects, type LiveReleaseObject, NOT_COMPARED, type Upkeep } from "./release-objects.store.ts";
import { isPodOf, podsOfRelease, type ReleasePods, type ReleasePodsSource } from "./release-pods.ts";
import type { ReleaseWorkload } from "./release-readiness.ts";
import { startReleaseWatch } from "./release-watch.adapter.ts";
import type { HelmRelease, ReleaseId } from "./revision.ts";
import { type ChartName, projectUser, type RightsPolicy, rightsFor } from "./rights.ts";

/** A release with what it gives to others. */
export interface WantedHelm extends HelmRelease {
  readonly exportSchema: ExportSchema;
  readonly exportsPlace: ExportsPlace;
}

export interface ReleaseStatus extends ReleaseVerdict, ReleaseDrift {
  readonly workloads: readonly ReleaseWorkload[];
  readonly pods: readonly KubeObject[];
  /** Its pods by the workload that made them, as `podsMadeBy` finds them. */
  readonly makers: ReleasePods | null;
  readonly observation: ReleaseObservation;
  readonly exports: ResolvedExports;
}

export interface HelmReleasesPorts {
  readonly kube: KubeClient;
  readonly helm: Helm;
  readonly accounts: ChartAccounts;
  readonly rights: RightsPolicy;
  readonly hosts: Pick<HostClaims, "takenByOthers" | "onChange">;
  /** Annotations of ingress controllers that charts may use although they can ask for hosts that nobody sees. */
  readonly ingressAnnotations: readonly string[];
  /** Whether charts may have Ingresses for all hosts and for wildcards. */
  readonly areBroadIngressesAllowed: boolean;
  readonly clusterId: string;
  readonly holder: string;
  /** How many Helms run at once. */
  readonly slots: number;
  readonly clock: Clock;
  readonly nowMs: () => number;
  readonly log: InformerLog;
  readonly podView: PodView;
}

export interface HelmReleases {
  /** Sees to it that the release becomes what is wanted, and says what is to be seen of it. Waits for nothing. */
  ensure(wanted: WantedHelm, options: EnsureOptions): Promise<ReleaseStatus>;
  /** Says the same and does nothing. */
  observe(wanted: WantedHelm): Promise<ReleaseStatus>;
  /** The same, and no further step of Helm begins until the release is ensured again. A step under way is finished. */
  hold(wanted: WantedHelm): Promise<ReleaseStatus>;
  /** The chart that it was made of, where that is known: it decides about the rights. */
  remove(id: ReleaseId, exportsPlace: ExportsPlace, chart: ChartName | null): Promise<ReleaseRemoval>;
  readonly pods: ReleasePodsSource;
  load(): HelmLoad;
  /** The objects of a release as they are now; none where there is no such release, or it is not ours. */
  objects(id: ReleaseId, chart: ChartName | null): Promise<readonly LiveReleaseObject[]>;
  /** Calls with a release of which there is something new to see. */
  onChange(listener: (id: ReleaseId) => void): () => void;
  /** Begins nothing more with Helm, and waits for what is under way, which may be minutes. */
  finish(): Promise<void>;
  stop(): Promise<void>;
}

const NO_EXPORTS: ResolvedExports = { plain: {}, secret: {}, missing: [] };

/** All that is done with Helm, for addon instances and for components of apps. */
export function startHelmReleases(ports: HelmReleasesPorts): HelmReleases {
  const { kube, log, clusterId, accounts, podView } = ports;
  const kubeIn = (namespace: string) => kube.as(projectUser(namespace));
  const rightsOf = (id: ReleaseId, chart: ChartName | null) => rightsFor(id, chart, ports.rights);
  const store = createReleaseStore(kube, clusterId);
  const pods = createReleasePods(store);
  const exportsStore = createExportsStore({ kube, kubeIn, clusterId });
  const known = new Map<string, ReleaseId>();
  /** The exports of the last complete state of a release. During an upgrade, values and objects do not fit together. */
  const exported = new Map<string, ResolvedExports>();
  const listeners = new Set<(id: ReleaseId) => void>();
  /** As they were last counted: they are not while Helm is at work. */
  const counted = new Map<string, readonly ReleaseWorkload[]>();
  /** A new generation whose objects are still to be applied again, because Helm was at work when it came. */
  const syncing = new Map<string, Pick<EnsureOptions, "takeOver">>();

  const keyOf = ({ namespace, name }: Pick<ReleaseId, "namespace" | "name">) => `${namespace}/${name}`;
  const notify = (id: ReleaseId) => {
    for (const listener of listeners) listener(id);
  };
  const watch = startReleaseWatch({
    kube,
    log,
    onChange(place) {
      const id = known.get(keyOf(place));
      if (id) notify(id);
    },
  });
  const objects = createReleaseObjects({ ...ports, store, pods: podView, versionOf: watch.versionOf });
  const endPods = podView.onChange((pod) => {
    const { namespace = "", labels = {} } = pod.metadata;
    if (LABELS.app in labels) return;
    const isOwn = (own: ReturnType<typeof pods.source.known>) => own !== null && isPodOf(own, pod);
    for (const id of known.values()) if (id.namespace === namespace && isOwn(pods.source.known(id))) notify(id);
  });
  const endHosts = ports.hosts.onChange((namespace) => {
    for (const id of known.values()) if (id.namespace === namespace) notify(id);
  });
  const reconciler = createReleaseReconciler({
    ...ports,
    store,
    leases: createLeases({ ...ports, kubeIn, prefix: "binnacle-helm-" }),
    rightsOf,
    inspect: createInspection({ ...ports, isNamespaced: objects.isNamespaced }),
    left: objects.left,
    onEnd: notify,
  });

  /** Without options nothing is changed. */
  async function reconcile(wanted: WantedHelm, options: EnsureOptions | null): Promise<ReleaseStatus> {
    try {
      return await reconcileOnce(wanted, options);
    } catch (error) {
      if (error instanceof KubeError && error.status === 403) accounts.doubt(wanted.namespace);
      throw error;
    }
  }

  async function reconcileOnce(wanted: WantedHelm, options: EnsureOptions | null): Promise<ReleaseStatus> {
    const isReadOnly = options === null;
    const { namespace, name, owner } = wanted;
    if (!isReadOnly) known.set(keyOf(wanted), { namespace, name, owner });
    const observation = await reconciler.reconcile(wanted, { isReadOnly });
    if (!isReadOnly) await pods.setRevision(wanted, observation.revision);
    if (observation.revision?.isOurs) await accounts.ready(namespace);
    const rights = rightsOf(wanted, wanted.chart);
    const upkeep = upkeepOf(keyOf(wanted), options, syncing);
    const inspection =
      observation.isCurrent && observation.doing === null && observation.revision
        ? await objects.inspect(wanted, observation.revision, rights, upkeep)
        : null;
    const {
      readiness,
      workloads: found,
      ...drift
    } = inspection ?? { ...NOT_COMPARED, readiness: null, workloads: null };
    if (found && !isReadOnly) counted.set(keyOf(wanted), found);
    const workloads = found ?? counted.get(keyOf(wanted)) ?? [];
    const makers = pods.source.known(wanted);
    const own = makers ? podsOfRelease(makers, podView.in(namespace)) : [];
    const blocked = upkeep.isSyncing ? (drift.blocked[0] ?? null) : null;
    if (!isReadOnly && inspection && !blocked) syncing.delete(keyOf(wanted));
    const isAtHooks = observation.revision?.isOurs && (observation.doing !== null || observation.failure !== null);
    const hook =
      isAtHooks && observation.revision ? await objects.rejectedHook(wanted, observation.revision, rights) : null;
    const { exports, isSecretTaken } = await exportsOf(wanted, observation, isReadOnly);
    const verdict = verdictOn({ observation, readiness, hook, blocked, exports, isSecretTaken });
    return { ...verdict, ...drift, observation, exports, workloads, pods: own, makers };
  }

  async function exportsOf(wanted: WantedHelm, observation: ReleaseObservation, isReadOnly: boolean) {
    const before = exported.get(keyOf(wanted));
    if (observation.isForeign || !observation.revision) return { exports: NO_EXPORTS, isSecretTaken: false };
    if (before && !observation.isCurrent) return { exports: before, isSecretTaken: false };
    const { exportSchema, exportsPlace, namespace, name, chart, values } = wanted;
    const facts = { release: name, namespace, chart: chart.name.split("/").at(-1) ?? "", values, exports: {} };
    const found = await exportsStore.resolve(exportSchema, facts);
    const isKept = isReadOnly || !observation.isCurrent || (await exportsStore.keep(exportsPlace, found.secret));
    const exports = isKept ? found : { ...found, secret: {} };
    if (observation.isCurrent && !isReadOnly) exported.set(keyOf(wanted), exports);
    return { exports, isSecretTaken: !isKept };
  }

  return {
    ensure: (wanted, options) => reconcile(wanted, options),
    observe: (wanted) => reconcile(wanted, null),
    hold(wanted) {
      reconciler.hold(wanted);
      return reconcile(wanted, null);
    },
    async remove(id, exportsPlace, chart) {
      const removal = await reconciler.remove(id, chart);
      if (!removal.isGone) return removal;
      if (!(await exportsStore.drop(exportsPlace))) {
        return { isGone: false, left: [`Secret ${exportsPlace.name}`], failure: null };
      }
      known.delete(keyOf(id));
      pods.forget(id);
      exported.delete(keyOf(id));
      syncing.delete(keyOf(id));
      counted.delete(keyOf(id));
      return removal;
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    pods: pods.source,
    load: reconciler.load,
    finish: reconciler.finish,
    async objects(id, chart) {
      const revision = (await store.revisions(id)).at(-1);
      return revision?.isOurs ? objects.read(id, revision, rightsOf(id, chart)) : [];
    },
    async stop() {
      endPods();
      endHosts();
      await Promise.all([watch.stop(), reconciler.stop()]);
    },
  };
}

/** Without options nothing is changed. A new generation stays to be applied until that was possible. */
function upkeepOf(
  key: string,
  options: EnsureOptions | null,
  syncing: Map<string, Pick<EnsureOptions, "takeOver">>,
): Upkeep {
  if (!options) return { isSyncing: false, takeOver: false, mayHeal: () => false };
  if (options.isSyncing) syncing.set(key, { takeOver: options.takeOver });
  const pending = syncing.get(key);
  return { mayHeal: options.mayHeal, isSyncing: pending !== undefined, takeOver: pending?.takeOver ?? false };
}
