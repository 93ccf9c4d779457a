import { type LabelRequirement, type Labels, meetsRequirement } from "@binnacle/contract";

export interface LabelSelector {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly LabelRequirement[];
}

/** A selector that is not there selects nothing, an empty one everything. */
export function selects(selector: LabelSelector | undefined, labels: Labels = {}): boolean {
  if (!selector) return false;
  const { matchLabels = {}, matchExpressions = [] } = selector;
  return hasAll(labels, matchLabels) && matchExpressions.every((requirement) => meetsRequirement(labels, requirement));
}

export const hasAll = (labels: Labels, wanted: Labels): boolean =>
  Object.entries(wanted).every(([name, value]) => labels[name] === value);
