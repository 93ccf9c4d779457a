import { type AddonReport, canonicalJson, type LinkSettings } from "@binnacle/contract";
import type { Instance } from "../app/releases.ts";
import type { DesiredView } from "../desired/desired-view.ts";
import { letGo } from "../desired/farewell.adapter.ts";
import { isOurs } from "../desired/ownership.ts";
import { isForPeople } from "../desired/refusal.ts";
import { ADDON_INSTANCES } from "../desired/resource-types.ts";
import { exportsSeen } from "../helm/exports.ts";
import type { ReleaseKeeper, ReleaseSeen } from "../helm/release-keeper.reconciler.ts";
import type { InstanceSource } from "../helm/releases.adapter.ts";
import type { InformerLog } from "../kube/informer.adapter.ts";
import type { KubeClient, KubeObject } from "../kube/kube-client.ts";
import { KubeError } from "../kube/kube-error.ts";
import { statusOf } from "../kube/object-fields.ts";
import { type Clock, createWorkQueue, type WorkQueue } from "../kube/work-queue.ts";
import type { StatusSink } from "../link/status-sink.ts";
import type { Reconciler } from "../reconciler.ts";
import {
  type Addon,
  addonReport,
  exportsPlaceOf,
  exportsSecretOf,
  leavingReport,
  lookAgainMs,
  refusedReport,
  releaseIdOf,
  releaseOf,
} from "./addon.ts";

export interface AddonPorts {
  readonly kube: KubeClient;
  readonly view: DesiredView;
  readonly sink: StatusSink;
  readonly keeper: ReleaseKeeper;
  readonly clock: Clock;
  readonly log: InformerLog;
  readonly clusterId: string;
}

export interface Addons extends Reconciler {
  /** For apps that use them. */
  readonly instances: InstanceSource;
  settings(settings: LinkSettings): void;
}

const LEAVING_MS = 2_000;
const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 60_000;

/** Makes each addon instance a Helm release, and says what has become of it. */
export function createAddonReconciler({ kube, view, sink, keeper, clock, log, clusterId }: AddonPorts): Addons {
  const seenByKey = new Map<string, Instance>();
  const listeners = new Set<(namespace: string) => void>();
  const endings: (() => void)[] = [];
  let queue: WorkQueue | null = null;

  async function reconcile(key: string): Promise<void> {
    const addon = view.get("addon_instance", key);
    const holder = addon && (await kube.get(ADDON_INSTANCES, addon.spec.name, addon.spec.namespace));
    if (!addon || !holder || !isOurs(holder, clusterId)) {
      remember(key, null);
      return;
    }
    try {
      await (addon.isLeaving ? remove(addon, holder) : maintain(addon, holder));
    } catch (error) {
      if (error instanceof KubeError && isForPeople(error)) {
        tell(addon, refusedReport(error, addon.isLeaving, readyGenerationIn(holder)));
      }
      throw error;
    }
  }

  async function maintain(addon: Addon, holder: KubeObject): Promise<void> {
    const seen = await keeper.keep(releaseOf(addon));
    remember(addon.key, instanceOf(addon, seen));
    const report = addonReport(seen, addon.generation, readyGenerationIn(holder));
    await note(addon, holder, report);
    tell(addon, report);
    queue?.add(addon.key, { afterMs: lookAgainMs(report) });
  }

  async function remove(addon: Addon, holder: KubeObject): Promise<void> {
    remember(addon.key, null);
    const removal = await keeper.remove(releaseIdOf(addon), exportsPlaceOf(addon), addon.spec.chart);
    const farewell = removal.isGone ? await letGo(kube, ADDON_INSTANCES, holder) : null;
    if (farewell?.state === "gone") {
      const generation = farewell.generation ?? addon.generation;
      sink.report("addon_instance", { ...addon, generation }, { state: "gone" });
      return;
    }
    tell(addon, leavingReport(removal, farewell?.by));
    queue?.add(addon.key, { afterMs: LEAVING_MS });
  }

  const tell = (addon: Addon, report: AddonReport) => sink.report("addon_instance", addon, report);

  /** Also for those who look at the cluster with kubectl. */
  async function note(addon: Addon, holder: KubeObject, { phase, reason, message }: AddonReport): Promise<void> {
    const readyGeneration = phase === "ready" ? addon.generation : readyGenerationIn(holder);
    const status = { generation: addon.generation, phase, reason, message, readyGeneration };
    const before = statusOf(holder);
    const isSame = Object.entries(status).every(([name, value]) => (before[name] ?? null) === value);
    if (!isSame) await kube.patchStatus(ADDON_INSTANCES, addon.spec.name, addon.spec.namespace, status);
  }

  function remember(key: string, instance: Instance | null): void {
    const isSame = canonicalJson(seenByKey.get(key) ?? null) === canonicalJson(instance);
    if (instance) seenByKey.set(key, instance);
    else seenByKey.delete(key);
    const [, namespace = ""] = key.split("/");
    if (!isSame) for (const listener of listeners) listener(namespace);
  }

  /** What was not looked at yet is looked at now, lest apps that use it seem to wait for it. */
  async function instancesIn(namespace: string): Promise<ReadonlyMap<string, Instance>> {
    const addons = view
      .list("addon_instance")
      .filter(({ spec, isLeaving }) => spec.namespace === namespace && !isLeaving);
    const instances = await Promise.all(
      addons.map(async (addon) => {
        const known = seenByKey.get(addon.key) ?? instanceOf(addon, await keeper.observe(releaseOf(addon)));
        return [addon.spec.name, known] as const;
      }),
    );
    return new Map(instances);
  }

  function resync(): void {
    for (const { key } of view.list("addon_instance")) queue?.add(key);
  }

  return {
    instances: {
      in: instancesIn,
      onChange(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    start() {
      queue = createWorkQueue({
        run: reconcile,
        clock,
        firstRetryMs: FIRST_RETRY_MS,
        longestRetryMs: LONGEST_RETRY_MS,
        onError: (key, err, retryMs) => log.warn({ err, key, retryMs }, "an addon could not be reconciled"),
      });
      endings.push(
        view.onChange("addon_instance", (key) => queue?.add(key)),
        keeper.onChange(({ namespace, name, owner }) => {
          if (owner === "addon") queue?.add(`addon_instance/${namespace}/${name}`);
        }),
      );
      resync();
    },
    resync,
    settings(settings) {
      keeper.settings(settings);
      resync();
    },
    async stop() {
      for (const end of endings.splice(0)) end();
      await queue?.stop();
    },
  };
}

function instanceOf({ spec }: Addon, { state, reason, message, exports }: ReleaseSeen): Instance {
  return {
    state,
    reason,
    message,
    keys: Object.keys(spec.export_schema).sort(),
    exports: exportsSeen(exports, exportsSecretOf(spec.name)),
  };
}

function readyGenerationIn(holder: KubeObject): number | null {
  const { readyGeneration } = statusOf(holder);
  return typeof readyGeneration === "number" ? readyGeneration : null;
}
