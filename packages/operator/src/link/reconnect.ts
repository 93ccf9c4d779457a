import { CLOSE } from "@binnacle/contract";

/** How a try to be connected has ended. */
export interface Disconnect {
  /** Null where the connection failed or fell silent. */
  readonly code: number | null;
  readonly reason: string;
  /** How long the session was live; null where it never was. */
  readonly livedMs: number | null;
  /** The operator has ended it at the hub's wish, to come back at once. */
  readonly hasMoved: boolean;
}

/** The inputs of the decision when to reconnect. */
export interface RetryState {
  readonly failures: number;
  /** For how long no session has worked. */
  readonly downMs: number;
  readonly spreadMs: number;
}

export interface RetryPlan {
  readonly delayMs: number;
  /** Tries in a row that came to nothing, for the next decision. */
  readonly failures: number;
  /** A problem that a person has to solve. */
  readonly problem: string | null;
}

const FIRST_BACKOFF_MS = 1_000;
const LONGEST_BACKOFF_MS = 60_000;
const REFUSED_MS = 60_000;
const OUTDATED_MS = 600_000;
const LONGEST_BUSY_MS = 600_000;

/** A session that ends sooner has not worked, so it does not make the next try come any earlier. */
const STEADY_MS = 10_000;

const PROBLEMS: Readonly<Record<number, string>> = {
  [CLOSE.protocolError]: "The hub has rejected a frame of this operator. See the hub's log.",
  [CLOSE.unauthenticated]: "The hub does not accept the token of this cluster. Give the operator a new one.",
  [CLOSE.revoked]: "The token of this cluster is revoked. Give the operator a new one.",
  [CLOSE.clusterDeleted]: "The cluster is deleted in Binnacle. Uninstall the operator.",
  [CLOSE.superseded]: "Another operator has connected for this cluster. Run only one.",
  [CLOSE.versionTooOld]: "The hub no longer supports this version of the operator. Upgrade the operator.",
};

/** When to try again, and what to say about it. `random` is even in 0..1. */
export function retryAfter(disconnect: Disconnect, before: RetryState, random: number): RetryPlan {
  if (disconnect.hasMoved) return { delayMs: 0, failures: before.failures, problem: null };
  const hasWorked = disconnect.livedMs !== null && disconnect.livedMs >= STEADY_MS;
  const failures = hasWorked ? 0 : before.failures + 1;
  const problem = PROBLEMS[disconnect.code ?? 0] ?? null;
  const delayMs = Math.round(delayMsAfter(disconnect, { ...before, failures }, random));
  return { delayMs, failures, problem };
}

function delayMsAfter({ code, reason }: Disconnect, state: RetryState, random: number): number {
  const { failures, spreadMs } = state;
  switch (code ?? 0) {
    case CLOSE.unauthenticated:
    case CLOSE.revoked:
    case CLOSE.clusterDeleted:
      return REFUSED_MS * (1 + random / 10);
    // A quick retry would take the session back from the other operator, which would take it back in turn.
    case CLOSE.superseded:
      return REFUSED_MS * (1 + random);
    case CLOSE.versionTooOld:
      return OUTDATED_MS * (1 + random / 10);
    // The jitter keeps operators that got the same delay from returning at the same moment.
    case CLOSE.busy:
      return retryAfterMs(reason) * (1 + random / 2);
    case CLOSE.draining:
      return Math.max(spreadMs, backoffMs(state)) * random;
    default:
      return failures === 0 ? spreadMs * random : (backoffMs(state) * (1 + random)) / 2;
  }
}

/**
 * The limit of the next delay, of which half is waited at least: it halves the tries of a crowd, and those that fail hold up
 * a hub that is just starting. Never longer than half of the outage so far: of thousands that come back, some fail often in
 * a short time, and would wait for a minute because of an outage of seconds.
 */
function backoffMs({ failures, downMs }: RetryState): number {
  const doubledMs = FIRST_BACKOFF_MS * 2 ** Math.min(Math.max(failures - 1, 0), 30);
  return Math.min(doubledMs, Math.max(downMs / 2, FIRST_BACKOFF_MS), LONGEST_BACKOFF_MS);
}

/** The hub says it in seconds, as the only number of the reason. */
function retryAfterMs(reason: string): number {
  const seconds = Number(/\d+(\.\d+)?/.exec(reason)?.[0] ?? 1);
  return Math.min(Math.max(seconds * 1_000, FIRST_BACKOFF_MS), LONGEST_BUSY_MS);
}
