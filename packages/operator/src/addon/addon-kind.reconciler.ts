import { canonicalJson, type LinkSettings } from "@binnacle/contract";
import { finalize } from "../desired/finalizer.adapter.ts";
import type { HelmReleases } from "../helm/helm-releases.reconciler.ts";
import { type Unchanged, unchangedSince } from "../kube/recheck.ts";
import { ADDON_INSTANCES } from "../kube/resource-types.ts";
import { afterPass, type Healing, mayHeal, NOT_HEALING, nextHealMs } from "../reconcile/heal-backoff.ts";
import type { DispatchedKind, Found, KindReconciler, Pass, ReconcilerPorts, Work } from "../reconcile/kind.ts";
import {
  addonReport,
  deletingReport,
  exportsPlaceOf,
  memoryIn,
  nameTakenReport,
  refusedReport,
  releaseIdOf,
  releaseOf,
  requeueMs,
  SUSPENDED_DELETION,
  statusFields,
  suspendedReport,
} from "./addon.ts";
import type { Instances } from "./instances.ts";

export interface AddonPorts extends ReconcilerPorts {
  readonly helmReleases: HelmReleases;
  readonly instances: Instances;
  readonly settings: LinkSettings;
}

const DELETING_MS = 2_000;
/** Changes to its objects and pods are seen at once, whatever this says. */
const SUSPENDED_MS = 30_000;
/** Helm changes many objects in a moment; one run is enough. */
const GATHER_MS = 300;

export const addonKind: DispatchedKind<"addon_instance", AddonPorts> = {
  kind: "addon_instance",
  holder: ADDON_INSTANCES,
  companionPrefix: "binnacle-addon-",
  emptySecret: { values: {} },
  nameTaken: nameTakenReport,
  reconciler: createAddonReconciler,
};

/** Makes each addon instance a Helm release, heals its objects and reports its state. */
function createAddonReconciler(ports: AddonPorts, work: Work): KindReconciler<"addon_instance"> {
  const { kube, helmReleases, instances, nowMs } = ports;
  /** By key. It need not survive a restart. */
  const healings = new Map<string, Healing>();
  const verdicts = new Map<string, Unchanged>();
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
    const dueMs = nextHealMs(after);
    const { phase, reason, message } = report;
    const verdict = unchangedSince(
      verdicts.get(addon.key),
      canonicalJson([addon.generation, phase, reason, message]),
      nowMs(),
    );
    verdicts.set(addon.key, verdict);
    const healInMs = dueMs === null ? null : dueMs - nowMs();
    const requeueAfterMs = requeueMs(report, healInMs, nowMs() - verdict.sinceMs);
    return { report, status: statusFields(addon.generation, memory, report), requeueAfterMs };
  }

  /** Nothing of its release is begun; what is stored is compared when the suspension ends. */
  async function observe({ resource: addon, holder }: Found<"addon_instance">): Promise<Pass<"addon_instance">> {
    if (addon.isDeleting) return { report: SUSPENDED_DELETION, requeueAfterMs: null };
    const memory = memoryIn(holder);
    const seen = await helmReleases.hold(releaseOf(addon));
    instances.observed(addon, seen);
    healings.delete(addon.key);
    const report = suspendedReport(addonReport(seen, addon.generation, memory, nowMs()), seen);
    // What is held back was not synced.
    const status = { ...statusFields(addon.generation, memory, report), generation: memory.generation };
    return { report, status, requeueAfterMs: SUSPENDED_MS };
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

  function forget(key: string): void {
    instances.forget(key);
    healings.delete(key);
    verdicts.delete(key);
  }

  return {
    firstRetryMs: 1_000,
    readsStatus: true,
    watches: [],
    subscribe: () => [
      ports.view.onChange("project", (key) => work.enqueueIn(key.slice(key.indexOf("/") + 1))),
      helmReleases.onChange(({ namespace, name, owner }) => {
        if (owner === "addon") work.enqueue(`addon_instance/${namespace}/${name}`, GATHER_MS);
      }),
    ],
    apply,
    observe,
    remove,
    rejected: ({ resource, holder }, error, reason) =>
      refusedReport(error, reason, resource.isDeleting, memoryIn(holder).readyGeneration),
    forget,
    settings({ drift_policy }) {
      const isOther = drift_policy !== policy;
      policy = drift_policy;
      return isOther;
    },
  };
}
