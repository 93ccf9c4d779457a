import type { OperatorSkew } from "@binnacle/contract";
import { minorsBehind } from "../upgrade/release.ts";

/** An operator of the minor release before works, and is to be upgraded. One of the next works too, as after a rollback of the control plane. */
export function skewOf(operatorVersion: string, ownVersion: string): OperatorSkew {
  const behind = minorsBehind(ownVersion, operatorVersion);
  if (behind === 0 || behind === -1) return "supported";
  return behind === 1 ? "outdated" : "unsupported";
}
