import { API_GROUP, canonicalJson } from "@binnacle/contract";
import type { KubeObject } from "../../kube/kube-client.ts";
import { shortHash } from "../names.ts";
import { fieldsOf, objectOf, present, someOf, type WorkloadContext } from "./component-context.ts";
import { claimTemplates, labelsOf, podTemplate, startupSeconds, terminationSeconds } from "./pod-template.ts";

/** Earlier versions are kept by the control plane, with all that belongs to them. */
const REVISIONS_KEPT = 3;
const PROGRESS_SECONDS = 600;
const JOB_RETRIES = 3;
const RUNS_KEPT = 3;
const LATEST_START_SECONDS = 3600;

const isScaled = ({ kind = "deployment" }: WorkloadContext["spec"]): boolean =>
  kind === "deployment" || kind === "statefulset";
const scalesByItself = ({ spec, isPaused }: WorkloadContext): boolean =>
  spec.autoscale !== undefined && !isPaused && isScaled(spec);

/** With an autoscaler the field is left out: two managers that both set it would overwrite each other forever. */
function replicas(context: WorkloadContext): number | undefined {
  if (context.isPaused) return 0;
  return scalesByItself(context) ? undefined : (context.spec.replicas ?? 1);
}

const MAKERS = { deployment, statefulset: statefulSet, daemonset: daemonSet, job, cronjob: cronJob };

/** Renders the object that runs the component's containers. Only it and its pods have the component's own labels. */
export function workloadObject(context: WorkloadContext): KubeObject {
  const object = MAKERS[context.spec.kind ?? "deployment"](context);
  const annotations = fieldsOf({ ...context.spec.annotations });
  return { ...object, metadata: { ...object.metadata, ...present({ labels: labelsOf(context), annotations }) } };
}

/** Old pods that take longer than usual to end hold up those that replace them. */
const slowEndSeconds = (spec: WorkloadContext["spec"]): number =>
  Math.max(0, terminationSeconds(spec) - terminationSeconds({}));

function deployment(context: WorkloadContext): KubeObject {
  const { spec, names, selector } = context;
  // Where a volume is mounted on one node at a time, a new pod elsewhere would wait for it for as long as the old one runs.
  const strategy = spec.volumes?.some(({ access_mode }) => access_mode !== "ReadWriteMany")
    ? { type: "Recreate" }
    : { type: "RollingUpdate", rollingUpdate: { maxSurge: "25%", maxUnavailable: 0 } };
  return objectOf(context, "apps/v1", "Deployment", names.base, {
    spec: present({
      replicas: replicas(context),
      revisionHistoryLimit: REVISIONS_KEPT,
      progressDeadlineSeconds: PROGRESS_SECONDS + startupSeconds(spec.probes) + slowEndSeconds(spec),
      selector: { matchLabels: selector },
      strategy,
      template: podTemplate(context),
    }),
  });
}

function statefulSet(context: WorkloadContext): KubeObject {
  const { names, selector } = context;
  return objectOf(context, "apps/v1", "StatefulSet", names.suffixable, {
    spec: present({
      replicas: replicas(context),
      serviceName: names.headless,
      // Replicas in order would keep a broken one in the way of the version that mends it.
      podManagementPolicy: "Parallel",
      updateStrategy: { type: "RollingUpdate" },
      revisionHistoryLimit: REVISIONS_KEPT,
      persistentVolumeClaimRetentionPolicy: { whenDeleted: "Retain", whenScaled: "Retain" },
      selector: { matchLabels: selector },
      template: podTemplate(context),
      volumeClaimTemplates: claimTemplates(context),
    }),
  });
}

/** A DaemonSet has no number of replicas that could be 0. While the app is paused it asks for nodes that do not exist. */
const NO_NODE = { [`${API_GROUP}/paused`]: "true" };

function daemonSet(context: WorkloadContext): KubeObject {
  const { names, selector, spec, isPaused } = context;
  const whole = isPaused
    ? { ...context, spec: { ...spec, node_selector: { ...spec.node_selector, ...NO_NODE } } }
    : context;
  return objectOf(context, "apps/v1", "DaemonSet", names.base, {
    spec: {
      revisionHistoryLimit: REVISIONS_KEPT,
      updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 1 } },
      selector: { matchLabels: selector },
      template: podTemplate(whole),
    },
  });
}

/** Pull secrets come by its account: one more of them is not a reason to do the work again. */
function job(context: WorkloadContext): KubeObject {
  const { names, isPaused } = context;
  const options = { restartPolicy: "Never", serviceAccountName: names.base } as const;
  const template = podTemplate(context, options);
  // The level is not part of the name: work that is done is not done again because the level has changed.
  const named = podTemplate({ ...context, podSecurity: "baseline" }, options);
  return objectOf(context, "batch/v1", "Job", names.job(shortHash(canonicalJson(named))), {
    spec: { suspend: isPaused, backoffLimit: JOB_RETRIES, template },
  });
}

export function accountObjects(context: WorkloadContext): KubeObject[] {
  if (context.spec.kind !== "job") return [];
  return [
    objectOf(
      context,
      "v1",
      "ServiceAccount",
      context.names.base,
      present({
        automountServiceAccountToken: false,
        imagePullSecrets: someOf(context.pullSecrets.map((name) => ({ name }))),
      }),
    ),
  ];
}

function cronJob(context: WorkloadContext): KubeObject {
  const { spec, names, isPaused } = context;
  return objectOf(context, "batch/v1", "CronJob", names.suffixable, {
    spec: {
      schedule: spec.schedule ?? "",
      timeZone: "Etc/UTC",
      suspend: isPaused,
      concurrencyPolicy: "Forbid",
      startingDeadlineSeconds: LATEST_START_SECONDS,
      successfulJobsHistoryLimit: RUNS_KEPT,
      failedJobsHistoryLimit: RUNS_KEPT,
      jobTemplate: {
        metadata: present({ labels: labelsOf(context), annotations: fieldsOf({ ...spec.annotations }) }),
        spec: { backoffLimit: JOB_RETRIES, template: podTemplate(context, { restartPolicy: "Never" }) },
      },
    },
  });
}

/** There is no autoscaler while the app is paused: it would start the replicas again at once. */
export function autoscalerObjects(
  context: WorkloadContext,
  { apiVersion, kind, metadata: { name } }: KubeObject,
): KubeObject[] {
  const { autoscale } = context.spec;
  if (!autoscale || !scalesByItself(context)) return [];
  return [
    objectOf(context, "autoscaling/v2", "HorizontalPodAutoscaler", context.names.base, {
      spec: {
        scaleTargetRef: { apiVersion, kind, name },
        minReplicas: autoscale.min,
        maxReplicas: autoscale.max,
        metrics: [
          {
            type: "Resource",
            resource: { name: "cpu", target: { type: "Utilization", averageUtilization: autoscale.cpu_percent } },
          },
        ],
      },
    }),
  ];
}

/**
 * Lets a drain of nodes take one replica at a time, and none of a workload that has only one: that drain would never end.
 * Replicas that are not ready anyway do not hold up a drain.
 */
export function disruptionObjects(context: WorkloadContext): KubeObject[] {
  const { spec, names, selector, isPaused } = context;
  const least = isPaused ? 0 : (spec.autoscale?.min ?? spec.replicas ?? 1);
  if (!isScaled(spec) || least < 2) return [];
  return [
    objectOf(context, "policy/v1", "PodDisruptionBudget", names.base, {
      spec: { maxUnavailable: 1, unhealthyPodEvictionPolicy: "AlwaysAllow", selector: { matchLabels: selector } },
    }),
  ];
}
