import { isRecord, type JsonRecord } from "../fields/typed-value.ts";
import { whenAbsent, whenEmpty } from "./pod-defaults.ts";

type Defaults = Readonly<Record<string, (value: JsonRecord) => JsonRecord>>;

const recordOf = (value: unknown): JsonRecord => (isRecord(value) ? value : {});

export const WORKLOAD_DEFAULTS: Defaults = {
  "apps.v1.DeploymentSpec": (spec) =>
    whenAbsent(spec, { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 }),
  "apps.v1.DeploymentStrategy": (strategy) => rolling(strategy, { maxUnavailable: "25%", maxSurge: "25%" }),
  "apps.v1.ReplicaSetSpec": (spec) => whenAbsent(spec, { replicas: 1 }),
  "apps.v1.DaemonSet": ({ metadata }) => {
    const annotations = {
      "deprecated.daemonset.template.generation": "1",
      ...recordOf(recordOf(metadata)["annotations"]),
    };
    return { metadata: { ...recordOf(metadata), annotations } };
  },
  "apps.v1.DaemonSetSpec": (spec) => whenAbsent(spec, { revisionHistoryLimit: 10 }),
  "apps.v1.DaemonSetUpdateStrategy": (strategy) => rolling(strategy, { maxUnavailable: 1, maxSurge: 0 }),
  "apps.v1.StatefulSetSpec": (spec) => ({
    ...whenEmpty(spec, { podManagementPolicy: "OrderedReady" }),
    ...whenAbsent(spec, { replicas: 1, revisionHistoryLimit: 10, persistentVolumeClaimRetentionPolicy: {} }),
    ...(Array.isArray(spec["volumeClaimTemplates"])
      ? { volumeClaimTemplates: spec["volumeClaimTemplates"].map((claim) => ({ ...recordOf(claim), ...CLAIM })) }
      : {}),
  }),
  "apps.v1.StatefulSetUpdateStrategy": (strategy) => {
    if (strategy["type"]) return {};
    return { type: "RollingUpdate", ...whenAbsent(strategy, { rollingUpdate: {} }) };
  },
  "apps.v1.RollingUpdateStatefulSetStrategy": (strategy) => whenAbsent(strategy, { partition: 0, maxUnavailable: 1 }),
  "apps.v1.StatefulSetPersistentVolumeClaimRetentionPolicy": (policy) =>
    whenEmpty(policy, { whenDeleted: "Retain", whenScaled: "Retain" }),
  "batch.v1.Job": ({ metadata, spec }) => {
    const labels = recordOf(recordOf(recordOf(recordOf(spec)["template"])["metadata"])["labels"]);
    const own = recordOf(recordOf(metadata)["labels"]);
    const isTaken = Object.keys(own).length === 0 && Object.keys(labels).length > 0;
    return {
      spec: { ...recordOf(spec), ...jobDefaults(recordOf(spec)) },
      ...(isTaken ? { metadata: { ...recordOf(metadata), labels } } : {}),
    };
  },
  "batch.v1.CronJobSpec": (spec) => ({
    ...whenEmpty(spec, { concurrencyPolicy: "Allow" }),
    ...whenAbsent(spec, { suspend: false, successfulJobsHistoryLimit: 3, failedJobsHistoryLimit: 1 }),
  }),
  "autoscaling.v2.HorizontalPodAutoscalerSpec": (spec) => ({
    ...whenAbsent(spec, { minReplicas: 1 }),
    ...(Array.isArray(spec["metrics"]) && spec["metrics"].length > 0 ? {} : { metrics: [CPU_METRIC] }),
  }),
  "autoscaling.v2.HorizontalPodAutoscalerBehavior": ({ scaleUp, scaleDown }) => ({
    scaleUp: { ...SCALE_UP, ...recordOf(scaleUp) },
    scaleDown: { ...SCALE_DOWN, ...recordOf(scaleDown) },
  }),
};

function rolling(strategy: JsonRecord, limits: JsonRecord): JsonRecord {
  const type = strategy["type"] || "RollingUpdate";
  if (type !== "RollingUpdate") return {};
  const given = recordOf(strategy["rollingUpdate"]);
  return { type, rollingUpdate: { ...given, ...whenAbsent(given, limits) } };
}

function jobDefaults(spec: JsonRecord): JsonRecord {
  const isPlain = (spec["completions"] ?? null) === null && (spec["parallelism"] ?? null) === null;
  return {
    ...(isPlain ? { completions: 1 } : {}),
    ...whenAbsent(spec, {
      parallelism: 1,
      backoffLimit: (spec["backoffLimitPerIndex"] ?? null) === null ? 6 : 2_147_483_647,
      completionMode: "NonIndexed",
      suspend: false,
      podReplacementPolicy: (spec["podFailurePolicy"] ?? null) === null ? "TerminatingOrFailed" : "Failed",
      manualSelector: false,
    }),
  };
}

const CLAIM = { kind: "PersistentVolumeClaim", apiVersion: "v1" };

const CPU_METRIC = {
  type: "Resource",
  resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 80 } },
};
const SCALE_UP = {
  stabilizationWindowSeconds: 0,
  selectPolicy: "Max",
  policies: [
    { type: "Pods", value: 4, periodSeconds: 15 },
    { type: "Percent", value: 100, periodSeconds: 15 },
  ],
};
const SCALE_DOWN = { selectPolicy: "Max", policies: [{ type: "Percent", value: 100, periodSeconds: 15 }] };
