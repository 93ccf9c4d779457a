/** The numbers of a release: major, minor and patch. */
type Numbers = readonly [number, number, number];

/** What is said of two programs that are to work side by side. */
export type Skew = "supported" | "unsupported" | "unknown";

function numbersOf(release: string): Numbers | null {
  const [, major, minor, patch] = /^(\d{1,6})\.(\d{1,6})\.(\d{1,6})(?:[-+]|$)/.exec(release) ?? [];
  return major === undefined ? null : [Number(major), Number(minor), Number(patch)];
}

/** Negative where the first is the older one; null where one of them is not the number of a release. */
export function compareReleases(one: string, other: string): number | null {
  const [a, b] = [numbersOf(one), numbersOf(other)];
  if (!a || !b) return null;
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
}

/** Whether a release is the other one or a later one. What cannot be compared is not. */
export const isAtLeast = (release: string, other: string): boolean => (compareReleases(release, other) ?? -1) >= 0;

/** By how many minor releases the other one is behind; null where that cannot be said. */
export function minorsBehind(release: string, other: string): number | null {
  const [a, b] = [numbersOf(release), numbersOf(other)];
  return a && b && a[0] === b[0] ? a[1] - b[1] : null;
}

/** Servers of one installation, and its operators, are at most one minor release apart, in both directions. */
export function skewOf(release: string, other: string | null): Skew {
  if (other === null || !numbersOf(other)) return "unknown";
  const behind = minorsBehind(release, other);
  return behind !== null && Math.abs(behind) <= 1 ? "supported" : "unsupported";
}
