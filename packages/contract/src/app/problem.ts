/** What an app may name and not have yet: it is recorded, and `invalid` until it has it. */
export const WARNING_CODES = ["MissingImage", "MissingSecret", "UnknownComponent", "UnknownExport"] as const;

/**
 * The reasons why nothing can be made of an app. An app that has one is refused, or its phase is `invalid` and the code is
 * the `phase_reason`.
 */
export const PROBLEM_CODES = [
  "NoComponents",
  "NameTooLong",
  "DuplicateName",
  "DuplicateValue",
  "DependencyCircle",
  "IngressConflict",
  "InvalidAutoscale",
  "InvalidFile",
  "InvalidHost",
  "InvalidImage",
  "InvalidResources",
  "InvalidSchedule",
  "UnknownAffinity",
  "UnknownPort",
  ...WARNING_CODES,
] as const;
export type ProblemCode = (typeof PROBLEM_CODES)[number];
export type WarningCode = (typeof WARNING_CODES)[number];

export interface AppProblem {
  readonly code: ProblemCode;
  /** The place in the app, such as `["components", 0, "name"]`. */
  readonly path: readonly (string | number)[];
  /** One sentence for people: which component, which field. */
  readonly message: string;
}

export const problem = <C extends ProblemCode>(code: C, path: AppProblem["path"], message: string) => ({
  code,
  path,
  message,
});

/** Returns the items with the same key as an earlier one. */
export function repeats<T>(items: readonly T[], keyOf: (item: T) => unknown): { index: number; item: T }[] {
  const seen = new Set<unknown>();
  return items.flatMap((item, index) => {
    const key = keyOf(item);
    if (seen.has(key)) return [{ index, item }];
    seen.add(key);
    return [];
  });
}
