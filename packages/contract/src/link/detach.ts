import Type, { type Static } from "typebox";
import { INFRASTRUCTURE_LIMITS } from "./infrastructure.ts";

/**
 * The operator lets go of everything that it has made, and deletes nothing but what it has stored for itself. It stops reconciling for good,
 * also after a restart. It works on after its answer, which says what is left as that to `drain_nodes` does, so it is asked until nothing is.
 */
export const DetachRequest = Type.Object({
  name: Type.Literal("detach"),
  timeout_seconds: Type.Integer({ minimum: 0, maximum: INFRASTRUCTURE_LIMITS.longestWaitSeconds }),
});
export type DetachRequest = Static<typeof DetachRequest>;

/** Listed by an operator that can let its cluster go. */
export const DETACH_REQUEST = "detach";
