import Type, { type Static } from "typebox";
import { Nullable } from "../fields.ts";
import { Message } from "./text.ts";

/**
 * Requests before infrastructure is taken away. Each does what it can, waits as long as it is told to, and says what is left;
 * it is repeated until nothing is. So a session or an operator that is lost in between loses nothing.
 */

export const INFRASTRUCTURE_LIMITS = {
  nodes: 50,
  left: 100,
  longestWaitSeconds: 60,
  disks: 100,
  volumes: 100,
} as const;

const NodeNames = Type.Array(Type.String({ minLength: 1, maxLength: 253 }), {
  minItems: 1,
  maxItems: INFRASTRUCTURE_LIMITS.nodes,
});
/** `<namespace>/<name>`; null where none has ever had the volume. */
const ClaimName = Nullable(Type.String({ maxLength: 507 }));

const timeout = {
  timeout_seconds: Type.Integer({ minimum: 0, maximum: INFRASTRUCTURE_LIMITS.longestWaitSeconds }),
};

export const InfrastructureRequests = {
  /** Takes no more pods on the nodes, and evicts those that are there as their PodDisruptionBudgets allow. */
  drain_nodes: Type.Object({
    name: Type.Literal("drain_nodes"),
    nodes: NodeNames,
    ...timeout,
  }),
  /** Removes the load balancers and volumes that Kubernetes has made in the cloud. Nothing runs in the cluster afterwards. */
  remove_cloud_objects: Type.Object({ name: Type.Literal("remove_cloud_objects"), ...timeout }),
  /** Reads which volumes the disks of the cloud are, by their ids there. Changes nothing. */
  describe_disks: Type.Object({
    name: Type.Literal("describe_disks"),
    disks: Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
      minItems: 1,
      maxItems: INFRASTRUCTURE_LIMITS.disks,
    }),
  }),
  /** Reads the volumes whose data is on these nodes alone. Changes nothing. */
  local_volumes: Type.Object({ name: Type.Literal("local_volumes"), nodes: NodeNames }),
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
const LeftAnswer = Type.Object({ left: Type.Array(LeftObject, { maxItems: INFRASTRUCTURE_LIMITS.left }) });

/** A volume on one of the disks. A disk that is in no answer is of no volume that the cluster has. */
const DescribedDisk = Type.Object({
  disk: Type.String({ maxLength: 200 }),
  claim: ClaimName,
  /** Whether Kubernetes deletes the disk with the claim. */
  deletable: Type.Boolean(),
});
export type DescribedDisk = Static<typeof DescribedDisk>;
const DisksAnswer = Type.Object({ disks: Type.Array(DescribedDisk, { maxItems: 2 * INFRASTRUCTURE_LIMITS.disks }) });

const LocalVolume = Type.Object({
  node: Type.String({ maxLength: 253 }),
  name: Type.String({ maxLength: 253 }),
  claim: ClaimName,
});
export type LocalVolume = Static<typeof LocalVolume>;

/** Of very many only the first are named; all are counted. */
const LocalVolumesAnswer = Type.Object({
  local_volumes: Type.Array(LocalVolume, { maxItems: INFRASTRUCTURE_LIMITS.volumes }),
  total: Type.Integer({ minimum: 0 }),
});

export const InfrastructureAnswers = [LeftAnswer, DisksAnswer, LocalVolumesAnswer] as const;
export type InfrastructureAnswer =
  | Static<typeof LeftAnswer>
  | Static<typeof DisksAnswer>
  | Static<typeof LocalVolumesAnswer>;
