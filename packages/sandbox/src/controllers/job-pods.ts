import type { Outcome, Write } from "./control.ts";
import { freeSuffix } from "./fingerprint.ts";
import type { Job } from "./job.ts";
import { completionsOf, failedOf, INDEX, indexOf, succeededOf } from "./job-status.ts";
import { ownedBy } from "./owners.ts";
import { isActive, isFinished, type Pod } from "./pod.ts";
import { rankedForDeletion } from "./replica-set.ts";
import { deletion, msOf, normal, present } from "./writes.ts";

const SOURCE = "job-controller";
const FIRST_BACKOFF_MS = 10_000;
const LONGEST_BACKOFF_MS = 600_000;

/** As many pods as still have something to do, after a pause when the last one failed. */
export function jobPods(job: Job, pods: readonly Pod[], nowMs: number): Outcome {
  const { parallelism = 1 } = job.spec;
  const completions = completionsOf(job);
  const active = pods.filter(isActive);
  const succeeded = succeededOf(job, pods);
  // Without a number of completions nobody begins any more once one has succeeded.
  const left = completions === undefined ? (succeeded > 0 ? active.length : parallelism) : completions - succeeded;
  const missing = Math.min(parallelism, left) - active.length;
  if (missing < 0) {
    const surplus = rankedForDeletion(active).slice(0, -missing);
    return { writes: surplus.map((pod) => deletion("pods", pod)), wakeAtMs: null };
  }
  // A pod on its way out may still succeed.
  const ending = pods.filter((pod) => !isFinished(pod) && !isActive(pod)).length;
  const more = Math.max(missing - ending, 0);
  const dueMs = retryMs(job, pods);
  if (more === 0) return { writes: [], wakeAtMs: null };
  if (dueMs > nowMs) return { writes: [], wakeAtMs: dueMs };
  return { writes: newPods(job, pods, more, nowMs), wakeAtMs: null };
}

/** When the pause after the last failure is over. */
function retryMs(job: Job, pods: readonly Pod[]): number {
  const ends = pods
    .filter(({ status }) => status?.phase === "Failed")
    .flatMap(({ status }) => status?.containerStatuses ?? [])
    .map(({ state }) => msOf(state.terminated?.finishedAt) ?? 0);
  if (ends.length === 0) return 0;
  return Math.max(...ends) + Math.min(FIRST_BACKOFF_MS * 2 ** (failedOf(job, pods) - 1), LONGEST_BACKOFF_MS);
}

function newPods(job: Job, pods: readonly Pod[], count: number, nowMs: number): Write[] {
  const taken = new Set(pods.map(({ metadata }) => metadata.name));
  const busy = new Set(pods.filter(({ status }) => status?.phase !== "Failed").map(indexOf));
  const isIndexed = job.spec.completionMode === "Indexed";
  return Array.from({ length: count }, (_, at) => {
    let index = 0;
    while (busy.has(index)) index++;
    if (isIndexed) busy.add(index);
    const base = isIndexed ? `${job.metadata.name}-${index}` : job.metadata.name;
    const seed = `${job.metadata.uid}/${nowMs}/${at}`;
    const name = `${base}-${freeSuffix(seed, (suffix) => taken.has(`${base}-${suffix}`))}`;
    taken.add(name);
    return [
      { verb: "create" as const, resource: "pods", object: newPod(job, name, isIndexed ? index : null) },
      normal(SOURCE, job, "SuccessfulCreate", `Created pod: ${name}`),
    ];
  }).flat();
}

function newPod(job: Job, name: string, index: number | null) {
  const { metadata = {}, spec } = job.spec.template;
  const { name: jobName, uid = "", namespace } = job.metadata;
  const indexed = index === null ? {} : { [INDEX]: String(index) };
  const annotations = { ...metadata.annotations, ...indexed };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: present({
      name,
      generateName: `${jobName}-`,
      namespace,
      labels: {
        ...metadata.labels,
        "batch.kubernetes.io/controller-uid": uid,
        "batch.kubernetes.io/job-name": jobName,
        "controller-uid": uid,
        "job-name": jobName,
        ...indexed,
      },
      annotations: Object.keys(annotations).length > 0 ? annotations : undefined,
      ownerReferences: [ownedBy(job)],
    }),
    spec,
  };
}
