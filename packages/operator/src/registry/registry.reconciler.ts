import type { RegistrySecretsReport } from "@binnacle/contract";
import { letGo } from "../desired/farewell.adapter.ts";
import { createLeavers } from "../desired/leavers.ts";
import { ownSelector } from "../desired/ownership.ts";
import { isForPeople } from "../desired/refusal.ts";
import { SECRETS } from "../desired/resource-types.ts";
import { type Informer, startInformer } from "../kube/informer.adapter.ts";
import type { KubeObject } from "../kube/kube-client.ts";
import { KubeError } from "../kube/kube-error.ts";
import { createWorkQueue, type WorkQueue } from "../kube/work-queue.ts";
import type { ReconcilerPorts } from "../project/project.reconciler.ts";
import type { Reconciler } from "../reconciler.ts";
import { PULL_SECRET_LABEL, planPullSecrets, type RegistrySecrets } from "./pull-secrets.ts";

const LOOK_AGAIN_MS = 15_000;
const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 60_000;

/** Makes the Secrets that a namespace's workloads pull their images with. */
export function createRegistryReconciler(ports: Omit<ReconcilerPorts, "nowMs">): Reconciler {
  const { kube, view, sink, clock, log, clusterId } = ports;
  const ownPullSecrets = `${ownSelector(clusterId)},${PULL_SECRET_LABEL}`;
  const sets = createLeavers(view, "registry_secrets");
  let pullSecrets: Informer<KubeObject> | null = null;
  let queue: WorkQueue | null = null;
  const endings: (() => void)[] = [];

  async function reconcile(key: string): Promise<void> {
    const seen = sets.see(key);
    if (!seen) return;
    const { resource: stored, holder } = seen;
    try {
      await (stored.isLeaving ? cleanUp(stored, holder) : keep(stored));
    } catch (error) {
      if (error instanceof KubeError && isForPeople(error) && !stored.isLeaving) {
        tell(stored, { state: "apply_failed", message: error.message });
      }
      throw error;
    }
  }

  async function keep(stored: RegistrySecrets): Promise<void> {
    const { apply, prune, taken } = planPullSecrets(stored, await foundFor(stored), clusterId);
    for (const secret of apply) await kube.apply(secret, { force: true });
    await remove(prune);
    if (taken.length === 0) return tell(stored, { state: "ready", message: null });
    const message = `The namespace ${stored.spec.namespace} has Secrets of somebody else named ${taken.join(", ")}.`;
    tell(stored, { state: "apply_failed", message });
    queue?.add(stored.key, { afterMs: LOOK_AGAIN_MS });
  }

  async function cleanUp(stored: RegistrySecrets, holder: KubeObject): Promise<void> {
    const { prune } = planPullSecrets(stored, await ours(stored), clusterId);
    await remove(prune);
    if ((await ours(stored)).length > 0) {
      queue?.add(stored.key, { afterMs: LOOK_AGAIN_MS });
      return;
    }
    const farewell = await letGo(kube, SECRETS, holder);
    if (farewell.state === "held") {
      log.warn({ key: stored.key, finalizers: farewell.by }, "finalizers of others hold a Secret of Binnacle");
      queue?.add(stored.key, { afterMs: LOOK_AGAIN_MS });
      return;
    }
    sets.forget(stored.key);
    sink.report("registry_secrets", stored, { state: "gone" });
  }

  async function ours({ spec: { namespace } }: RegistrySecrets): Promise<readonly KubeObject[]> {
    return (await kube.list(SECRETS, { namespace, labelSelector: ownPullSecrets })).items;
  }

  /** Ours, and whatever has a name that we want: it may be somebody else's. */
  async function foundFor(stored: RegistrySecrets): Promise<readonly KubeObject[]> {
    const own = await ours(stored);
    const known = new Set(own.map(({ metadata }) => metadata.name));
    const unknown = stored.secret.registries.map(({ name }) => name).filter((name) => !known.has(name));
    const others = await Promise.all(unknown.map((name) => kube.get(SECRETS, name, stored.spec.namespace)));
    return [...own, ...others.filter((secret) => secret !== null)];
  }

  async function remove(secrets: readonly KubeObject[]): Promise<void> {
    for (const { metadata } of secrets) {
      const { name, namespace, uid } = metadata;
      await kube.delete(SECRETS, name, namespace, uid ? { preconditions: { uid } } : {});
    }
  }

  const tell = (stored: RegistrySecrets, report: RegistrySecretsReport) =>
    sink.report("registry_secrets", stored, report);

  /** Looks at everything again. */
  function resync(): void {
    for (const { key } of view.list("registry_secrets")) queue?.add(key);
  }

  return {
    start(): void {
      queue = createWorkQueue({
        run: reconcile,
        clock,
        firstRetryMs: FIRST_RETRY_MS,
        longestRetryMs: LONGEST_RETRY_MS,
        onError: (key, err, retryMs) => log.warn({ err, key, retryMs }, "pull secrets could not be reconciled"),
      });
      endings.push(view.onChange("registry_secrets", (key) => queue?.add(key)));
      pullSecrets = startInformer({
        client: kube,
        type: SECRETS,
        labelSelector: ownPullSecrets,
        log,
        onChange: (name) => queue?.add(`registry_secrets/${name.split("/")[0]}`),
      });
      resync();
    },

    resync,

    async stop(): Promise<void> {
      for (const end of endings.splice(0)) end();
      await Promise.all([pullSecrets?.stop(), queue?.stop()]);
    },
  };
}
