import Type, { type Static } from "typebox";
import { Nullable } from "../fields.ts";
import { Message } from "./text.ts";

/**
 * Requests before infrastructure is taken away. Each does what it can, waits as long as it is told to, and says what is left;
 * it is repeated until nothing is. So a session or an operator that is lost in between loses nothing.
 */

export const INFRASTRUCTURE_LIMITS = { nodes: 50, left: 100, longestWaitSeconds: 60 } as const;

const timeout = {
  timeout_seconds: Type.Integer({ minimum: 0, maximum: INFRASTRUCTURE_LIMITS.longestWaitSeconds }),
};

export const InfrastructureRequests = {
  /** Takes no more pods on the nodes, and evicts those that are there as their PodDisruptionBudgets allow. */
  drain_nodes: Type.Object({
    name: Type.Literal("drain_nodes"),
    nodes: Type.Array(Type.String({ minLength: 1, maxLength: 253 }), {
      minItems: 1,
      maxItems: INFRASTRUCTURE_LIMITS.nodes,
    }),
    ...timeout,
  }),
  /** Removes the load balancers and volumes that Kubernetes has made in the cloud. Nothing runs in the cluster afterwards. */
  remove_cloud_objects: Type.Object({ name: Type.Literal("remove_cloud_objects"), ...timeout }),
} as const;
export type InfrastructureRequest = {
  [N in keyof typeof InfrastructureRequests]: Static<(typeof InfrastructureRequests)[N]>;
}[keyof typeof InfrastructureRequests];

export const LeftObject = Type.Object({
  kind: Type.String({ maxLength: 100 }),
  namespace: Nullable(Type.String({ maxLength: 253 })),
  name: Type.String({ maxLength: 253 }),
  /** Why it is still there. */
  reason: Message,
});
export type LeftObject = Static<typeof LeftObject>;

/** Empty once nothing is left; of very many only the first are named. */
export const InfrastructureAnswer = Type.Object({
  left: Type.Array(LeftObject, { maxItems: INFRASTRUCTURE_LIMITS.left }),
});
