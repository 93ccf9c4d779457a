import type { KubeObject } from "../store/kube-object.ts";
import { stampOf } from "./stamp.ts";

export interface Condition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
  readonly lastUpdateTime?: string;
  readonly lastProbeTime?: string | null;
}

function conditionsOf(object: KubeObject): readonly Condition[] {
  const status = object["status"] as { readonly conditions?: readonly Condition[] } | undefined;
  return status?.conditions ?? [];
}

export const conditionOf = (object: KubeObject, type: string): Condition | undefined =>
  conditionsOf(object).find((condition) => condition.type === type);

export const isTrue = (object: KubeObject, type: string): boolean => conditionOf(object, type)?.status === "True";

/** The conditions with one more, or with a changed one: its time of transition is that of its last other status. */
export function withCondition(
  conditions: readonly Condition[],
  condition: Condition,
  nowMs: number,
): readonly Condition[] {
  const before = conditions.find(({ type }) => type === condition.type);
  const isSame = before?.status === condition.status;
  const lastTransitionTime = (isSame && before.lastTransitionTime) || stampOf(nowMs);
  const next = { ...condition, lastTransitionTime };
  return before ? conditions.map((one) => (one === before ? next : one)) : [...conditions, next];
}
