import { LABELS, type LinkSettings } from "@binnacle/contract";
import { ownSelector } from "../desired/ownership.ts";
import { type Informer, type InformerLog, startInformer } from "../kube/informer.adapter.ts";
import type { KubeObject, ResourceType } from "../kube/kube-client.ts";
import { OWNED_KINDS } from "../kube/owned-kinds.ts";
import { type Clock, createWorkQueue, type WorkQueue } from "../kube/work-queue.ts";
import type { Reconciler } from "../reconciler.ts";
import { type AppReconcilerPorts, createAppReconciler } from "./app.reconciler.ts";

export interface AppsPorts extends AppReconcilerPorts {
  readonly clock: Clock;
  readonly log: InformerLog;
  readonly settings: LinkSettings;
}

export interface Apps extends Reconciler {
  settings(settings: LinkSettings): void;
}

const CONCURRENCY = 4;
const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 60_000;
/** A rollout changes many objects in a moment; one look is enough. */
const GATHER_MS = 300;

/** Looks at an app whenever something of it changes, and from time to time all the same. */
export function createAppsReconciler(ports: AppsPorts): Apps {
  const { kube, view, releases, clock, log, clusterId } = ports;
  const reconciler = createAppReconciler(ports);
  const endings: (() => void)[] = [];
  let informers: readonly Informer<KubeObject>[] = [];
  let queue: WorkQueue | null = null;
  let { drift_policy: policy } = ports.settings;

  async function run(key: string): Promise<void> {
    const againMs = await reconciler.reconcile(key, policy);
    if (againMs !== null) queue?.add(key, { afterMs: againMs });
  }

  function addAll(isMeant: (namespace: string) => boolean = () => true): void {
    for (const { key, spec } of view.list("app")) if (isMeant(spec.namespace)) queue?.add(key);
  }

  const addAllIn = (namespace: string) => addAll((one) => one === namespace);

  function follow(type: ResourceType): Informer<KubeObject> {
    const informer: Informer<KubeObject> = startInformer({
      client: kube,
      type,
      labelSelector: `${ownSelector(clusterId)},${LABELS.app}`,
      trim: nameplate,
      log,
      onChange(name, object) {
        const key = appKeyOf(object ?? informer.get(name));
        if (key !== null) queue?.add(key, { afterMs: GATHER_MS });
      },
    });
    return informer;
  }

  return {
    start() {
      queue = createWorkQueue({
        run,
        clock,
        concurrency: CONCURRENCY,
        firstRetryMs: FIRST_RETRY_MS,
        longestRetryMs: LONGEST_RETRY_MS,
        onError: (key, err, retryMs) => log.warn({ err, key, retryMs }, "an app could not be reconciled"),
      });
      endings.push(
        view.onChange("app", (key) => queue?.add(key)),
        view.onChange("registry_secrets", (key) => addAllIn(key.slice(key.indexOf("/") + 1))),
        view.onChange("project", (key) => addAllIn(key.slice(key.indexOf("/") + 1))),
        releases.onChange(addAllIn),
      );
      informers = OWNED_KINDS.map(follow);
      addAll();
    },
    resync: () => addAll(),
    settings(settings) {
      if (settings.drift_policy === policy) return;
      policy = settings.drift_policy;
      addAll();
    },
    async stop() {
      for (const end of endings.splice(0)) end();
      await Promise.all([...informers.map((informer) => informer.stop()), queue?.stop()]);
    },
  };
}

/** Only what an object is called and whose it is: the rest is read when it is needed. */
function nameplate({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  const { name, namespace = "", uid = "", resourceVersion = "", labels } = metadata;
  const app = labels?.[LABELS.app] ?? "";
  return { apiVersion, kind, metadata: { name, namespace, uid, resourceVersion, labels: { [LABELS.app]: app } } };
}

function appKeyOf(object: KubeObject | undefined): string | null {
  const { namespace, labels } = object?.metadata ?? {};
  return namespace && labels?.[LABELS.app] ? `app/${namespace}/${labels[LABELS.app]}` : null;
}
