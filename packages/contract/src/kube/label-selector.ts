export type Labels = Readonly<Record<string, string>>;

/** What Kubernetes calls an expression of a selector. */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

/** An operator that Kubernetes does not have is met by nothing. */
export function meetsRequirement(labels: Labels, { key, operator, values = [] }: LabelRequirement): boolean {
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
