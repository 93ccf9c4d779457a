import { describe, expect, test } from "vitest";
import type { KubeObject } from "../../store/kube-object.ts";
import type { JsonRecord } from "../fields/typed-value.ts";
import { changeProblems } from "./changes.ts";
import { kindProblems } from "./kinds.ts";
import { metadataProblems } from "./metadata.ts";

const CONTAINER = { name: "main", image: "web:1", imagePullPolicy: "Always" };
const LABELS = { app: "web" };

const pod = (container: JsonRecord = {}, spec: JsonRecord = {}): JsonRecord => ({
  spec: { containers: [{ ...CONTAINER, ...container }], ...spec },
});
const workload = (spec: JsonRecord = {}, podSpec: JsonRecord = {}): JsonRecord => ({
  spec: {
    replicas: 1,
    selector: { matchLabels: LABELS },
    template: { metadata: { labels: LABELS }, spec: { containers: [CONTAINER], restartPolicy: "Always", ...podSpec } },
    ...spec,
  },
});
const jobSpec = (policy: string) => ({ template: { spec: { containers: [CONTAINER], restartPolicy: policy } } });
const cronJob = (schedule: string): JsonRecord => ({ spec: { schedule, jobTemplate: { spec: jobSpec("Never") } } });
const service = (spec: JsonRecord): JsonRecord => ({ spec: { type: "ClusterIP", ports: [{ port: 80 }], ...spec } });
const autoscaler = (spec: JsonRecord): JsonRecord => ({
  spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" }, ...spec },
});
const claim = (spec: JsonRecord): JsonRecord => ({
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, ...spec },
});
const ingress = (rule: JsonRecord): JsonRecord => ({ spec: { rules: [rule] } });

