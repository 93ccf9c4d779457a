import type { KubeObject } from "./kube-client.ts";
import { conditionOf, countIn, type Fields, fieldsIn, listIn, statusOf, textIn } from "./object-fields.ts";

/** Why pods do not get ready: the word that Kubernetes has for it, and a sentence for people. */
export interface PodTrouble {
  readonly reason: string;
  readonly message: string;
}

/** The gravest trouble of the pods of a workload; null where they have none that is known. */
export function troubleOf(pods: readonly KubeObject[]): PodTrouble | null {
  const troubles = pods.filter(({ metadata }) => !metadata.deletionTimestamp).flatMap(troublesOf);
  return GRAVEST_FIRST.flatMap((reason) => troubles.find((trouble) => trouble.reason === reason) ?? [])[0] ?? null;
}

/** Permanent problems come before those that may pass. */
const GRAVEST_FIRST = [
  "OOMKilled",
  "ImagePullBackOff",
  "CreateContainerConfigError",
  "CrashLoopBackOff",
  "Evicted",
  "Unschedulable",
];

/** One and the same trouble, seen at different moments or from different sides. */
const KINDRED: Readonly<Record<string, string>> = {
  ErrImagePull: "ImagePullBackOff",
  InvalidImageName: "ImagePullBackOff",
  ErrImageNeverPull: "ImagePullBackOff",
  RunContainerError: "CrashLoopBackOff",
  CreateContainerError: "CreateContainerConfigError",
};

function troublesOf(pod: KubeObject): PodTrouble[] {
  const status = statusOf(pod);
  const containers = [...listIn(status["initContainerStatuses"]), ...listIn(status["containerStatuses"])];
  const scheduled = conditionOf(pod, "PodScheduled");
  return [
    ...containers.flatMap((container) => containerTrouble(container) ?? []),
    ...(scheduled?.status === "False" && scheduled.reason === "Unschedulable"
      ? [{ reason: "Unschedulable", message: `No node can take a pod: ${sentence(scheduled.message)}` }]
      : []),
    ...(status["reason"] === "Evicted"
      ? [{ reason: "Evicted", message: `A pod was evicted: ${sentence(textIn(status["message"]))}` }]
      : []),
  ];
}

function containerTrouble(container: Fields): PodTrouble | null {
  const name = textIn(container["name"]);
  const waiting = fieldsIn(fieldsIn(container["state"])["waiting"]);
  const ended = fieldsIn(fieldsIn(container["state"])["terminated"] ?? fieldsIn(container["lastState"])["terminated"]);
  const word = textIn(waiting["reason"]);
  const reason = KINDRED[word] ?? word;
  // A container that runs again has left its last end behind.
  const isDown = container["ready"] !== true;
  if (isDown && ended["reason"] === "OOMKilled") {
    return { reason: "OOMKilled", message: `The container ${name} needs more memory than its limit and is killed.` };
  }
  const said = sentence(textIn(waiting["message"]));
  switch (reason) {
    case "ImagePullBackOff":
      return { reason, message: `The image ${textIn(container["image"])} cannot be pulled: ${said}` };
    case "CreateContainerConfigError":
      return { reason, message: `The container ${name} cannot be made: ${said}` };
    case "CrashLoopBackOff": {
      const restarts = countIn(container["restartCount"]);
      const code = typeof ended["exitCode"] === "number" ? ` with exit code ${ended["exitCode"]}` : "";
      return { reason, message: `The container ${name} keeps ending${code}; it was restarted ${restarts} times.` };
    }
    default:
      return null;
  }
}

const sentence = (text: string): string => (text === "" ? "no reason is given." : text);
