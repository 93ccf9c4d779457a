import type { KubeObject } from "./kube-client.ts";
import { conditionOf, countIn, fieldsIn, specOf, statusOf, titleOf } from "./object-fields.ts";
import { failed, progressing, type Readiness, ready, unknown, unseen } from "./readiness-state.ts";
import {
  cronJobReadiness,
  daemonSetReadiness,
  deploymentReadiness,
  jobReadiness,
  statefulSetReadiness,
} from "./workload-readiness.ts";

type Rule = (object: KubeObject) => Readiness;

/** Whether an ingress ever gets an address is up to its controller; many never write one. */
const readyOnceStored: Rule = () => ready();

const RULES: Readonly<Record<string, Rule>> = {
  Deployment: deploymentReadiness,
  StatefulSet: statefulSetReadiness,
  DaemonSet: daemonSetReadiness,
  Job: jobReadiness,
  CronJob: cronJobReadiness,
  PersistentVolumeClaim: volumeClaim,
  Service: service,
  Ingress: readyOnceStored,
  HorizontalPodAutoscaler: autoscaler,
  Pod: pod,
};

/** What has become of an object, by the rules that kstatus has made common. */
export function readinessOf(object: KubeObject): Readiness {
  const { observedGeneration, readyReplicas } = statusOf(object);
  const { deletionTimestamp, generation = 0 } = object.metadata;
  const isReady = countIn(readyReplicas);
  if (deletionTimestamp) return progressing(`${titleOf(object)} is being deleted.`, isReady);
  if (typeof observedGeneration === "number" && observedGeneration < generation) return unseen(object, isReady);
  return (RULES[object.kind] ?? byConditions)(object);
}

function volumeClaim(object: KubeObject): Readiness {
  const { phase } = statusOf(object);
  if (phase === "Bound") return ready();
  if (phase === "Lost") return failed(`${titleOf(object)} has lost its volume.`);
  return progressing(`${titleOf(object)} has no volume yet.`);
}

function service(object: KubeObject): Readiness {
  if (specOf(object)["type"] !== "LoadBalancer") return ready();
  const { ingress } = fieldsIn(statusOf(object)["loadBalancer"]);
  const hasAddress = Array.isArray(ingress) && ingress.length > 0;
  return hasAddress ? ready() : progressing(`${titleOf(object)} has no address yet.`);
}

/** One that has no figures to scale by does not hold up what it scales. */
function autoscaler(object: KubeObject): Readiness {
  const able = conditionOf(object, "AbleToScale");
  return able?.status === "False" ? failed(`${titleOf(object)} cannot scale: ${able.message}`) : ready();
}

function pod(object: KubeObject): Readiness {
  const { phase } = statusOf(object);
  if (phase === "Succeeded") return ready();
  if (phase === "Failed") return failed(`${titleOf(object)} has failed.`);
  return conditionOf(object, "Ready")?.status === "True"
    ? ready(1)
    : progressing(`${titleOf(object)} is not ready yet.`);
}

/** Of kinds that nothing is known of: what their conditions say by convention. One without any is there, no more. */
function byConditions(object: KubeObject): Readiness {
  const stalled = conditionOf(object, "Stalled");
  if (stalled?.status === "True") return failed(stalled.message || `${titleOf(object)} is stalled.`);
  const reconciling = conditionOf(object, "Reconciling");
  if (reconciling?.status === "True") return progressing(reconciling.message || `${titleOf(object)} is in the works.`);
  const isReady = conditionOf(object, "Ready");
  if (isReady?.status === "True") return ready();
  if (isReady?.status === "False") return progressing(isReady.message || `${titleOf(object)} is not ready yet.`);
  return isReady || Array.isArray(statusOf(object)["conditions"]) ? unknown() : ready();
}