/** A kind, an object, and the fields that are wrong with it. */
const OBJECTS: readonly (readonly [string, string, JsonRecord, readonly string[]])[] = [
  ["a pod", "pods", pod(), []],
  ["a Secret of a mebibyte", "secrets", { data: { a: Buffer.alloc(1_048_576).toString("base64") } }, []],
  ["a Secret of more", "secrets", { data: { a: Buffer.alloc(1_048_576).toString("base64"), b: "YQ==" } }, ["data"]],
  ["no containers", "pods", { spec: { containers: [] } }, ["spec.containers"]],
  ["no image", "pods", pod({ image: "" }), ["spec.containers[0].image"]],
  ["a name that is not a label", "pods", pod({ name: "Main" }), ["spec.containers[0].name"]],
  ["two containers of one name", "pods", { spec: { containers: [CONTAINER, CONTAINER] } }, ["spec.containers[1].name"]],
  ["a pull policy", "pods", pod({ imagePullPolicy: "Sometimes" }), ["spec.containers[0].imagePullPolicy"]],
  ["a port of 0", "pods", pod({ ports: [{ containerPort: 0 }] }), ["spec.containers[0].ports[0].containerPort"]],
  ["a port above", "pods", pod({ ports: [{ containerPort: 65_536 }] }), ["spec.containers[0].ports[0].containerPort"]],
  ["a variable with =", "pods", pod({ env: [{ name: "A=B" }] }), ["spec.containers[0].env[0].name"]],
  [
    "a mount of nothing",
    "pods",
    pod({ volumeMounts: [{ name: "data", mountPath: "/data" }] }),
    ["spec.containers[0].volumeMounts[0].name"],
  ],
  [
    "a mount of a volume",
    "pods",
    pod({ volumeMounts: [{ name: "data", mountPath: "/data" }] }, { volumes: [{ name: "data", emptyDir: {} }] }),
    [],
  ],
  [
    "a claim without a name",
    "pods",
    pod({}, { volumes: [{ name: "data", persistentVolumeClaim: {} }] }),
    ["spec.volumes[0].persistentVolumeClaim.claimName"],
  ],
  ["a probe of nothing", "pods", pod({ readinessProbe: {} }), ["spec.containers[0].readinessProbe"]],
  ["a workload", "deployments.apps", workload(), []],
  ["replicas below 0", "deployments.apps", workload({ replicas: -1 }), ["spec.replicas"]],
  [
    "another selector",
    "deployments.apps",
    workload({ selector: { matchLabels: { app: "api" } } }),
    ["spec.template.metadata.labels"],
  ],
  ["no restart", "statefulsets.apps", workload({}, { restartPolicy: "Never" }), ["spec.template.spec.restartPolicy"]],
  ["a job that restarts always", "jobs.batch", { spec: jobSpec("Always") }, ["spec.template.spec.restartPolicy"]],
  ["a schedule", "cronjobs.batch", cronJob("*/5 0 1,15 * MON-FRI"), []],
  ["a macro", "cronjobs.batch", cronJob("@hourly"), []],
  ["four fields", "cronjobs.batch", cronJob("* * * *"), ["spec.schedule"]],
  ["a sign", "cronjobs.batch", cronJob("* * * * %"), ["spec.schedule"]],
  ["no ports", "services", service({ ports: [] }), ["spec.ports"]],
  ["no ports and no address", "services", service({ ports: [], clusterIP: "None" }), []],
  [
    "ports without names",
    "services",
    service({ ports: [{ port: 1 }, { name: "b", port: 2 }] }),
    ["spec.ports[0].name"],
  ],
  ["an unknown type", "services", service({ type: "Pigeon" }), ["spec.type"]],
  ["an external name", "services", service({ type: "ExternalName", ports: [] }), ["spec.externalName"]],
  ["more than most", "horizontalpodautoscalers.autoscaling", autoscaler({ minReplicas: 4 }), ["spec.maxReplicas"]],
  ["none at least", "horizontalpodautoscalers.autoscaling", autoscaler({ minReplicas: 0 }), ["spec.minReplicas"]],
  [
    "no target",
    "horizontalpodautoscalers.autoscaling",
    autoscaler({ scaleTargetRef: {} }),
    ["spec.scaleTargetRef.kind", "spec.scaleTargetRef.name", "spec.scaleTargetRef.apiVersion"],
  ],
  ["no mode", "persistentvolumeclaims", claim({ accessModes: [] }), ["spec.accessModes"]],
  ["no size", "persistentvolumeclaims", claim({ resources: {} }), ["spec.resources[storage]"]],
  ["a key with a slash", "configmaps", { data: { "a/b": "1" } }, ["data[a/b]"]],
  ["no certificate", "secrets", { type: "kubernetes.io/tls", data: { "tls.key": "" } }, ["data[tls.crt]"]],
  ["a host with a port", "ingresses.networking.k8s.io", ingress({ host: "a.example:80" }), ["spec.rules[0].host"]],
  ["a wildcard", "ingresses.networking.k8s.io", ingress({ host: "*.example.com" }), []],
  [
    "a path of no type",
    "ingresses.networking.k8s.io",
    ingress({ http: { paths: [{}] } }),
    ["spec.rules[0].http.paths[0].pathType"],
  ],
  [
    "paths with odd steps",
    "ingresses.networking.k8s.io",
    ingress({ http: { paths: ["/a/../b", "/a/.", "/a/"].map((path) => ({ path, pathType: "Prefix" })) } }),
    ["spec.rules[0].http.paths[0].path", "spec.rules[0].http.paths[1].path"],
  ],
  [
    "a lease that ends at once",
    "leases.coordination.k8s.io",
    { spec: { leaseDurationSeconds: 0 } },
    ["spec.leaseDurationSeconds"],
  ],
  ["anything of another kind", "widgets.example.com", { spec: null }, []],
];

test.each(OBJECTS)("[SA25] the validation of %s of %s names every wrong field", (_, kind, object, fields) => {
  expect(kindProblems(kind, object).map(({ field }) => field)).toEqual(fields);
});

