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
  type LookOptions,
  type ReleaseLook,
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

export interface ReleaseSeen extends ReleaseVerdict {
  readonly look: ReleaseLook;
  readonly exports: ResolvedExports;
}

export interface KeeperPorts {
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

export interface ReleaseKeeper {
  /** Sees to it that the release becomes what is wanted, and says what is to be seen of it. Waits for nothing. */
  keep(wanted: WantedHelm): Promise<ReleaseSeen>;
  /** Says the same and does nothing. */
  observe(wanted: WantedHelm): Promise<ReleaseSeen>;
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
export function startReleaseKeeper(ports: KeeperPorts): ReleaseKeeper {
  const { kube, log, clusterId, accounts } = ports;
  const kubeIn = (namespace: string) => kube.as(projectUser(namespace));
  const rightsOf = (id: ReleaseId, chart: ChartName | null) => rightsFor(id, chart, ports.rights);
  const store = createReleaseStore(kube, clusterId);
  const objects = createReleaseObjects({ kube, store });
  const pods = createReleasePods(store);
  const exportsStore = createExportsStore({ kube, kubeIn, clusterId });
  const known = new Map<string, ReleaseId>();
  /** What was exported when a release was last what was wanted: values and objects do not fit together meanwhile. */
  const exported = new Map<string, ResolvedExports>();
  const listeners = new Set<(id: ReleaseId) => void>();
  let { drift_policy: policy } = ports.settings;

  const keyOf = ({ namespace, name }: Pick<ReleaseId, "namespace" | "name">) => `${namespace}/${name}`;
  const tell = (id: ReleaseId) => {
    for (const listener of listeners) listener(id);
  };
  const reconciler = createReleaseReconciler({
    ...ports,
    store,
    leases: createLeases({ ...ports, kubeIn }),
    rightsOf,
    isNamespaced: objects.isNamespaced,
    left: objects.left,
    onEnd: tell,
  });
  const watch = startReleaseWatch({
    kube,
    log,
    onChange(place) {
      const id = known.get(keyOf(place));
      if (id) tell(id);
    },
  });

  async function see(wanted: WantedHelm, options: LookOptions): Promise<ReleaseSeen> {
    try {
      return await seen(wanted, options);
    } catch (error) {
      if (error instanceof KubeError && error.status === 403) accounts.doubt(wanted.namespace);
      throw error;
    }
  }

  async function seen(wanted: WantedHelm, options: LookOptions): Promise<ReleaseSeen> {
    const { isObserver = false } = options;
    const { namespace, name, owner } = wanted;
    if (!isObserver) known.set(keyOf(wanted), { namespace, name, owner });
    const look = await reconciler.look(wanted, options);
    if (!isObserver) await pods.sawRevision(wanted, look.revision);
    if (look.revision?.isOurs) await accounts.ready(namespace);
    const rights = rightsOf(wanted, wanted.chart);
    const readiness =
      look.isCurrent && look.doing === null && look.revision
        ? await objects.readiness(wanted, look.revision, rights)
        : null;
    const isAtHooks = look.revision?.isOurs && (look.doing !== null || look.failure !== null);
    const hook = isAtHooks && look.revision ? await objects.rejectedHook(wanted, look.revision, rights) : null;
    const isBroken = policy === "heal" && (readiness?.missing.length ?? 0) > 0;
    if (isBroken && !isObserver) await reconciler.look(wanted, { isForced: true });
    const { exports, isSecretTaken } = await exportsOf(wanted, look, isObserver);
    return { ...verdictOn({ look, readiness, hook, exports, isSecretTaken }), look, exports };
  }

  async function exportsOf(wanted: WantedHelm, look: ReleaseLook, isObserver: boolean) {
    const before = exported.get(keyOf(wanted));
    if (look.isForeign || !look.revision) return { exports: NO_EXPORTS, isSecretTaken: false };
    if (before && !look.isCurrent) return { exports: before, isSecretTaken: false };
    const { exportSchema, exportsPlace, namespace, name, chart, values } = wanted;
    const facts = { release: name, namespace, chart: chart.name.split("/").at(-1) ?? "", values, exports: {} };
    const found = await exportsStore.resolve(exportSchema, facts);
    const isKept = isObserver || !look.isCurrent || (await exportsStore.keep(exportsPlace, found.secret));
    const exports = isKept ? found : { ...found, secret: {} };
    if (look.isCurrent && !isObserver) exported.set(keyOf(wanted), exports);
    return { exports, isSecretTaken: !isKept };
  }

  return {
    keep: (wanted) => see(wanted, {}),
    observe: (wanted) => see(wanted, { isObserver: true }),
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
