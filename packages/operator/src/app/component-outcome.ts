import type { DriftField } from "@binnacle/contract";
import type { KubeObject } from "../kube/kube-client.ts";
import { conditionOf, countIn, specOf, titleOf } from "../kube/object-fields.ts";
import type { PodTrouble } from "../kube/pod-trouble.ts";
import { askedReplicas, notBelow, type Readiness, readinessOf, VOLUME_GROWING } from "../kube/readiness.ts";
import { NO_COUNTS, workloadCounts } from "../kube/workload-counts.ts";
import type { ComponentPlan } from "./component-plan.ts";
import type { ComponentState } from "./phase.ts";
import type { Exports, RenderedComponent } from "./render/rendering.ts";

/** The result of reconciling a component once. */
export interface Outcome {
  readonly state: ComponentState;
  /** Its objects are those of this generation. */
  readonly isApplied: boolean;
  /** Something stands in the way that does not pass by itself. */
  readonly isStopped: boolean;
  /** It still runs as another version of the operator has rendered it, until it is the turn of the app. */
  readonly waitsForTurn: boolean;
  readonly objects: readonly KubeObject[];
  readonly blocked: ComponentPlan["blocked"];
  /** Fields that somebody has changed and that have not been healed. */
  readonly drifted: readonly DriftField[];
  /** Fields that have been healed in this pass. */
  readonly healed: readonly DriftField[];
  readonly isCertain: boolean;
  /** Something of this generation was not applied because the app is suspended. What was changed by hand is not meant. */
  readonly isHeldBack: boolean;
  /** Of a release, those that are known by now. */
  readonly exports: Exports | null;
}

const NOTHING_DONE = {
  isApplied: false,
  isStopped: false,
  waitsForTurn: false,
  objects: [],
  blocked: [],
  drifted: [],
  healed: [],
  isCertain: false,
  isHeldBack: false,
  exports: null,
} as const;

type Named = Pick<RenderedComponent, "name" | "type">;

export const outcome = (
  { name, type }: Named,
  state: Omit<ComponentState, "name" | "type">,
  done: Partial<Outcome> = {},
): Outcome => ({ ...NOTHING_DONE, ...done, state: { name, type, ...state } });

/** Components that it needs and that are not ready. */
export function unmetNeeds({ needs }: Pick<RenderedComponent, "needs">, earlier: readonly Outcome[]): string[] {
  return needs.filter((need) => earlier.find(({ state }) => state.name === need)?.state.state !== "ready");
}

export const waitsForOthers = (
  component: Named,
  needs: readonly string[],
  left: Pick<ComponentState, "readyReplicas" | "pods">,
): Outcome =>
  outcome(component, {
    state: "progressing",
    reason: "WaitingForComponents",
    message: `It waits for ${needs.join(", ")}.`,
    ...left,
    desiredReplicas: 0,
  });

/** A component that was to become another generation and did not, or one of which nothing could be applied. */
export function stoppedState({
  refusal,
  blocked,
}: ComponentPlan): Pick<ComponentState, "state" | "reason" | "message"> {
  if (refusal?.refused === "no_namespace") {
    return { state: "progressing", reason: refusal.reason, message: refusal.message };
  }
  if (refusal) return { state: "failed", reason: refusal.reason, message: refusal.message };
  return { state: "failed", reason: "BlockedSync", message: blocked[0]?.summary ?? null };
}

export const emptied = (component: Named): Outcome =>
  outcome(
    component,
    {
      state: "failed",
      reason: "EmptyRendering",
      message: "Nothing would be left of what is to run, so nothing is changed.",
      readyReplicas: 0,
      desiredReplicas: 0,
    },
    { isStopped: true },
  );

export const WORKLOADS = new Set(["Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob"]);

/** The objects that a component is to have, and the Jobs of the app that are done and may be gone. */
export interface WantedObjects {
  readonly objects: readonly KubeObject[];
  readonly finishedJobs: ReadonlySet<string>;
}

/** What a component is to have while it is held: a Job that another version has named and that is done stays the one that it needs. */
export function objectsUntilTurn({ objects, finishedJobs }: WantedObjects, finishedJob: string): WantedObjects {
  if (finishedJob === "") return { objects, finishedJobs };
  const named = (job: KubeObject) => ({ ...job, metadata: { ...job.metadata, name: finishedJob } });
  return { objects: objects.map((object) => (object.kind === "Job" ? named(object) : object)), finishedJobs };
}

