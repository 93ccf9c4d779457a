import type { ProvisioningJob } from "./provisioning.ts";

/** A job that is throttled for longer fails, and somebody decides when it is run again. */
const MOST_THROTTLES = 10;
const LONGEST_THROTTLED_MS = 2 * 60 * 60_000;
const FIRST_WAIT_MS = 30_000;
const LONGEST_WAIT_MS = 15 * 60_000;

/**
 * How long a job waits whose cloud asks to call less often; null where it has waited often or long enough. Each wait is at least half of a bound that
 * doubles; with the other half at random, the jobs of an account do not come back together.
 */
export function throttleWaitMs(
  { throttles, throttled_since }: Pick<ProvisioningJob, "throttles" | "throttled_since">,
  now: Date,
  random: () => number,
): number | null {
  if (throttles >= MOST_THROTTLES) return null;
  const longest = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** throttles);
  const waitMs = Math.floor(longest / 2 + (random() * longest) / 2);
  const waitedMs = throttled_since === null ? 0 : now.getTime() - throttled_since.getTime();
  return waitedMs + waitMs > LONGEST_THROTTLED_MS ? null : waitMs;
}

export const waitingLine = (message: string, until: Date): string =>
  `${message} The job goes on by itself at ${until.toISOString()}.`;

export const throttledTooLong = (message: string): string =>
  `${message} The job has waited for it ${MOST_THROTTLES} times or for two hours. What exists already stays; retry the job later.`;
