import type { KubeObject } from "../../packages/operator/src/kube/kube-client.ts";

/** A node that kwok keeps alive; its pods run as `kwok.yaml` says. */
export function node(name: string): KubeObject {
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      labels: { "kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64" },
      annotations: { "metrics.k8s.io/resource-metrics-path": `/metrics/nodes/${name}/metrics/resource` },
    },
  };
}

export const CAPACITY = { cpu: "32", memory: "256Gi", pods: "500" };

/** Volumes that are there as soon as they are claimed. Those of the second class keep their size. */
export const STORAGE_CLASSES: readonly KubeObject[] = [
  {
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata: { name: "simulated", annotations: { "storageclass.kubernetes.io/is-default-class": "true" } },
    provisioner: "kwok.x-k8s.io/volume",
    allowVolumeExpansion: true,
  },
  {
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata: { name: "simulated-fixed" },
    provisioner: "kwok.x-k8s.io/volume",
  },
];

/** Through which tests say what a pod has logged; the schema is left to kwok. */
export const LOG_DEFINITIONS: readonly KubeObject[] = [
  definition("Logs", "logs", "Namespaced"),
  definition("ClusterLogs", "clusterlogs", "Cluster"),
];

function definition(kind: string, plural: string, scope: string): KubeObject {
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.kwok.x-k8s.io` },
    spec: {
      group: "kwok.x-k8s.io",
      scope,
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [{ name: "v1alpha1", served: true, storage: true, schema, subresources: { status: {} } }],
    },
  };
}

/** Leads `metrics.k8s.io` to a metrics-server on this machine. */
export function metricsApi(port: number): readonly KubeObject[] {
  const service = { name: "metrics-server", namespace: "kube-system", port };
  return [
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: service.name, namespace: service.namespace },
      spec: { type: "ExternalName", externalName: "localhost", ports: [{ port }] },
    },
    {
      apiVersion: "apiregistration.k8s.io/v1",
      kind: "APIService",
      metadata: { name: "v1beta1.metrics.k8s.io" },
      spec: {
        group: "metrics.k8s.io",
        version: "v1beta1",
        groupPriorityMinimum: 100,
        versionPriority: 100,
        insecureSkipTLSVerify: true,
        service,
      },
    },
  ];
}
