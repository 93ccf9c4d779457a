import { type Controller, NOTHING, placeOf } from "../controllers/control.ts";
import type { Pod } from "../controllers/pod.ts";
import { stepPod } from "./pod-lifecycle.ts";

/** How large the simulated cluster is, and how fast what is in it. Times count from whole seconds. */
export interface SimulationSettings {
  readonly nodes: number;
  /** Of each node, as quantities. */
  readonly nodeCapacity: { readonly cpu: string; readonly memory: string; readonly pods: string };
  /** From the node to running containers. */
  readonly startMs: number;
  /** From the deletion to the end, at most as long as the grace of the pod. */
  readonly stopMs: number;
  /** How long the work of a Job takes. */
  readonly runMs: number;
  /** How long a container lives that is to crash. */
  readonly crashMs: number;
  /** The pause before a container is started for the third time; it doubles with each further one. */
  readonly firstBackoffMs: number;
  readonly longestBackoffMs: number;
  /** Whether events of the type Normal are kept too. */
  readonly normalEvents: boolean;
  /** The oldest go when there are more. */
  readonly mostEvents: number;
  /** Of pods that have ended and that no Job counts. */
  readonly mostFinishedPods: number;
}

export const DEFAULT_SETTINGS: SimulationSettings = {
  nodes: 3,
  nodeCapacity: { cpu: "16", memory: "64Gi", pods: "110" },
  startMs: 1_000,
  stopMs: 1_000,
  runMs: 1_000,
  crashMs: 1_000,
  firstBackoffMs: 10_000,
  longestBackoffMs: 300_000,
  normalEvents: true,
  mostEvents: 1_000,
  mostFinishedPods: 100,
};

/** The kubelets of all nodes. */
export const kubelet = (settings: SimulationSettings): Controller => ({
  name: "kubelet",
  concerns: ({ resource, type, object }) =>
    resource === "pods" && type !== "DELETED" ? [placeOf("pods", object)] : [],
  step({ name, namespace }, view, nowMs) {
    const pod = view.get("pods", name, namespace) as Pod | null;
    if (!pod) return NOTHING;
    const { nodeName } = pod.spec;
    const isHosted = nodeName === undefined || view.get("nodes", nodeName) !== null;
    return isHosted ? stepPod(pod, settings, nowMs) : NOTHING;
  },
});
