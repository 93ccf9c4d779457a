import { API_GROUP, API_VERSION } from "@binnacle/contract";
import type { ResourceType } from "./kube-client.ts";

const core = (plural: string, kind: string, namespaced = true): ResourceType => ({
  group: "",
  version: "v1",
  plural,
  kind,
  namespaced,
});
const own = (plural: string, kind: string, namespaced = true): ResourceType => ({
  group: API_GROUP,
  version: API_VERSION,
  plural,
  kind,
  namespaced,
});

export const NAMESPACES = core("namespaces", "Namespace", false);
export const SECRETS = core("secrets", "Secret");
/** Selects the Secrets that hold desired state. Kubernetes does not let anybody change a Secret's type. */
export const DESIRED_SECRET_TYPE = `${API_GROUP}/desired`;
export const DESIRED_SECRETS = `type=${DESIRED_SECRET_TYPE}`;
export const CONFIG_MAPS = core("configmaps", "ConfigMap");

export const PROJECTS = own("projects", "Project", false);
export const APPS = own("apps", "App");
export const ADDON_INSTANCES = own("addoninstances", "AddonInstance");

const namespaced = (group: string, version: string, plural: string, kind: string): ResourceType => ({
  group,
  version,
  plural,
  kind,
  namespaced: true,
});

export const PODS = namespaced("", "v1", "pods", "Pod");
export const INGRESSES = namespaced("networking.k8s.io", "v1", "ingresses", "Ingress");

export const REPLICA_SETS = namespaced("apps", "v1", "replicasets", "ReplicaSet");
export const CLAIMS = namespaced("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim");
export const EVENTS = namespaced("", "v1", "events", "Event");
export const NODES = core("nodes", "Node", false);
export const SERVICES = namespaced("", "v1", "services", "Service");
export const PERSISTENT_VOLUMES = core("persistentvolumes", "PersistentVolume", false);
export const STORAGE_CLASSES: ResourceType = {
  group: "storage.k8s.io",
  version: "v1",
  plural: "storageclasses",
  kind: "StorageClass",
  namespaced: false,
};

export const DEPLOYMENTS = namespaced("apps", "v1", "deployments", "Deployment");

/** All kinds of objects that an app becomes. */
export const OWNED_KINDS: readonly ResourceType[] = [
  DEPLOYMENTS,
  namespaced("apps", "v1", "statefulsets", "StatefulSet"),
  namespaced("apps", "v1", "daemonsets", "DaemonSet"),
  namespaced("batch", "v1", "jobs", "Job"),
  namespaced("batch", "v1", "cronjobs", "CronJob"),
  namespaced("autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler"),
  namespaced("policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget"),
  INGRESSES,
  SERVICES,
  namespaced("", "v1", "configmaps", "ConfigMap"),
  namespaced("", "v1", "secrets", "Secret"),
  namespaced("", "v1", "serviceaccounts", "ServiceAccount"),
  CLAIMS,
];
