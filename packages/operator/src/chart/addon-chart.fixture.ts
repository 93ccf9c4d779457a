import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const METADATA = { name: "{{ .Release.Name }}" };
const LABELS = { app: "db" };
const POD = { metadata: { labels: LABELS }, spec: { containers: [{ name: "db", image: "db:1" }] } };

/** The objects of a chart of a database or a queue: a cluster of servers that find each other. */
const NAMESPACED = [
  { apiVersion: "v1", kind: "ServiceAccount", metadata: METADATA },
  { apiVersion: "v1", kind: "Secret", metadata: METADATA, stringData: { password: "s3cret" } },
  { apiVersion: "v1", kind: "Service", metadata: METADATA, spec: { selector: LABELS, ports: [{ port: 5432 }] } },
  {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: METADATA,
    spec: { serviceName: "db", selector: { matchLabels: LABELS }, template: POD },
  },
  {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: METADATA,
    spec: { maxUnavailable: 1, selector: { matchLabels: LABELS } },
  },
  { apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy", metadata: METADATA, spec: { podSelector: {} } },
  {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "Role",
    metadata: METADATA,
    rules: [
      { apiGroups: [""], resources: ["endpoints"], verbs: ["get"] },
      { apiGroups: [""], resources: ["events"], verbs: ["create"] },
    ],
  },
  {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "RoleBinding",
    metadata: METADATA,
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: METADATA.name },
    subjects: [{ kind: "ServiceAccount", name: METADATA.name }],
  },
];

/** The additional objects of a chart of a controller. */
const CLUSTER_WIDE = [
  { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata: METADATA, rules: [] },
];

/** Writes such a chart and names its folder. */
export function writeAddonChart(folder: string, { isClusterWide }: { readonly isClusterWide: boolean }): string {
  const chart = join(folder, isClusterWide ? "controller" : "database");
  mkdirSync(join(chart, "templates"), { recursive: true });
  writeFileSync(join(chart, "Chart.yaml"), JSON.stringify({ apiVersion: "v2", name: "addon", version: "1.0.0" }));
  const objects = [...NAMESPACED, ...(isClusterWide ? CLUSTER_WIDE : [])];
  // JSON is YAML.
  writeFileSync(join(chart, "templates/all.yaml"), objects.map((object) => JSON.stringify(object)).join("\n---\n"));
  return chart;
}
