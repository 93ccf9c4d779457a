import { type LabelRequirement, type Labels, meetsRequirement } from "@binnacle/contract";
import { type Fields, fieldsIn, listIn, textIn } from "../kube/object-fields.ts";

/** By what labels a workload finds its pods. */
export type LabelSelector = readonly LabelRequirement[];

/** Null where it names nothing: Kubernetes takes no workload that would have every pod. */
export function selectorIn(selector: unknown): LabelSelector | null {
  const { matchLabels, matchExpressions } = fieldsIn(selector);
  const requirements = [
    ...Object.entries(fieldsIn(matchLabels)).map(([key, value]) => ({ key, operator: "In", values: [String(value)] })),
    ...listIn(matchExpressions).map(requirementIn),
  ];
  return requirements.length > 0 ? requirements : null;
}

const requirementIn = ({ key, operator, values }: Fields): LabelRequirement => ({
  key: textIn(key),
  operator: textIn(operator),
  values: Array.isArray(values) ? values.map(String) : [],
});

export const isSelected = (labels: Labels, selector: LabelSelector): boolean =>
  selector.every((requirement) => meetsRequirement(labels, requirement));
