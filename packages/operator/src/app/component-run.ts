import { type ComponentRun, LABELS, RUN_KEPT_SECONDS, type RunRequest, safeText } from "@binnacle/contract";
import { ownLabels } from "../desired/ownership.ts";
import type { KubeObject } from "../kube/kube-client.ts";
import { conditionOf, type Fields, fieldsIn, listIn, specOf, statusOf, textIn } from "../kube/object-fields.ts";
import { troubleOf } from "../kube/pod-trouble.ts";

export const runNameOf = (id: string): string => `run-${id}`;

/** The pod that a workload runs, wherever its kind has it. */
function podSpecOf(workload: KubeObject): Fields {
  const { template, jobTemplate } = specOf(workload);
  const own = workload.kind === "CronJob" ? fieldsIn(fieldsIn(jobTemplate)["spec"])["template"] : template;
  return fieldsIn(fieldsIn(own)["spec"]);
}

/** They are for a pod that serves. */
const SERVING = new Set(["livenessProbe", "readinessProbe", "startupProbe", "lifecycle", "ports"]);

/**
 * A Job that runs the first container of a workload once. Its pods lack the label of the component: a Service would send them
 * requests otherwise. They mount no volume claims, which may be in use on another node, and no other container keeps them
 * alive, except one that Kubernetes itself ends.
 */
export function runJob(workload: KubeObject, request: RunRequest, clusterId: string): KubeObject {
  const { namespace, app, component, run_id } = request;
  const pod = podSpecOf(workload);
  const volumes = listIn(pod["volumes"]).filter(({ persistentVolumeClaim }) => persistentVolumeClaim === undefined);
  const mounted = new Set(volumes.map(({ name }) => name));
  const withMounts = (container: Fields) => ({
    ...container,
    volumeMounts: listIn(container["volumeMounts"]).filter(({ name }) => mounted.has(name)),
  });
  const [first = {}] = listIn(pod["containers"]);
  const labels = { ...ownLabels(clusterId), [LABELS.app]: app, [LABELS.run]: run_id };
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name: runNameOf(run_id), namespace, labels: { ...labels, [LABELS.component]: component } },
    spec: {
      backoffLimit: 0,
      activeDeadlineSeconds: RUN_KEPT_SECONDS,
      ttlSecondsAfterFinished: RUN_KEPT_SECONDS,
      template: {
        metadata: { labels },
        spec: {
          ...pod,
          restartPolicy: "Never",
          volumes,
          initContainers: listIn(pod["initContainers"])
            .filter(({ restartPolicy }) => restartPolicy === "Always")
            .map(withMounts),
          containers: [withMounts(overridden(first, request))],
        },
      },
    },
  };
}

function overridden(container: Fields, { command, args, env }: RunRequest): Fields {
  const kept = Object.fromEntries(Object.entries(container).filter(([field]) => !SERVING.has(field)));
  const names = new Set(env.map(({ name }) => name));
  return {
    ...kept,
    env: [...listIn(container["env"]).filter(({ name }) => !names.has(textIn(name))), ...env],
    ...(command ? { command } : {}),
    // Arguments of the workload belong to its own command.
    ...(args ? { args } : command ? { args: [] } : {}),
  };
}

const timeIn = (value: unknown): string | null => {
  const ms = Date.parse(textIn(value));
  return Number.isNaN(ms) ? null : new Date(ms).toISOString();
};

/** How a run stands. The Job says how it has ended, its pod with which code. */
export function runOf(job: KubeObject, pods: readonly KubeObject[], nowMs: number): ComponentRun {
  const { labels = {}, creationTimestamp } = job.metadata;
  const pod = pods.find(({ metadata }) => metadata.labels?.[LABELS.run] === labels[LABELS.run]);
  const [container = {}] = listIn(pod ? statusOf(pod)["containerStatuses"] : []);
  const { running, terminated } = fieldsIn(container["state"]);
  const ended = terminated === undefined ? null : fieldsIn(terminated);
  const failed = [conditionOf(job, "Failed"), conditionOf(job, "FailureTarget")].find((one) => one?.status === "True");
  const isComplete = conditionOf(job, "Complete")?.status === "True";
  const exitCode = isComplete ? 0 : typeof ended?.["exitCode"] === "number" ? ended["exitCode"] : null;
  const status =
    isComplete || exitCode === 0 ? "succeeded" : failed || ended ? "failed" : running ? "running" : "pending";
  return {
    id: labels[LABELS.run] ?? "",
    component: labels[LABELS.component] ?? "",
    status,
    exit_code: exitCode,
    message: messageOf(status, exitCode, failed?.message ?? null, pod ? troubleOf([pod], nowMs)?.message : undefined),
    created_at: timeIn(creationTimestamp),
    started_at: timeIn(ended?.["startedAt"] ?? fieldsIn(running)["startedAt"]),
    finished_at: timeIn(ended?.["finishedAt"]) ?? timeIn(statusOf(job)["completionTime"]),
  };
}

function messageOf(
  status: ComponentRun["status"],
  exitCode: number | null,
  failure: string | null,
  trouble: string | undefined,
): string | null {
  if (status === "succeeded" || status === "running") return null;
  if (exitCode !== null) return `It ended with the exit code ${exitCode}.`;
  const words = trouble ?? failure;
  return words ? safeText(words) : null;
}