describe("an update", () => {
  const set = (spec: JsonRecord) => workload({ serviceName: "web", ...spec });
  const job = (image: string, suspended = false): JsonRecord => ({
    spec: { suspend: suspended, template: { spec: { containers: [{ ...CONTAINER, image }] } } },
    ...(suspended ? {} : { status: { startTime: "2026-01-31T09:30:00Z" } }),
  });
  const waiting = (nodeSelector: JsonRecord): JsonRecord => ({
    spec: { suspend: true, template: { spec: { containers: [CONTAINER], nodeSelector } } },
  });
  const sealed = (data: JsonRecord): JsonRecord => ({ immutable: true, data });

  /** A kind, an object before and after, and the fields that may not change. */
  const UPDATES: readonly (readonly [string, string, JsonRecord, JsonRecord, readonly string[]])[] = [
    ["replicas", "deployments.apps", workload(), workload({ replicas: 5 }), []],
    ["a selector", "deployments.apps", workload(), workload({ selector: {} }), ["spec.selector"]],
    ["the template of a set", "statefulsets.apps", set({}), set({ template: {} }), []],
    ["the service of a set", "statefulsets.apps", set({}), set({ serviceName: "db" }), ["spec.serviceName"]],
    ["anything else of a set", "statefulsets.apps", set({}), set({ other: 1 }), ["spec"]],
    ["the image of a job", "jobs.batch", job("web:1"), job("web:2"), ["spec.template.spec"]],
    ["where a waiting job runs", "jobs.batch", waiting({}), waiting({ disk: "ssd" }), []],
    ["the size of a claim", "persistentvolumeclaims", claim({}), claim({ resources: {} }), []],
    ["the volume that a claim gets", "persistentvolumeclaims", claim({}), claim({ volumeName: "pv-1" }), []],
    ["the class of a claim", "persistentvolumeclaims", claim({}), claim({ storageClassName: "fast" }), ["spec"]],
    [
      "an address",
      "services",
      service({ clusterIP: "10.96.1.0" }),
      service({ clusterIP: "10.96.1.1" }),
      ["spec.clusterIPs[0]"],
    ],
    ["the type of a Secret", "secrets", { type: "Opaque" }, { type: "kubernetes.io/tls" }, ["type"]],
    ["a sealed ConfigMap", "configmaps", sealed({ a: "1" }), sealed({ a: "2" }), ["data"]],
    ["the image of a pod", "pods", pod(), pod({ image: "web:2" }), []],
    ["the command of a pod", "pods", pod(), pod({ command: ["sh"] }), ["spec"]],
    [
      "a role",
      "rolebindings.rbac.authorization.k8s.io",
      { roleRef: { name: "a" } },
      { roleRef: { name: "b" } },
      ["roleRef"],
    ],
  ];

  test.each(UPDATES)("[SA25] an update of %s in %s names what may not change", (_, kind, before, after, fields) => {
    expect(changeProblems(kind, before, after).map(({ field }) => field)).toEqual(fields);
  });
});

describe("metadata", () => {
  const named = (metadata: Partial<KubeObject["metadata"]>): KubeObject => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "web", ...metadata },
  });

  test.each([
    ["a subdomain", "configmaps", named({ name: "web.example" }), []],
    ["no name", "configmaps", named({ name: "" }), ["metadata.name"]],
    ["capitals", "configmaps", named({ name: "Web" }), ["metadata.name"]],
    ["a dot in a namespace", "namespaces", named({ name: "a.b" }), ["metadata.name"]],
    ["a colon in a role", "roles.rbac.authorization.k8s.io", named({ name: "system:a" }), []],
    ["a slash in a role", "roles.rbac.authorization.k8s.io", named({ name: "a/b" }), ["metadata.name"]],
    ["a label key", "configmaps", named({ labels: { "a/b/c": "1" } }), ["metadata.labels"]],
    ["a label value", "configmaps", named({ labels: { a: "x".repeat(64) } }), ["metadata.labels"]],
    ["a finalizer", "configmaps", named({ finalizers: ["not a name"] }), ["metadata.finalizers"]],
  ] as const)("[SA25] the validation of metadata with %s in %s names every wrong field", (_, kind, object, fields) => {
    expect(metadataProblems(kind, object).map(({ field }) => field)).toEqual(fields);
  });
});
