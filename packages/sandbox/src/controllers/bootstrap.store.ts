import { SIMULATED } from "../kubelet/nodes.ts";
import type { ObjectDraft } from "../store/kube-object.ts";
import type { Store } from "../store/store.ts";

const NAMESPACES = ["default", "kube-system", "kube-public", "kube-node-lease"];

/** Where claims get their volumes; it has the name that it has in the cluster that kwok simulates. */
const STORAGE_CLASS: ObjectDraft = {
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  metadata: {
    name: "simulated",
    labels: { [SIMULATED]: "true" },
    annotations: { "storageclass.kubernetes.io/is-default-class": "true" },
  },
  provisioner: "sandbox.binnacle.dev/volume",
  reclaimPolicy: "Delete",
  volumeBindingMode: "Immediate",
  allowVolumeExpansion: true,
};

/** Clients check for this API to learn whether usage is measured. */
const METRICS_API: ObjectDraft = {
  apiVersion: "apiregistration.k8s.io/v1",
  kind: "APIService",
  metadata: { name: "v1beta1.metrics.k8s.io", labels: { [SIMULATED]: "true" } },
  spec: { group: "metrics.k8s.io", version: "v1beta1", groupPriorityMinimum: 100, versionPriority: 100 },
  status: { conditions: [{ type: "Available", status: "True", reason: "Local", message: "It is served here." }] },
};

/** The role of administrators, which others can be bound to as well. */
const CLUSTER_ADMIN: ObjectDraft = {
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRole",
  metadata: { name: "cluster-admin", labels: { "kubernetes.io/bootstrapping": "rbac-defaults" } },
  rules: [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }],
};

/** Creates the objects of an empty cluster. Existing ones stay as they are. */
export function furnish(store: Store): void {
  for (const name of NAMESPACES) {
    if (store.get("namespaces", name)) continue;
    store.create("namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  }
  if (!store.get("storageclasses.storage.k8s.io", "simulated")) {
    store.create("storageclasses.storage.k8s.io", STORAGE_CLASS);
  }
  if (!store.get("clusterroles.rbac.authorization.k8s.io", "cluster-admin")) {
    store.create("clusterroles.rbac.authorization.k8s.io", CLUSTER_ADMIN);
  }
  if (!store.get("apiservices.apiregistration.k8s.io", "v1beta1.metrics.k8s.io")) {
    store.create("apiservices.apiregistration.k8s.io", METRICS_API);
  }
}
