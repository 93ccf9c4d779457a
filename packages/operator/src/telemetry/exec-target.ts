import type { KubeObject } from "../kube/kube-client.ts";
import { listIn, specOf, textIn } from "../kube/object-fields.ts";
import { ExecRefusal } from "../link/ports.ts";
import { followedPods, podOf } from "./component-pods.ts";

interface Wanted {
  readonly component: string;
  readonly pod: string | null;
  readonly container: string | null;
}

export interface Chosen {
  readonly pod: string;
  readonly container: string;
}

/** By convention the container that is meant where none is named. */
const DEFAULT_CONTAINER = "kubectl.kubernetes.io/default-container";

/** Chooses a running container among the component's own pods. A pod that is not among them is not found, wherever it is. */
export function execTarget(pods: readonly KubeObject[], { component, pod, container }: Wanted): Chosen | ExecRefusal {
  const candidates = pod === null ? pods.filter(({ metadata }) => !metadata.deletionTimestamp) : named(pods, pod);
  if (pod !== null && candidates.length === 0) {
    return new ExecRefusal("not_found", `The component ${component} has no pod ${pod}.`);
  }
  const byUid = new Map(candidates.map((object) => [object.metadata.uid ?? "", object]));
  const ordered = followedPods(candidates.map(podOf));
  let refusal = new ExecRefusal("not_running", `No pod of the component ${component} is running.`);
  for (const { uid, name, containers } of ordered) {
    const object = byUid.get(uid);
    const wanted = container ?? (object ? defaultContainer(object) : "");
    const found = containers.find((one) => one.name === wanted);
    if (found?.isRunning) return { pod: name, container: wanted };
    refusal = found
      ? new ExecRefusal("not_running", `The container ${wanted} of the pod ${name} is not running.`)
      : new ExecRefusal("not_found", `The pod ${name} has no container ${wanted}.`);
  }
  return refusal;
}

const named = (pods: readonly KubeObject[], name: string) => pods.filter(({ metadata }) => metadata.name === name);

function defaultContainer(pod: KubeObject): string {
  const names = listIn(specOf(pod)["containers"]).map(({ name }) => textIn(name));
  const preferred = pod.metadata.annotations?.[DEFAULT_CONTAINER];
  return (preferred !== undefined && names.includes(preferred) ? preferred : names[0]) ?? "";
}