/**
 * As many replicas as the component asks for. An autoscaler may decide on more than its least number, and nodes decide on those
 * of a DaemonSet.
 */
function desiredReplicas({ objects, finishedJobs }: WantedObjects): number {
  const workload = objects.find(({ kind }) => WORKLOADS.has(kind));
  if (!workload || workload.kind === "CronJob" || workload.kind === "DaemonSet") return 0;
  if (workload.kind !== "Job") {
    const autoscaler = objects.find(({ kind }) => kind === "HorizontalPodAutoscaler");
    return autoscaler ? countIn(specOf(autoscaler)["minReplicas"]) : askedReplicas(workload);
  }
  return finishedJobs.has(workload.metadata.name) || specOf(workload)["suspend"] === true ? 0 : 1;
}

/** The state of the component's workload in the cluster. */
export function runsOf(objects: readonly KubeObject[], wanted: WantedObjects) {
  const workload = wanted.objects.find(({ kind }) => WORKLOADS.has(kind));
  const live = objects.find(({ kind }) => WORKLOADS.has(kind)) ?? null;
  const { desired, least, updated, image } = workload ? workloadCounts(workload, live) : NO_COUNTS;
  const isDone = live ? conditionOf(live, "Complete")?.status === "True" : desiredReplicas(wanted) === 0;
  return {
    // An autoscaler that was told of another least number takes a moment to ask for it.
    desiredReplicas:
      workload?.kind === "Job" ? (isDone ? 0 : desiredReplicas(wanted)) : Math.max(desired, desiredReplicas(wanted)),
    leastReplicas:
      workload?.kind === "DaemonSet" ? least : live?.kind === "Job" && isDone ? 0 : desiredReplicas(wanted),
    updatedReplicas: updated,
    image,
    isCompleted: workload?.kind === "Job" && specOf(workload)["suspend"] !== true && isDone,
  };
}

/**
 * A component is what its workload is: a volume that is bound by the first pod must not hold up a component that has
 * none yet. What has failed counts wherever it is. A workload that somebody has deleted or scaled down is not ready,
 * whether or not that will be healed.
 */
export function componentReadiness(objects: readonly KubeObject[], wanted: WantedObjects): Readiness {
  const all = objects.map((object) => ({ object, readiness: readinessOf(object) }));
  const main = workloadReadiness(
    all.find(({ object }) => WORKLOADS.has(object.kind)),
    wanted,
  );
  const failed = all.find(({ readiness }) => readiness.state === "failed")?.readiness;
  const readyReplicas = main?.readyReplicas ?? 0;
  if (failed) return { ...failed, readyReplicas };
  const growing = all.find(({ readiness }) => readiness.reason === VOLUME_GROWING)?.readiness;
  if (main?.state === "ready" && growing) return { ...growing, readyReplicas };
  if (main) return main;
  const unready = all.find(({ readiness }) => readiness.state !== "ready")?.readiness;
  return { ...(unready ?? { state: "ready", message: null }), readyReplicas };
}

type Seen = { readonly object: KubeObject; readonly readiness: Readiness };

function workloadReadiness(found: Seen | undefined, wanted: WantedObjects): Readiness | undefined {
  const workload = wanted.objects.find(({ kind }) => WORKLOADS.has(kind));
  if (!found) {
    if (!workload || (workload.kind === "Job" && wanted.finishedJobs.has(workload.metadata.name))) return undefined;
    const message = `${titleOf(workload)} is not on the cluster.`;
    return { state: "progressing", reason: "WorkloadMissing", message, readyReplicas: 0 };
  }
  return notBelow(desiredReplicas(wanted), found.object, found.readiness);
}

/** Pods explain better than their workload why it is not ready, unless the API server rejects the pods themselves. */
export function explained(readiness: Readiness, trouble: PodTrouble | null) {
  const { reason = null } = readiness;
  const isSaid = readiness.state === "ready" || reason !== null || trouble === null;
  return isSaid ? { ...readiness, reason } : { ...readiness, ...trouble };
}
