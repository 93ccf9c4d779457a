import { finalize } from "../desired/finalizer.adapter.ts";
import { ownSelector } from "../desired/ownership.ts";
import type { KubeObject } from "../kube/kube-client.ts";
import { SECRETS } from "../kube/resource-types.ts";
import type { DispatchedKind, Found, KindReconciler, Pass, ReconcilerPorts, Work } from "../reconcile/kind.ts";
import { PULL_SECRET_LABEL, planPullSecrets, type RegistrySecrets } from "./pull-secrets.ts";

/** Secrets of others are not watched, so they are read again after a while. */
const REQUEUE_MS = 15_000;

/** Pull secrets have nothing that may be public, so they are held by a Secret instead of a custom resource. */
export const pullSecretsKind: DispatchedKind<"registry_secrets"> = {
  kind: "registry_secrets",
  holder: SECRETS,
  nameIn: () => "binnacle-registries",
  companionPrefix: null,
  emptySecret: { registries: [] },
  nameTaken: (message) => ({ state: "apply_failed", message }),
  reconciler: createPullSecretsReconciler,
};

/** Makes the Secrets with which the workloads of a namespace pull their images. */
function createPullSecretsReconciler(
  { kube, view, log, clusterId }: ReconcilerPorts,
  work: Work,
): KindReconciler<"registry_secrets"> {
  const ownPullSecrets = `${ownSelector(clusterId)},${PULL_SECRET_LABEL}`;

  async function apply({ resource: stored }: Found<"registry_secrets">): Promise<Pass<"registry_secrets">> {
    const { apply: wanted, prune, taken } = planPullSecrets(stored, await foundFor(stored), clusterId);
    for (const secret of wanted) await kube.apply(secret, { force: true });
    await removeSecrets(prune);
    if (taken.length === 0) return { report: { state: "ready", message: null }, requeueAfterMs: null };
    const message = `The namespace ${stored.spec.namespace} has Secrets of somebody else named ${taken.join(", ")}.`;
    return { report: { state: "apply_failed", message }, requeueAfterMs: REQUEUE_MS };
  }

  async function remove({ resource: stored, holder }: Found<"registry_secrets">): Promise<Pass<"registry_secrets">> {
    const { prune } = planPullSecrets(stored, await ours(stored), clusterId);
    await removeSecrets(prune);
    if ((await ours(stored)).length > 0) return { report: null, requeueAfterMs: REQUEUE_MS };
    const finalized = await finalize(kube, pullSecretsKind, holder);
    if (finalized.state === "gone") return { report: { state: "gone" }, requeueAfterMs: null };
    log.warn({ key: stored.key, finalizers: finalized.by }, "a Secret of Binnacle is held by finalizers of others");
    return { report: null, requeueAfterMs: REQUEUE_MS };
  }

  async function ours({ spec: { namespace } }: RegistrySecrets): Promise<readonly KubeObject[]> {
    return (await kube.list(SECRETS, { namespace, labelSelector: ownPullSecrets })).items;
  }

  /** Our pull secrets, and every Secret that has a wanted name, whoever made it. */
  async function foundFor(stored: RegistrySecrets): Promise<readonly KubeObject[]> {
    const own = await ours(stored);
    const known = new Set(own.map(({ metadata }) => metadata.name));
    const unknown = stored.secret.registries.map(({ name }) => name).filter((name) => !known.has(name));
    const others = await Promise.all(unknown.map((name) => kube.get(SECRETS, name, stored.spec.namespace)));
    return [...own, ...others.filter((secret) => secret !== null)];
  }

  async function removeSecrets(secrets: readonly KubeObject[]): Promise<void> {
    for (const { metadata } of secrets) {
      const { name, namespace, uid } = metadata;
      await kube.delete(SECRETS, name, namespace, uid ? { preconditions: { uid } } : {});
    }
  }

  return {
    firstRetryMs: 500,
    readsStatus: false,
    watches: [
      {
        type: SECRETS,
        labelSelector: ownPullSecrets,
        keyOf: (name) => `registry_secrets/${name.split("/")[0]}`,
      },
    ],
    subscribe: () => [view.onChange("project", (key) => work.enqueueIn(key.slice(key.indexOf("/") + 1)))],
    apply,
    // Pull secrets are not reported on: their project says that it is suspended.
    observe: async () => ({ report: null, requeueAfterMs: null }),
    remove,
    rejected: ({ resource }, { message }) => (resource.isDeleting ? null : { state: "apply_failed", message }),
  };
}
