import type { UsageSource } from "../api/ports.ts";
import type { KubeObject } from "../store/kube-object.ts";
import { type AutoscalerMetric, currentMetric, measure } from "./autoscaler-metrics.ts";
import { type Controller, NOTHING, type Outcome, placeOf, type View, type Write } from "./control.ts";
import { type LabelSelector, selects } from "./owners.ts";
import { type Condition, isDeleting, type Pod, withCondition } from "./pod.ts";
import { msOf, normal, present, secondsAfter, stampOf, statusWrites } from "./writes.ts";

export interface Autoscaler extends KubeObject {
  readonly spec: {
    readonly scaleTargetRef: { readonly kind: string; readonly name: string; readonly apiVersion?: string };
    readonly minReplicas?: number;
    readonly maxReplicas: number;
    readonly metrics?: readonly AutoscalerMetric[];
    readonly behavior?: { readonly scaleDown?: { readonly stabilizationWindowSeconds?: number } };
  };
  readonly status?: { readonly lastScaleTime?: string; readonly conditions?: readonly Condition[] };
}

const AUTOSCALERS = "horizontalpodautoscalers.autoscaling";
const SOURCE = "horizontal-pod-autoscaler";
const PERIOD_MS = 15_000;
const CALM_SECONDS = 300;
const DEFAULT_METRICS: readonly AutoscalerMetric[] = [
  { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 80 } } },
];

const TARGETS: Readonly<Record<string, string>> = {
  Deployment: "deployments.apps",
  StatefulSet: "statefulsets.apps",
  ReplicaSet: "replicasets.apps",
};

export interface Target extends KubeObject {
  readonly spec: { readonly replicas?: number; readonly selector?: LabelSelector };
  readonly status?: { readonly replicas?: number };
}

export const autoscalers = (usage: UsageSource): Controller => ({
  name: "autoscaler",
  concerns({ resource, type, object, previous }, view) {
    // A status is not news; the next look comes with time.
    if (type === "DELETED" || object.metadata.generation === previous?.metadata.generation) return [];
    if (resource === AUTOSCALERS) return [placeOf(AUTOSCALERS, object)];
    if (TARGETS[object.kind] !== resource || type !== "ADDED") return [];
    return (view.list(AUTOSCALERS, object.metadata.namespace) as readonly Autoscaler[])
      .filter(
        ({ spec }) => spec.scaleTargetRef.kind === object.kind && spec.scaleTargetRef.name === object.metadata.name,
      )
      .map((scaler) => placeOf(AUTOSCALERS, scaler));
  },
  step({ name, namespace }, view, nowMs) {
    const scaler = view.get(AUTOSCALERS, name, namespace) as Autoscaler | null;
    if (!scaler || isDeleting(scaler)) return NOTHING;
    const target = targetOf(scaler, view);
    const pods = target ? podsOf(target, view) : [];
    return stepAutoscaler(scaler, target, pods, usage, nowMs);
  },
});

function targetOf({ spec, metadata }: Autoscaler, view: View): Target | null {
  const resource = TARGETS[spec.scaleTargetRef.kind];
  return resource === undefined
    ? null
    : (view.get(resource, spec.scaleTargetRef.name, metadata.namespace) as Target | null);
}

const podsOf = ({ metadata, spec }: Target, view: View): readonly Pod[] =>
  (view.list("pods", metadata.namespace) as readonly Pod[]).filter((pod) =>
    selects(spec.selector, pod.metadata.labels),
  );

