import type { ValidationItem } from "@binnacle/contract";

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };
const SHORTEST_SECONDS = 60;
const LONGEST_SECONDS = 30 * 86_400;

/** Of a text that matches `^\d+[smhdw]$`. */
export const rangeSeconds = (range: string) => Number(range.slice(0, -1)) * (UNIT_SECONDS[range.slice(-1)] ?? 0);

export function rangeProblems(range: string): ValidationItem[] {
  const seconds = rangeSeconds(range);
  if (seconds >= SHORTEST_SECONDS && seconds <= LONGEST_SECONDS) return [];
  return [{ loc: ["query", "range"], msg: "Range should be from one minute to 30 days", type: "value_error" }];
}
