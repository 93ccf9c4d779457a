import type { AddonReport } from "@binnacle/contract";
import { finalize } from "../desired/finalizer.adapter.ts";
import type { HelmReleases } from "../helm/helm-releases.reconciler.ts";
import type { KubeObject } from "../kube/kube-client.ts";
import { statusOf } from "../kube/object-fields.ts";
import { ADDON_INSTANCES } from "../kube/resource-types.ts";
import type { DispatchedKind, Found, KindReconciler, Pass, ReconcilerPorts, Work } from "../reconcile/kind.ts";
import { lastPhaseIn, phaseSince } from "../reconcile/last-phase.ts";
import {
  type Addon,
  addonReport,
  deletingReport,
  exportsPlaceOf,
  refusedReport,
  releaseIdOf,
  releaseOf,
  requeueMs,
} from "./addon.ts";
import type { Instances } from "./instances.ts";

export interface AddonPorts extends ReconcilerPorts {
  readonly helmReleases: HelmReleases;
  readonly instances: Instances;
  /** Wall-clock time in milliseconds. */
  readonly nowMs: () => number;
}

const DELETING_MS = 2_000;

export const addonKind: DispatchedKind<"addon_instance", AddonPorts> = {
  kind: "addon_instance",
  holder: ADDON_INSTANCES,
  companionPrefix: "binnacle-addon-",
  emptySecret: { values: {} },
  reconciler: createAddonReconciler,
};

/** Makes each addon instance a Helm release and reports its state. */
function createAddonReconciler(ports: AddonPorts, work: Work): KindReconciler<"addon_instance"> {
  const { kube, helmReleases, instances, nowMs } = ports;

  async function apply({ resource: addon, holder }: Found<"addon_instance">): Promise<Pass<"addon_instance">> {
    const seen = await helmReleases.ensure(releaseOf(addon));
    instances.observed(addon, seen);
    const said = addonReport(seen, addon.generation, readyGenerationIn(holder));
    const report = { ...said, phase_since: phaseSince(lastPhaseIn(holder), said.phase, nowMs()) };
    await writeStatus(addon, holder, report);
    return { report, requeueAfterMs: requeueMs(report) };
  }

  async function remove({ resource: addon, holder }: Found<"addon_instance">): Promise<Pass<"addon_instance">> {
    instances.forget(addon.key);
    const removal = await helmReleases.remove(releaseIdOf(addon), exportsPlaceOf(addon), addon.spec.chart);
    const finalized = removal.isGone ? await finalize(kube, addonKind, holder) : null;
    if (finalized?.state === "gone") {
      return { report: { state: "gone" }, generation: finalized.generation, requeueAfterMs: null };
    }
    return { report: deletingReport(removal, finalized?.by), requeueAfterMs: DELETING_MS };
  }

  /** The status shows the phase to whoever reads the cluster with kubectl. */
  async function writeStatus(addon: Addon, holder: KubeObject, report: AddonReport): Promise<void> {
    const { phase, phase_since: phaseSince, reason, message } = report;
    const readyGeneration = phase === "ready" ? addon.generation : readyGenerationIn(holder);
    const status = { generation: addon.generation, phase, phaseSince, reason, message, readyGeneration };
    const before = statusOf(holder);
    const isSame = Object.entries(status).every(([name, value]) => (before[name] ?? null) === value);
    if (!isSame) await kube.patchStatus(ADDON_INSTANCES, addon.spec.name, addon.spec.namespace, status);
  }

  return {
    firstRetryMs: 1_000,
    readsStatus: true,
    watches: [],
    subscribe: () => [
      helmReleases.onChange(({ namespace, name, owner }) => {
        if (owner === "addon") work.enqueue(`addon_instance/${namespace}/${name}`);
      }),
    ],
    apply,
    remove,
    rejected: ({ resource, holder }, error) => refusedReport(error, resource.isDeleting, readyGenerationIn(holder)),
    forget: instances.forget,
    settings(settings) {
      helmReleases.settings(settings);
      return true;
    },
  };
}

function readyGenerationIn(holder: KubeObject): number | null {
  const { readyGeneration } = statusOf(holder);
  return typeof readyGeneration === "number" ? readyGeneration : null;
}