function stepAutoscaler(
  scaler: Autoscaler,
  target: Target | null,
  pods: readonly Pod[],
  usage: UsageSource,
  nowMs: number,
): Outcome {
  const wakeAtMs = nowMs + PERIOD_MS;
  const { scaleTargetRef, metrics = DEFAULT_METRICS } = scaler.spec;
  if (!target) {
    const message = `the HPA controller was unable to get the target's current scale: ${scaleTargetRef.kind} "${scaleTargetRef.name}" not found`;
    return { writes: statusOf(scaler, {}, [able("False", "FailedGetScale", message)], nowMs), wakeAtMs };
  }
  const current = target.spec.replicas ?? 1;
  const counts = { currentReplicas: target.status?.replicas ?? 0, desiredReplicas: current };
  if (current === 0) {
    const message = "scaling is disabled since the replica count of the target is zero";
    const disabled = { type: "ScalingActive", status: "False", reason: "ScalingDisabled", message } as const;
    return { writes: statusOf(scaler, { ...counts, desiredReplicas: 0 }, [able(), disabled], nowMs), wakeAtMs };
  }
  const measured = metrics.map((metric) => ({ metric, ...measure(metric, pods, current, usage) }));
  const wanted = measured.flatMap(({ replicas }) => replicas ?? []);
  const currentMetrics = measured.flatMap(({ metric, average }) => currentMetric(metric, average));
  const { replicas, limit } = decided(scaler, current, wanted, nowMs);
  const isScaling = replicas !== current;
  const scaledTo = { ...counts, desiredReplicas: replicas, ...(currentMetrics.length > 0 ? { currentMetrics } : {}) };
  const conditions = [
    isScaling
      ? able("True", "SucceededRescale", `the HPA controller was able to update the target scale to ${replicas}`)
      : able(),
    active(wanted.length > 0),
    limit,
  ];
  const reason = replicas > current ? "above" : "below";
  return {
    writes: [
      ...(isScaling
        ? [
            { verb: "scale" as const, ...placeOf(TARGETS[target.kind] ?? "", target), replicas },
            normal(
              SOURCE,
              scaler,
              "SuccessfulRescale",
              `New size: ${replicas}; reason: resource utilization ${reason} target`,
            ),
          ]
        : []),
      ...statusOf(scaler, { ...scaledTo, ...(isScaling ? { lastScaleTime: stampOf(nowMs) } : {}) }, conditions, nowMs),
    ],
    wakeAtMs,
  };
}

/** Within its limits; fewer only when it has been calm for long enough. */
function decided(scaler: Autoscaler, current: number, wanted: readonly number[], nowMs: number) {
  const { minReplicas = 1, maxReplicas, behavior } = scaler.spec;
  const asked = wanted.length === 0 ? current : Math.max(...wanted);
  const calmSeconds = behavior?.scaleDown?.stabilizationWindowSeconds ?? CALM_SECONDS;
  const sinceMs = Math.max(
    secondsAfter(scaler.status?.lastScaleTime, calmSeconds) ?? 0,
    (msOf(scaler.metadata.creationTimestamp) ?? 0) + calmSeconds * 1_000,
  );
  const calm = asked < current && nowMs < sinceMs ? current : asked;
  // It doubles at most, or goes up by four.
  const mostAtOnce = Math.max(current * 2, current + 4);
  const replicas = Math.min(Math.max(calm, minReplicas), maxReplicas, mostAtOnce);
  return { replicas, limit: limitOf(calm, minReplicas, maxReplicas) };
}

function limitOf(asked: number, least: number, most: number): Condition {
  const type = "ScalingLimited";
  if (asked > most)
    return {
      type,
      status: "True",
      reason: "TooManyReplicas",
      message: "the desired replica count is more than the maximum replica count",
    };
  if (asked < least)
    return {
      type,
      status: "True",
      reason: "TooFewReplicas",
      message: "the desired replica count is less than the minimum replica count",
    };
  return {
    type,
    status: "False",
    reason: "DesiredWithinRange",
    message: "the desired count is within the acceptable range",
  };
}

const able = (
  status: Condition["status"] = "True",
  reason = "ReadyForNewScale",
  message = "recommended size matches current size",
): Condition => ({ type: "AbleToScale", status, reason, message });

const active = (isMeasured: boolean): Condition =>
  isMeasured
    ? {
        type: "ScalingActive",
        status: "True",
        reason: "ValidMetricFound",
        message: "the HPA was able to successfully calculate a replica count from the simulated usage",
      }
    : {
        type: "ScalingActive",
        status: "False",
        reason: "FailedGetResourceMetric",
        message: "the HPA was unable to compute the replica count: no usage of ready pods with requests is known",
      };

function statusOf(scaler: Autoscaler, fields: object, conditions: readonly Condition[], nowMs: number): Write[] {
  const { lastScaleTime, conditions: before = [] } = scaler.status ?? {};
  const all = conditions.reduce((known, one) => withCondition(known, one, nowMs), before);
  return statusWrites(AUTOSCALERS, scaler, {
    ...present({ observedGeneration: scaler.metadata.generation, lastScaleTime }),
    currentReplicas: 0,
    desiredReplicas: 0,
    ...fields,
    conditions: all,
  });
}
