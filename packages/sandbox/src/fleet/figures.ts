import { quantile } from "./pace.ts";

/** What was seen, and in what unit, for people to read. */
export type Figure = readonly [name: string, seen: string];

const MEGABYTE = 1_048_576;

export const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

export const megabytes = (bytes: number): string => `${(bytes / MEGABYTE).toFixed(bytes < 100 * MEGABYTE ? 1 : 0)} MB`;

export const share = (values: readonly number[], of: number): string => {
  const value = quantile(values, of);
  return value === null ? "none" : `${value.toFixed(0)} ms`;
};

/** In two columns. */
export function figureTable(figures: readonly Figure[]): string {
  const width = Math.max(...figures.map(([name]) => name.length));
  return figures.map(([name, seen]) => `  ${name.padEnd(width)}  ${seen}\n`).join("");
}

/** The warnings that came most often. */
export function commonWarnings(counts: readonly Readonly<Record<string, number>>[], most = 5): Figure[] {
  const sums = new Map<string, number>();
  for (const [message, count] of counts.flatMap((one) => Object.entries(one))) {
    sums.set(message, (sums.get(message) ?? 0) + count);
  }
  const ranked = [...sums].toSorted(([, a], [, b]) => b - a);
  return ranked.slice(0, most).map(([message, count]) => [`operators warned: ${message}`, `${count} times`]);
}
