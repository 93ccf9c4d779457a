/** How long to wait before the change with this number, from 0, when all are to come at a steady pace. */
export function waitMs(number: number, perSecond: number, sinceStartMs: number): number {
  return Math.max(0, (number * 1_000) / perSecond - sinceStartMs);
}

/** Which of them each of so many processes gets: in turns, so that all have as much to do. */
export function dealt<T>(items: readonly T[], hands: number): T[][] {
  return Array.from({ length: hands }, (_, hand) => items.filter((_, place) => place % hands === hand));
}

/** The value below which this share of all lies; null of none. */
export function quantile(values: readonly number[], share: number): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? null;
}
