import { finalize } from "../desired/finalizer.adapter.ts";
import { ownLabels } from "../desired/ownership.ts";
import { CONFIG_MAPS, SECRETS } from "../kube/resource-types.ts";
import type { DispatchedKind, Found, KindReconciler, Pass, ReconcilerPorts } from "../reconcile/kind.ts";

/** A ConfigMap with the text, for the people of the namespace. */
export const noticeKind: DispatchedKind<"notice"> = {
  kind: "notice",
  holder: SECRETS,
  nameIn: () => "binnacle-notice",
  companionPrefix: null,
  emptySecret: {},
  reconciler: createNoticeReconciler,
};

function createNoticeReconciler({ kube, clusterId }: ReconcilerPorts): KindReconciler<"notice"> {
  const name = "binnacle-notice";

  async function apply({ resource: { spec } }: Found<"notice">): Promise<Pass<"notice">> {
    const metadata = { name, namespace: spec.namespace, labels: ownLabels(clusterId) };
    await kube.apply({ apiVersion: "v1", kind: "ConfigMap", metadata, data: { text: spec.text } }, { force: true });
    return { report: { state: "ready", message: null }, requeueAfterMs: null };
  }

  async function remove({ resource: { spec }, holder }: Found<"notice">): Promise<Pass<"notice">> {
    await kube.delete(CONFIG_MAPS, name, spec.namespace, {});
    const { state } = await finalize(kube, noticeKind, holder);
    return { report: state === "gone" ? { state } : null, requeueAfterMs: null };
  }

  return {
    firstRetryMs: 500,
    readsStatus: false,
    watches: [],
    apply,
    remove,
    rejected: (_, { message }) => ({ state: "apply_failed", message }),
  };
}
