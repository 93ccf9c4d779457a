import type { KubeObject } from "../../store/kube-object.ts";
import { isRecord, type JsonRecord } from "../fields/typed-value.ts";
import type { Core } from "../ports.ts";
import type { Resource } from "../resource.ts";
import { at, numberAt, recordAt, recordsAt, textAt } from "../validation/metadata.ts";

/** kubectl asks for tables, which it only has to print. */
export const isTableAsked = (accept = ""): boolean => accept.includes("as=Table") && accept.includes("meta.k8s.io");

export function asTable({ clock }: Core, resource: Resource, objects: readonly KubeObject[], metadata: JsonRecord) {
  const columns = columnsOf(resource);
  const nowMs = clock.nowMs();
  return {
    kind: "Table",
    apiVersion: "meta.k8s.io/v1",
    metadata,
    columnDefinitions: columns.map(({ name, type = "string", priority = 0 }) => ({
      name,
      type,
      format: name === "Name" ? "name" : "",
      description: "",
      priority,
    })),
    rows: objects.map((object) => ({
      cells: columns.map(({ cell }) => cell(object, nowMs)),
      object: { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: object.metadata },
    })),
  };
}

export const tableEvent =
  (core: Core, resource: Resource) =>
  (object: KubeObject): unknown =>
    asTable(core, resource, [object], { resourceVersion: object.metadata.resourceVersion ?? "" });

export interface Column {
  readonly name: string;
  readonly type?: string;
  /** Above 0 it is shown only when everything is asked for. */
  readonly priority?: number;
  readonly cell: (object: KubeObject, nowMs: number) => unknown;
}

const NAME: Column = { name: "Name", cell: ({ metadata }) => metadata.name };
const AGE: Column = { name: "Age", cell: ({ metadata }, nowMs) => age(metadata.creationTimestamp, nowMs) };

const text = (name: string, ...path: readonly string[]): Column => ({
  name,
  cell: (object) => at(object, ...path) ?? "<none>",
});
const number = (name: string, ...path: readonly string[]): Column => ({
  name,
  type: "integer",
  cell: (object) => at(object, ...path) ?? 0,
});
const keys = (name: string, ...path: readonly string[]): Column => ({
  name,
  type: "integer",
  cell: (object) => Object.keys(recordAt(object, ...path)).length,
});

const COLUMNS: Readonly<Record<string, readonly Column[]>> = {
  pods: [
    { name: "Ready", cell: readiness },
    { name: "Status", cell: podStatus },
    { name: "Restarts", cell: restarts },
    AGE,
    { ...text("IP", "status", "podIP"), priority: 1 },
    { ...text("Node", "spec", "nodeName"), priority: 1 },
  ],
  "deployments.apps": [
    {
      name: "Ready",
      cell: (object) => `${numberAt(object, "status", "readyReplicas")}/${numberAt(object, "spec", "replicas")}`,
    },
    number("Up-to-date", "status", "updatedReplicas"),
    number("Available", "status", "availableReplicas"),
    AGE,
  ],
  "statefulsets.apps": [
    {
      name: "Ready",
      cell: (object) => `${numberAt(object, "status", "readyReplicas")}/${numberAt(object, "spec", "replicas")}`,
    },
    AGE,
  ],
  "replicasets.apps": [
    number("Desired", "spec", "replicas"),
    number("Current", "status", "replicas"),
    number("Ready", "status", "readyReplicas"),
    AGE,
  ],
  "jobs.batch": [
    { name: "Status", cell: jobStatus },
    {
      name: "Completions",
      cell: (object) => `${numberAt(object, "status", "succeeded")}/${numberAt(object, "spec", "completions")}`,
    },
    AGE,
  ],
  "cronjobs.batch": [text("Schedule", "spec", "schedule"), text("Suspend", "spec", "suspend"), AGE],
  services: [
    text("Type", "spec", "type"),
    text("Cluster-IP", "spec", "clusterIP"),
    { name: "External-IP", cell: () => "<none>" },
    { name: "Port(s)", cell: ports },
    AGE,
  ],
  configmaps: [keys("Data", "data"), AGE],
  secrets: [text("Type", "type"), keys("Data", "data"), AGE],
  namespaces: [text("Status", "status", "phase"), AGE],
  nodes: [
    { name: "Status", cell: (object) => (isReady(object) ? "Ready" : "NotReady") },
    { name: "Roles", cell: () => "<none>" },
    AGE,
    text("Version", "status", "nodeInfo", "kubeletVersion"),
  ],
  persistentvolumeclaims: [
    text("Status", "status", "phase"),
    text("Volume", "spec", "volumeName"),
    text("Capacity", "status", "capacity", "storage"),
    text("StorageClass", "spec", "storageClassName"),
    AGE,
  ],
  "horizontalpodautoscalers.autoscaling": [
    {
      name: "Reference",
      cell: (object) =>
        `${textAt(object, "spec", "scaleTargetRef", "kind")}/${textAt(object, "spec", "scaleTargetRef", "name")}`,
    },
    number("MinPods", "spec", "minReplicas"),
    number("MaxPods", "spec", "maxReplicas"),
    number("Replicas", "status", "currentReplicas"),
    AGE,
  ],
  "ingresses.networking.k8s.io": [
    text("Class", "spec", "ingressClassName"),
    {
      name: "Hosts",
      cell: (object) =>
        recordsAt(object, "spec", "rules")
          .map((rule) => textAt(rule, "host") || "*")
          .join(",") || "*",
    },
    AGE,
  ],
  events: [
    {
      name: "Last Seen",
      cell: (object, nowMs) => age(textAt(object, "lastTimestamp") || object.metadata.creationTimestamp, nowMs),
    },
    text("Type", "type"),
    text("Reason", "reason"),
    {
      name: "Object",
      cell: (object) =>
        `${textAt(object, "involvedObject", "kind").toLowerCase()}/${textAt(object, "involvedObject", "name")}`,
    },
    text("Message", "message"),
  ],
};

