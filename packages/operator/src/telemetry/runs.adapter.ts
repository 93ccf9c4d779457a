import { type ComponentRun, LABELS, type RunRequest, type RunStatusRequest } from "@binnacle/contract";
import { runJob, runNameOf, runOf } from "../app/component-run.ts";
import { isOurs } from "../desired/ownership.ts";
import type { KubeClient, KubeObject } from "../kube/kube-client.ts";
import { KubeError } from "../kube/kube-error.ts";
import type { PodView } from "../kube/pod-view.ts";
import { refusalOf } from "../kube/refusal.ts";
import { OWNED_KINDS } from "../kube/resource-types.ts";
import { AnswerError, type Answerer } from "../link/ports.ts";
import { componentSelector, isLabelValue } from "./component-pods.ts";

export interface RunPorts {
  readonly kube: Pick<KubeClient, "get" | "list" | "create" | "resourceTypeOf">;
  readonly clusterId: string;
  readonly pods: Pick<PodView, "in">;
  readonly nowMs: () => number;
}

/** Kinds that a run can be made of, in the order in which they are looked for. */
const RUNNABLE = ["Deployment", "StatefulSet", "DaemonSet", "CronJob", "Job"];

/** Runs the image of a component once, as a Job, and says how that stands. */
export function createRuns({ kube, clusterId, pods, nowMs }: RunPorts): Answerer["run"] {
  /** The newest of its kind: a Job that has changed is another Job. */
  async function workloadOf({ namespace, app, component }: RunRequest): Promise<KubeObject | null> {
    const labelSelector = `${componentSelector(clusterId, app, component)},!${LABELS.run}`;
    for (const kind of RUNNABLE) {
      const type = OWNED_KINDS.find((one) => one.kind === kind);
      if (!type) continue;
      const { items } = await kube.list(type, { namespace, labelSelector });
      const [newest] = items.toSorted((one, other) => age(one, other));
      if (newest) return newest;
    }
    return null;
  }

  async function found({ namespace, app, run_id }: Pick<RunRequest, "namespace" | "app" | "run_id">) {
    const job = await kube.get(await kube.resourceTypeOf("batch/v1", "Job"), runNameOf(run_id), namespace);
    const labels = job?.metadata.labels;
    const isIt = job && isOurs(job, clusterId) && labels?.[LABELS.app] === app && labels[LABELS.run] === run_id;
    return isIt ? job : null;
  }

  async function begin(request: RunRequest): Promise<KubeObject> {
    const { app, component } = request;
    const known = await found(request);
    if (known) return known;
    const workload = [app, component].every(isLabelValue) ? await workloadOf(request) : null;
    if (!workload) {
      throw new AnswerError(
        "failed",
        `The cluster has no workload of the component ${component} yet. Deploy it first.`,
      );
    }
    return kube.create(runJob(workload, request, clusterId));
  }

  async function run(request: RunRequest | RunStatusRequest): Promise<ComponentRun | null> {
    const job = request.name === "run" ? await begin(request) : await found(request);
    return job && runOf(job, pods.in(request.namespace), nowMs());
  }

  return async (request) => {
    try {
      return { run: await run(request) };
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      const refusal = refusalOf(error, "The run");
      if (refusal) throw new AnswerError("failed", refusal.message);
      throw new AnswerError("unavailable", "The cluster's API server does not answer.");
    }
  };
}

const age = (one: KubeObject, other: KubeObject): number =>
  Date.parse(other.metadata.creationTimestamp ?? "") - Date.parse(one.metadata.creationTimestamp ?? "") || 0;
