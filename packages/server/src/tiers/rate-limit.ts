/** The arithmetic of the task throttle: a fixed window that opens with the first admitted request. */

/** The period is positive. */
export interface RateLimit {
  readonly limit: number;
  readonly periodSeconds: number;
}

/** What was admitted in a window; a count of zero means that none is open. */
export interface Usage {
  readonly windowStartedAtMs: number;
  readonly count: number;
}

/** The usage is stored after a refusal too: it brings a window that a faster clock opened back to this one's time. */
export type Spending =
  | { readonly admitted: true; readonly usage: Usage }
  | { readonly admitted: false; readonly usage: Usage; readonly retryAfterSeconds: number };

/** Waiting for `retryAfterSeconds` gets the next request admitted, unless the limit is zero. */
export function spend(usage: Usage | null, { limit, periodSeconds }: RateLimit, nowMs: number): Spending {
  const periodMs = periodSeconds * 1_000;
  const { windowStartedAtMs, count } = currentWindow(usage, periodMs, nowMs);
  if (count < limit) return { admitted: true, usage: { windowStartedAtMs, count: count + 1 } };
  const remainingMs = windowStartedAtMs + periodMs - nowMs;
  return {
    admitted: false,
    usage: { windowStartedAtMs, count },
    retryAfterSeconds: Math.ceil(remainingMs / 1_000),
  };
}

function currentWindow(usage: Usage | null, periodMs: number, nowMs: number): Usage {
  const isOpen = usage !== null && usage.count > 0 && nowMs < usage.windowStartedAtMs + periodMs;
  if (!isOpen) return { windowStartedAtMs: nowMs, count: 0 };
  // A window that starts in the future of a clock set back would otherwise stay open for longer than its period.
  return { ...usage, windowStartedAtMs: Math.min(usage.windowStartedAtMs, nowMs) };
}

/** The path of a limit relative to the API base, in the one spelling under which it is stored and compared. */
export function normalisePath(path: string): string {
  const segments = path
    .replace(/[?#].*$/s, "")
    .split("/")
    .filter((segment) => segment !== "");
  // The base is stripped as often as it stands there, so that normalising a normalised path changes nothing.
  return `/${segments.join("/")}`.replace(/^(?:\/api\/v1(?=\/|$))+/, "") || "/";
}
