import { type Fields, fieldsIn, listIn, textIn } from "../kube/object-fields.ts";

type Labels = Readonly<Record<string, string>>;

interface Requirement {
  readonly key: string;
  readonly operator: string;
  readonly values: readonly string[];
}

/** By what labels a workload finds its pods. */
export type LabelSelector = readonly Requirement[];

/** Null where it names nothing: Kubernetes takes no workload that would have every pod. */
export function selectorIn(selector: unknown): LabelSelector | null {
  const { matchLabels, matchExpressions } = fieldsIn(selector);
  const requirements = [
    ...Object.entries(fieldsIn(matchLabels)).map(([key, value]) => ({ key, operator: "In", values: [String(value)] })),
    ...listIn(matchExpressions).map(requirementIn),
  ];
  return requirements.length > 0 ? requirements : null;
}

const requirementIn = ({ key, operator, values }: Fields): Requirement => ({
  key: textIn(key),
  operator: textIn(operator),
  values: Array.isArray(values) ? values.map(String) : [],
});

export const isSelected = (labels: Labels, selector: LabelSelector): boolean =>
  selector.every((requirement) => isMet(labels, requirement));

function isMet(labels: Labels, { key, operator, values }: Requirement): boolean {
  const value = labels[key];
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    default:
      return false;
  }
}
