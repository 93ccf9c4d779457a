import type { InvalidReason } from "./reasons.ts";

export interface AppProblem {
  readonly code: InvalidReason;
  /** The place in the app, such as `["components", 0, "name"]`. */
  readonly path: readonly (string | number)[];
  /** One sentence for people: which component, which field. */
  readonly message: string;
}

export const problem = <C extends InvalidReason>(code: C, path: AppProblem["path"], message: string) => ({
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
