import type { ResourceType } from "./kube-client.ts";

const namespaced = (group: string, version: string, plural: string, kind: string): ResourceType => ({
  group,
  version,
  plural,
  kind,
  namespaced: true,
});

export const PODS = namespaced("", "v1", "pods", "Pod");

/** All kinds of objects that an app becomes. */
export const OWNED_KINDS: readonly ResourceType[] = [
  namespaced("apps", "v1", "deployments", "Deployment"),
  namespaced("apps", "v1", "statefulsets", "StatefulSet"),
  namespaced("batch", "v1", "jobs", "Job"),
  namespaced("batch", "v1", "cronjobs", "CronJob"),
  namespaced("autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler"),
  namespaced("networking.k8s.io", "v1", "ingresses", "Ingress"),
  namespaced("", "v1", "services", "Service"),
  namespaced("", "v1", "configmaps", "ConfigMap"),
  namespaced("", "v1", "secrets", "Secret"),
  namespaced("", "v1", "serviceaccounts", "ServiceAccount"),
  namespaced("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim"),
];
