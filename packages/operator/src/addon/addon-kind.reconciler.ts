import { type AddonReport, type LinkSettings, UNKNOWN_DRIFT } from "@binnacle/contract";
import { isSameStatus } from "../app/app-status.ts";
import { finalize } from "../desired/finalizer.adapter.ts";
import type { HelmReleases } from "../helm/helm-releases.reconciler.ts";
import type { KubeObject } from "../kube/kube-client.ts";
import { ADDON_INSTANCES } from "../kube/resource-types.ts";
import { driftStatus } from "../reconcile/drift-report.ts";
import { afterPass, type Healing, mayHeal, NOT_HEALING, nextHealMs } from "../reconcile/heal-backoff.ts";
import type { DispatchedKind, Found, KindReconciler, Pass, ReconcilerPorts, Work } from "../reconcile/kind.ts";
import {
  type Addon,
  addonReport,
  deletingReport,
  exportsPlaceOf,
  memoryIn,
  refusedReport,
  releaseIdOf,
  releaseOf,
  requeueMs,
} from "./addon.ts";
import type { Instances } from "./instances.ts";

export interface AddonPorts extends ReconcilerPorts {
  readonly helmReleases: HelmReleases;
  readonly instances: Instances;
  readonly settings: LinkSettings;
  /** Wall-clock time in milliseconds. */
  readonly nowMs: () => number;
}

const DELETING_MS = 2_000;
/** Helm changes many objects in a moment; one run is enough. */
const GATHER_MS = 300;

export const addonKind: DispatchedKind<"addon_instance", AddonPorts> = {
  kind: "addon_instance",
  holder: ADDON_INSTANCES,
  companionPrefix: "binnacle-addon-",
  emptySecret: { values: {} },
  reconciler: createAddonReconciler,
};

/** Makes each addon instance a Helm release, heals its objects and reports its state. */
function createAddonReconciler(ports: AddonPorts, work: Work): KindReconciler<"addon_instance"> {
  const { kube, helmReleases, instances, nowMs } = ports;
  /** By key. It need not survive a restart. */
  const healings = new Map<string, Healing>();
  let { drift_policy: policy } = ports.settings;

  async function apply({ resource: addon, holder }: Found<"addon_instance">): Promise<Pass<"addon_instance">> {
    const memory = memoryIn(holder);
    const healing = healings.get(addon.key) ?? NOT_HEALING;
    const now = nowMs();
    const seen = await helmReleases.ensure(releaseOf(addon), {
      mayHeal: (drift) => policy === "heal" && mayHeal(healing, drift, now),
      isSyncing: memory.generation !== addon.generation,
      takeOver: false,
    });
    instances.observed(addon, seen);
    const after = policy === "heal" ? afterPass(healing, seen, nowMs()) : NOT_HEALING;
    healings.set(addon.key, after);
    const report = addonReport(seen, addon.generation, memory, nowMs());
    await writeStatus(addon, holder, report);
    const dueMs = nextHealMs(after);
    return { report, requeueAfterMs: requeueMs(report, dueMs === null ? null : dueMs - nowMs()) };
  }

  async function remove({ resource: addon, holder }: Found<"addon_instance">): Promise<Pass<"addon_instance">> {
    forget(addon.key);
    const removal = await helmReleases.remove(releaseIdOf(addon), exportsPlaceOf(addon), addon.spec.chart);
    const finalized = removal.isGone ? await finalize(kube, addonKind, holder) : null;
    if (finalized?.state === "gone") {
      return { report: { state: "gone" }, generation: finalized.generation, requeueAfterMs: null };
    }
    return { report: deletingReport(removal, finalized?.by), requeueAfterMs: DELETING_MS };
  }

  /** The status shows the phase to whoever reads the cluster with kubectl. */
  async function writeStatus(addon: Addon, holder: KubeObject, report: AddonReport): Promise<void> {
    const { phase, phase_since, reason, message, drift } = report;
    const readyGeneration = phase === "ready" ? addon.generation : memoryIn(holder).readyGeneration;
    const { generation } = addon;
    const status = {
      generation,
      phase,
      phaseSince: phase_since,
      reason,
      message,
      readyGeneration,
      drift: driftStatus(drift ?? UNKNOWN_DRIFT),
    };
    if (isSameStatus(holder["status"], status)) return;
    await kube.patchStatus(ADDON_INSTANCES, addon.spec.name, addon.spec.namespace, status);
  }

  function forget(key: string): void {
    instances.forget(key);
    healings.delete(key);
  }

  return {
    firstRetryMs: 1_000,
    readsStatus: true,
    watches: [],
    subscribe: () => [
      helmReleases.onChange(({ namespace, name, owner }) => {
        if (owner === "addon") work.enqueue(`addon_instance/${namespace}/${name}`, GATHER_MS);
      }),
    ],
    apply,
    remove,
    rejected: ({ resource, holder }, error) =>
      refusedReport(error, resource.isDeleting, memoryIn(holder).readyGeneration),
    forget,
    settings({ drift_policy }) {
      const isOther = drift_policy !== policy;
      policy = drift_policy;
      return isOther;
    },
  };
}
