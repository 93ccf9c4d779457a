import Type, { type Static } from "typebox";
import { Nullable, Timestamp, Uuid } from "../fields.ts";
import { Message } from "./text.ts";

/**
 * The operator is asked to run another image. The request is repeated until the phase is final: the operator keeps its record of
 * the upgrade in its own Deployment, so a lost session, or a pod that takes over in between, loses nothing.
 */

export const OPERATOR_UPGRADE_LIMITS = {
  /** How long the new pod may take until the hub would admit it. Pulling the image takes most of it. */
  readyWithinSeconds: 300,
} as const;

/** `returned`: the new image did not become ready in time, and the former one runs again. `failed`: it was not begun, or was overtaken. */
export const OBSERVED_UPGRADE_PHASES = ["running", "succeeded", "returned", "failed"] as const;

export const OperatorUpgradeRequest = Type.Object({
  name: Type.Literal("upgrade_operator"),
  upgrade_id: Uuid(),
  version: Type.String({ minLength: 1, maxLength: 100, pattern: "^[A-Za-z0-9][A-Za-z0-9._+-]*$" }),
  /** Null where the control plane has no images; the version is the tag then. The registry stays the one of the install. */
  digest: Nullable(Type.String({ pattern: "^sha256:[a-f0-9]{64}$" })),
  ready_within_seconds: Type.Integer({ minimum: 1, maximum: 3_600 }),
});
export type OperatorUpgradeRequest = Static<typeof OperatorUpgradeRequest>;

export const ObservedUpgrade = Type.Object({
  phase: Type.Enum(OBSERVED_UPGRADE_PHASES),
  /** Images, as the Deployment names them. */
  from: Type.String({ maxLength: 1_024 }),
  to: Type.String({ maxLength: 1_024 }),
  since: Timestamp(),
  reason: Nullable(Message),
});
export type ObservedUpgrade = Static<typeof ObservedUpgrade>;

export const OperatorUpgradeAnswer = Type.Object({ operator_upgrade: ObservedUpgrade });
