const SECOND_MS = 1_000;

/** A time as Kubernetes writes it, to the second. */
export const stampOf = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;

/** Null where there is no time. */
export function msOf(stamp: unknown): number | null {
  const ms = typeof stamp === "string" ? Date.parse(stamp) : Number.NaN;
  return Number.isNaN(ms) ? null : ms;
}

export const secondsAfter = (stamp: unknown, seconds: number): number | null => {
  const ms = msOf(stamp);
  return ms === null ? null : ms + seconds * SECOND_MS;
};

const DURATION = /(\d+(?:\.\d+)?)(ms|s|m|h)/g;
const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: SECOND_MS, m: 60 * SECOND_MS, h: 3_600 * SECOND_MS };

/** `5s`, `1m30s`, `200ms`; null for anything else. */
export function durationMs(text: string | undefined): number | null {
  if (text === undefined || !/^(\d+(\.\d+)?(ms|s|m|h))+$/.test(text)) return null;
  return [...text.matchAll(DURATION)].reduce(
    (sum, [, count, unit = ""]) => sum + Number(count) * (UNIT_MS[unit] ?? 0),
    0,
  );
}
