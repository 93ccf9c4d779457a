import type { KubeObject } from "./kube-client.ts";
import { fieldsIn, textIn, titleOf } from "./object-fields.ts";
import type { Readiness } from "./readiness.ts";

/** A pod that the API server does not take: it violates a policy of its namespace, or exceeds a quota. */

const POD_REJECTED = "PodRejected";

/** These do not pass by themselves. A quota whose use is not counted yet, or a webhook that does not answer, may. */
const FINAL = /violates PodSecurity|exceeded quota|failed quota|denied the request/;

/** Of the kinds that say so in events only. A Deployment has a condition for it. */
export const TELLS_BY_EVENTS: ReadonlySet<string> = new Set(["StatefulSet", "DaemonSet", "Job"]);

/** The words are those of the API server. `isOverdue`: it has been tried for as long as it may take. */
export function rejected(object: KubeObject, words: string, readyReplicas: number, isOverdue = false): Readiness {
  return {
    state: isOverdue || FINAL.test(words) ? "failed" : "progressing",
    reason: POD_REJECTED,
    message: `${titleOf(object)} cannot start pods: ${withoutPreamble(words)}`,
    readyReplicas,
  };
}

/** Controllers put their own words before those of the API server. */
const PREAMBLE = /^(Error creating: |create Pod \S+ in StatefulSet \S+ failed error: )/;

const withoutPreamble = (words: string): string => words.replace(PREAMBLE, "");

const FAILED = "FailedCreate";
const CREATIONS: ReadonlySet<string> = new Set([FAILED, "SuccessfulCreate"]);

/** Why the last pod that was to be made was not; null where it was made. Events stay for an hour after all is well. */
export function rejectionIn(events: readonly KubeObject[]): string | null {
  const creations = events.filter((event) => CREATIONS.has(reasonOf(event)));
  const [latest] = creations.sort((one, other) => timeOf(other) - timeOf(one) || rank(one) - rank(other));
  return latest && reasonOf(latest) === FAILED ? textIn(latest["message"]) : null;
}

const reasonOf = (event: KubeObject): string => textIn(event["reason"]);
const rank = (event: KubeObject): number => (reasonOf(event) === FAILED ? 0 : 1);

function timeOf(event: KubeObject): number {
  const { lastObservedTime } = fieldsIn(event["series"]);
  const times = [lastObservedTime, event["lastTimestamp"], event["eventTime"], event.metadata.creationTimestamp];
  return Math.max(...times.map((time) => Date.parse(textIn(time)) || 0));
}
