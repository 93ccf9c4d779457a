import type { KubeObject } from "./kube-client.ts";
import { countIn, fieldsIn, listIn, specOf, statusOf, textIn } from "./object-fields.ts";
import { askedReplicas } from "./readiness.ts";

/** How many replicas of a workload there are, and of what image. */
export interface WorkloadCounts {
  readonly desired: number;
  /** With fewer it is not as it should be. An autoscaler may ask for more, and these may take their time. */
  readonly least: number;
  readonly ready: number;
  readonly updated: number;
  readonly image: string | null;
}

export const NO_COUNTS: WorkloadCounts = { desired: 0, least: 0, ready: 0, updated: 0, image: null };

/** `asked` is the workload as it should be, `live` as it is; null where it is not there. */
export function workloadCounts(asked: KubeObject, live: KubeObject | null): WorkloadCounts {
  const status = live ? statusOf(live) : {};
  const image = imageOf(live ?? asked);
  switch (asked.kind) {
    case "Deployment":
    case "StatefulSet": {
      // The number is an autoscaler's where nobody else asks for one.
      const desired = Object.hasOwn(specOf(asked), "replicas") || !live ? askedReplicas(asked) : askedReplicas(live);
      const ready = countIn(status["readyReplicas"]);
      return { desired, least: askedReplicas(asked), ready, updated: countIn(status["updatedReplicas"]), image };
    }
    case "DaemonSet": {
      // How many nodes it is for is known once it is there; one that somebody has deleted is missed on one node at least.
      const desired = live ? countIn(status["desiredNumberScheduled"]) : 1;
      return {
        desired,
        least: desired,
        ready: countIn(status["numberReady"]),
        updated: countIn(status["updatedNumberScheduled"]),
        image,
      };
    }
    case "Job":
      return { ...NO_COUNTS, ready: countIn(status["ready"]), updated: countIn(status["active"]), image };
    case "CronJob": {
      const active = Array.isArray(status["active"]) ? status["active"].length : 0;
      return { ...NO_COUNTS, ready: active, updated: active, image };
    }
    default:
      return NO_COUNTS;
  }
}

export const COUNTED: ReadonlySet<string> = new Set(["Deployment", "StatefulSet", "DaemonSet"]);

export function together(counts: readonly WorkloadCounts[]): WorkloadCounts {
  return counts.reduce(
    (sum, one) => ({
      desired: sum.desired + one.desired,
      least: sum.least + one.least,
      ready: sum.ready + one.ready,
      updated: sum.updated + one.updated,
      image: sum.image ?? one.image,
    }),
    NO_COUNTS,
  );
}

const LONGEST_IMAGE = 512;

function imageOf(workload: KubeObject): string | null {
  const { template, jobTemplate } = specOf(workload);
  const pods = fieldsIn(template ?? fieldsIn(fieldsIn(jobTemplate)["spec"])["template"]);
  const [first] = listIn(fieldsIn(pods["spec"])["containers"]);
  return textIn(first?.["image"]).slice(0, LONGEST_IMAGE) || null;
}
