import { type Controller, NOTHING, placeOf } from "../controllers/control.ts";
import type { Pod } from "../controllers/pod.ts";
import { stepPod } from "./pod-lifecycle.ts";
import type { SimulationSettings } from "./settings.ts";

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
