import { type Controller, NOTHING, type Outcome, type Place } from "./control.ts";
import { isDone, JOBS } from "./job.ts";
import { controllerOf, isFinished, isLeaving, type Pod } from "./pod.ts";
import { deletion } from "./writes.ts";

const ALL: Place = { resource: "pods", name: "*" };

/** Pods that have ended stay for people to look at, but not without a limit; those that a Job still counts stay. */
export const podCleanup = (mostFinished: number): Controller => ({
  name: "pod-cleanup",
  concerns: ({ resource, object, type, previous }) =>
    resource === "pods" && type !== "DELETED" && isFinished(object as Pod) && !(previous && isFinished(previous as Pod))
      ? [ALL]
      : [],
  step(_, view) {
    const finished = (view.list("pods") as readonly Pod[]).filter((pod) => isFinished(pod) && !isLeaving(pod));
    if (finished.length <= mostFinished) return NOTHING;
    const isCounted = (pod: Pod): boolean => {
      const owner = controllerOf(pod);
      const job = owner?.kind === "Job" ? view.get(JOBS, owner.name, pod.metadata.namespace) : null;
      return job !== null && !isDone(job);
    };
    return cleanedUp(
      finished.filter((pod) => !isCounted(pod)),
      finished.length - mostFinished,
    );
  },
});

function cleanedUp(pods: readonly Pod[], count: number): Outcome {
  const oldest = [...pods].sort((a, b) =>
    (a.metadata.creationTimestamp ?? "") < (b.metadata.creationTimestamp ?? "") ? -1 : 1,
  );
  return { writes: oldest.slice(0, count).map((pod) => deletion("pods", pod)), wakeAtMs: null };
}
