import type { KubeObject } from "../../kube/kube-client.ts";
import { objectOf, type WorkloadContext } from "./component-context.ts";
import { scalesByItself } from "./workload.ts";

/** None while the app is paused: it would have the replicas back at once. */
export function autoscalerObjects(
  context: WorkloadContext,
  { apiVersion, kind, metadata: { name } }: KubeObject,
): KubeObject[] {
  const { autoscale } = context.spec;
  if (!autoscale || !scalesByItself(context)) return [];
  return [
    objectOf(context, "autoscaling/v2", "HorizontalPodAutoscaler", context.names.base, {
      spec: {
        scaleTargetRef: { apiVersion, kind, name },
        minReplicas: autoscale.min,
        maxReplicas: autoscale.max,
        metrics: [
          {
            type: "Resource",
            resource: { name: "cpu", target: { type: "Utilization", averageUtilization: autoscale.cpu_percent } },
          },
        ],
      },
    }),
  ];
}
