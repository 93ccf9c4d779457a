import type { LinkSettings } from "@binnacle/contract";
import type { InformerLog } from "../kube/informer.adapter.ts";
import type { KubeClient } from "../kube/kube-client.ts";
import { KubeError } from "../kube/kube-error.ts";
import type { Clock } from "../kube/work-queue.ts";
import type { ChartAccounts } from "./chart-account.store.ts";
import { createExportsStore, type ExportsPlace } from "./exports.store.ts";
import type { ExportSchema, ResolvedExports } from "./exports.ts";
import type { Helm } from "./helm.adapter.ts";
import { createLeases } from "./lease.store.ts";
import {
  createReleaseReconciler,
  type ReconcileOptions,
  type ReleaseObservation,
  type ReleaseRemoval,
} from "./release.reconciler.ts";
import { createReleasePods, createReleaseStore } from "./release.store.ts";
import { type ReleaseVerdict, verdictOn } from "./release.ts";
import { createReleaseObjects } from "./release-objects.store.ts";
import type { ReleasePodsSource } from "./release-pods.ts";
import { startReleaseWatch } from "./release-watch.adapter.ts";
import type { HelmRelease, ReleaseId } from "./revision.ts";
import { type ChartName, projectUser, type RightsPolicy, rightsFor } from "./rights.ts";

/** A release with what it gives to others. */
export interface WantedHelm extends HelmRelease {
  readonly exportSchema: ExportSchema;
  readonly exportsPlace: ExportsPlace;
}

export interface ReleaseStatus extends ReleaseVerdict {
  readonly observation: ReleaseObservation;
  readonly exports: ResolvedExports;
}

export interface HelmReleasesPorts {
  readonly kube: KubeClient;
  readonly helm: Helm;
  readonly accounts: ChartAccounts;
  readonly rights: RightsPolicy;
  readonly clusterId: string;
  readonly holder: string;
  readonly clock: Clock;
  readonly nowMs: () => number;
  readonly log: InformerLog;
  readonly settings: LinkSettings;
}

export interface HelmReleases {
  /** Sees to it that the release becomes what is wanted, and says what is to be seen of it. Waits for nothing. */
  ensure(wanted: WantedHelm): Promise<ReleaseStatus>;
  /** Says the same and does nothing. */
  observe(wanted: WantedHelm): Promise<ReleaseStatus>;
  /** The chart that it was made of, where that is known: it decides about the rights. */
  remove(id: ReleaseId, exportsPlace: ExportsPlace, chart: ChartName | null): Promise<ReleaseRemoval>;
  readonly pods: ReleasePodsSource;
  /** Calls with a release of which there is something new to see. */
  onChange(listener: (id: ReleaseId) => void): () => void;
  settings(settings: LinkSettings): void;
  stop(): Promise<void>;
}

const NO_EXPORTS: ResolvedExports = { plain: {}, secret: {}, missing: [] };

/** All that is done with Helm, for addon instances and for components of apps. */
export function startHelmReleases(ports: HelmReleasesPorts): HelmReleases {
  const { kube, log, clusterId, accounts } = ports;
  const kubeIn = (namespace: string) => kube.as(projectUser(namespace));
  const rightsOf = (id: ReleaseId, chart: ChartName | null) => rightsFor(id, chart, ports.rights);
  const store = createReleaseStore(kube, clusterId);
  const objects = createReleaseObjects({ kube, store });
  const pods = createReleasePods(store);
  const exportsStore = createExportsStore({ kube, kubeIn, clusterId });
  const known = new Map<string, ReleaseId>();
  /** The exports of the last complete state of a release. During an upgrade, values and objects do not fit together. */
  const exported = new Map<string, ResolvedExports>();
  const listeners = new Set<(id: ReleaseId) => void>();
  let { drift_policy: policy } = ports.settings;

  const keyOf = ({ namespace, name }: Pick<ReleaseId, "namespace" | "name">) => `${namespace}/${name}`;
  const notify = (id: ReleaseId) => {
    for (const listener of listeners) listener(id);
  };
  const reconciler = createReleaseReconciler({
    ...ports,
    store,
    leases: createLeases({ ...ports, kubeIn }),
    rightsOf,
    isNamespaced: objects.isNamespaced,
    hostsOutside: objects.hostsOutside,
    left: objects.left,
    onEnd: notify,
  });
  const watch = startReleaseWatch({
    kube,
    log,
    onChange(place) {
      const id = known.get(keyOf(place));
      if (id) notify(id);
    },
  });

  async function reconcile(wanted: WantedHelm, options: ReconcileOptions): Promise<ReleaseStatus> {
    try {
      return await reconcileOnce(wanted, options);
    } catch (error) {
      if (error instanceof KubeError && error.status === 403) accounts.doubt(wanted.namespace);
      throw error;
    }
  }

  async function reconcileOnce(wanted: WantedHelm, options: ReconcileOptions): Promise<ReleaseStatus> {
    const { isReadOnly = false } = options;
    const { namespace, name, owner } = wanted;
    if (!isReadOnly) known.set(keyOf(wanted), { namespace, name, owner });
    const observation = await reconciler.reconcile(wanted, options);
    if (!isReadOnly) await pods.setRevision(wanted, observation.revision);
    if (observation.revision?.isOurs) await accounts.ready(namespace);
    const rights = rightsOf(wanted, wanted.chart);
    const readiness =
      observation.isCurrent && observation.doing === null && observation.revision
        ? await objects.readiness(wanted, observation.revision, rights)
        : null;
    const isAtHooks = observation.revision?.isOurs && (observation.doing !== null || observation.failure !== null);
    const hook =
      isAtHooks && observation.revision ? await objects.rejectedHook(wanted, observation.revision, rights) : null;
    const isBroken = policy === "heal" && (readiness?.missing.length ?? 0) > 0;
    if (isBroken && !isReadOnly) await reconciler.reconcile(wanted, { isForced: true });
    const { exports, isSecretTaken } = await exportsOf(wanted, observation, isReadOnly);
    return { ...verdictOn({ observation, readiness, hook, exports, isSecretTaken }), observation, exports };
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
    ensure: (wanted) => reconcile(wanted, {}),
    observe: (wanted) => reconcile(wanted, { isReadOnly: true }),
    async remove(id, exportsPlace, chart) {
      const removal = await reconciler.remove(id, chart);
      if (!removal.isGone) return removal;
      if (!(await exportsStore.drop(exportsPlace))) {
        return { isGone: false, left: [`Secret ${exportsPlace.name}`], failure: null };
      }
      known.delete(keyOf(id));
      pods.forget(id);
      exported.delete(keyOf(id));
      return removal;
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    pods: pods.source,
    settings({ drift_policy }) {
      policy = drift_policy;
    },
    async stop() {
      await Promise.all([watch.stop(), reconciler.stop()]);
    },
  };
}