function columnsOf({ id, custom }: Resource): readonly Column[] {
  // An event's name tells nobody anything.
  if (id === "events") return [...(COLUMNS[id] ?? []), { ...NAME, priority: 1 }];
  if (!custom || custom.columns.length === 0) return [NAME, ...(COLUMNS[id] ?? [AGE])];
  const own = custom.columns.map(({ name, type, jsonPath, priority }) => ({
    name: String(name),
    type: type === "date" ? "string" : String(type),
    priority: Number(priority ?? 0),
    cell: (object: KubeObject, nowMs: number) => customCell(object, String(jsonPath), type === "date", nowMs),
  }));
  return [NAME, ...own];
}

/** Plain paths, and `[?(@.type=="Ready")]` in them; whatever else a path may say shows nothing. */
function customCell(object: KubeObject, path: string, isDate: boolean, nowMs: number): unknown {
  const steps = path.match(/\.[\w-]+|\[\?\(@\.(\w+)==["']([^"']+)["']\)\]/g) ?? [];
  const value = steps.reduce<unknown>((inner, step) => {
    if (step.startsWith(".")) return isRecord(inner) ? inner[step.slice(1)] : undefined;
    const [, field = "", wanted] = /@\.(\w+)==["']([^"']+)["']/.exec(step) ?? [];
    return Array.isArray(inner) ? inner.find((one) => isRecord(one) && one[field] === wanted) : undefined;
  }, object);
  return isDate && typeof value === "string" ? age(value, nowMs) : (value ?? "");
}

const UNITS = [
  [86_400, "d"],
  [3_600, "h"],
  [60, "m"],
] as const;

function age(time: string | undefined, nowMs: number): string {
  if (time === undefined) return "<unknown>";
  const seconds = Math.max(0, Math.floor((nowMs - Date.parse(time)) / 1000));
  const unit = UNITS.find(([length]) => seconds >= 2 * length);
  return unit ? `${Math.floor(seconds / unit[0])}${unit[1]}` : `${seconds}s`;
}

function readiness(pod: KubeObject): string {
  const statuses = recordsAt(pod, "status", "containerStatuses");
  return `${statuses.filter((one) => one["ready"] === true).length}/${recordsAt(pod, "spec", "containers").length}`;
}

function podStatus(pod: KubeObject): string {
  if (pod.metadata.deletionTimestamp) return "Terminating";
  const reasons = recordsAt(pod, "status", "containerStatuses").map(
    (one) => textAt(one, "state", "waiting", "reason") || textAt(one, "state", "terminated", "reason"),
  );
  return (
    reasons.find((reason) => reason !== "") ??
    (textAt(pod, "status", "reason") || textAt(pod, "status", "phase") || "Unknown")
  );
}

function restarts(pod: KubeObject): string {
  return String(
    recordsAt(pod, "status", "containerStatuses").reduce((sum, one) => sum + Number(one["restartCount"] ?? 0), 0),
  );
}

function jobStatus(job: KubeObject): string {
  const done = recordsAt(job, "status", "conditions").find(
    (one) => one["status"] === "True" && ["Complete", "Failed", "Suspended"].includes(textAt(one, "type")),
  );
  return done ? textAt(done, "type") : "Running";
}

function ports(service: KubeObject): string {
  const texts = recordsAt(service, "spec", "ports").map(
    (port) => `${String(port["port"])}/${textAt(port, "protocol")}`,
  );
  return texts.join(",") || "<none>";
}

const isReady = (node: KubeObject): boolean =>
  recordsAt(node, "status", "conditions").some((one) => one["type"] === "Ready" && one["status"] === "True");
