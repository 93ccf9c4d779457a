const MINUTE_MS = 60_000;
const LONGEST_AGO_MS = 24 * 60 * MINUTE_MS;
/** How far a cluster's clock may be ahead. */
const LONGEST_AHEAD_MS = 5 * MINUTE_MS;

/** The minute that a sample counts for; null where its clock is so wrong that it would stand among others' minutes. */
export function sampleMinute(at: string, now: Date): Date | null {
  const minuteMs = Math.floor(Date.parse(at) / MINUTE_MS) * MINUTE_MS;
  const ageMs = now.getTime() - minuteMs;
  return ageMs <= LONGEST_AGO_MS && ageMs >= -LONGEST_AHEAD_MS ? new Date(minuteMs) : null;
}
